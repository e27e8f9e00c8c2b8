"""The dense step has the results of the reference, and of the step by lanes from any step on."""

import json
from pathlib import Path

from mpi.machine.openloop import golden, open_loop

from mpinet.machine.traffic.denser import shape_of
from mpinet.machine.traffic.results import results
from mpinet.machine.transport import Local

MORE = json.loads((Path(__file__).parent / "dense_golden.json").read_text())
"""Further settings with the reference's exact results: more channels, flits and dimensions."""

ROTATING = {"policy": "rotating", "crossbar": "one"}


def dense_run(known, plain=False, enter=-1.0, leave=-1.0):
    """A run that is dense from the first step on, in native code or in plain Python."""
    run = open_loop(known["trace"], transport=Local(), **known["setting"])
    form = run.dense
    form.enter, form.leave, form.least, form._possible = enter, leave, 0, True
    if plain:
        form.kernels = [each.plainly for each in form.kernels]
    return run


def is_dense(known):
    return shape_of(open_loop(known["trace"], transport=Local(), **known["setting"])) is not None


def test_every_value_is_the_one_of_the_reference():
    settings = [each for each in golden() if is_dense(each)] + MORE
    assert len(settings) == 4 + len(MORE)
    for known in settings:
        run = dense_run(known)
        found = results(run.run())
        assert {name: found[name] for name in known["result"]} == known["result"]
