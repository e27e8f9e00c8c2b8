"""The dense step has the results of the reference, and so has any change of the step in a run."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from mpi.machine.openloop import golden, open_loop
from mpi.machine.ranks import transport

from mpinet.machine.traffic.denser import FIRST_LOOK
from mpinet.machine.traffic.results import results
from mpinet.machine.transport import Local

MORE = json.loads((Path(__file__).parent / "dense_golden.json").read_text())
"""Further exact results of the reference: more channels, flits, dimensions, and a tiny run."""

DENSE = [5, 10, 14, 41]
"""The settings of `golden` that have a dense step."""

SHORT = [golden()[5], MORE[1], MORE[2]]
LONG = [*(golden()[each] for each in DENSE[1:]), MORE[0], *MORE[3:]]
ALWAYS, NEVER = -1.0, float("inf")


def dense_run(known, enter=ALWAYS, leave=ALWAYS):
    """A run on one rank that becomes dense above `enter` and sparse below `leave`."""
    run = open_loop(known["trace"], transport=Local(), **known["setting"])
    form = run.dense
    form.enter, form.leave, form.least, form._possible = enter, leave, 0, True
    return run


def require(run, known):
    """Compare all results of a run with the reference's."""
    found = results(run.run())
    assert {name: found[name] for name in known["result"]} == known["result"]


@pytest.mark.parametrize("known", SHORT)
def test_every_value_is_the_one_of_the_reference(known):
    require(dense_run(known), known)


@pytest.mark.long
@pytest.mark.parametrize("known", LONG)
def test_every_value_is_the_one_of_the_reference_in_other_shapes(known):
    require(dense_run(known), known)


def test_the_plain_form_has_the_values_of_the_reference():
    known = MORE[-1]
    run = dense_run(known)
    run.dense.kernels = [each.plainly for each in run.dense.kernels]
    require(run, known)


@pytest.mark.parametrize("look", [1, 7, 50])
def test_a_run_may_change_its_step_at_any_time(look):
    known = MORE[1]
    run = dense_run(known, leave=NEVER)
    form, steps, changes = run.dense, run.dense.steps, []

    def few(longest):
        # Alternately dense and by lanes, a few steps each.
        form.enter = ALWAYS if len(changes) % 2 else NEVER
        changes.append(run.steps)
        return min(look, steps(longest))

    form.steps = few
    require(run, known)
    assert len(changes) > 4
    assert all(after - before <= look for before, after in pairwise(changes))


def test_a_run_is_dense_while_many_flits_move():
    busy, calm = (
        dense_run({"trace": None, "setting": golden()[5]["setting"] | {"rate": rate}}, 0.5, 0.4)
        for rate in (0.15, 0.01)
    )
    for run in (busy, calm):
        while run.steps < 3 * FIRST_LOOK:
            run.advance(1000)
    assert busy.dense.active
    assert not calm.dense.active


@pytest.mark.parametrize(
    "changes",
    [
        {"policy": "oldest"}, {"crossbar": "all"}, {"eject": "all"}, {"delay": 2}, {"burst": 2.0},
        {"switching": "vct"}, {"buffer": 17}, {"vcs": 10}, {"long_size": 2, "long_share": 0.5},
        {"network": "hypercube:6", "classes": "hops", "vcs": 6},
    ],
)  # fmt: skip
def test_other_runs_stay_sparse(changes):
    plain = {"policy": "rotating", "crossbar": "one", "network": "torus:4x4", "rate": 0.3}
    assert open_loop(transport=Local(), **plain).dense is not None
    assert open_loop(transport=Local(), **plain | changes).dense is None
    if transport().size > 1:
        assert open_loop(**plain).dense is None
