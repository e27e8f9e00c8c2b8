"""Open-loop traffic that is cut between two steps goes on, on any ranks, to the same results."""

import numpy as np
import pytest
from mpi.machine import test_adaptive as adaptive
from mpi.machine import test_detailed_routers as detailed
from mpi.machine import test_open_loop_busses as busses
from mpi.machine.adaptive_reference import Straight
from mpi.machine.adaptive_reference import play as play_adaptive
from mpi.machine.bustraffic import play as play_busses
from mpi.machine.openloop import golden, open_loop
from mpi.machine.ranks import everyone, shared_folder, some_ranks, transport
from serial.machine.busgrid import BusGrid

import mpinet
from mpinet.errors import FileError, Suspended
from mpinet.machine.checkpoint import Checkpointer, read_manifest
from mpinet.machine.faults import Faults
from mpinet.machine.traffic import run as runs
from mpinet.machine.traffic.results import results
from mpinet.networks.routing import stateless


class Cutting(Checkpointer):
    """Writes a checkpoint when so many steps are made, and ends the run there."""

    def __init__(self, at, *given):
        super().__init__(*given)
        self.at = at

    def poll(self):
        if self._steps == self.at:  # all ranks know it
            self._write()
            raise Suspended("cut")


def leg(folder, again, at, crew, make):
    """Go on with a run up to a step on the first ranks; its results where it came to its end."""
    ranks, inside = some_ranks(crew)
    if not inside:
        return None
    ranks.keeper = keeper = Cutting(
        at, folder, {}, ranks, None, read_manifest(folder) if again else None
    )
    try:
        keeper.begin()
        run = make(ranks).run()
        keeper.finish()
        return results(run)
    except Suspended:
        return None
    finally:
        keeper.release()
        ranks.keeper = None


def relayed(cuts, make):
    """The results of a run that goes on with other ranks and another mapping after each cut.

    Parameters
    ----------
    cuts : sequence of int
        How many steps have been made then.
    make : callable
        ``make(transport, mapping)``: the run.
    """
    size = transport().size
    crews = [size, 1, min(2, size), size, 1, size]
    mappings = ["blocks", "table", "random", "table", "blocks"]
    with shared_folder() as folder:
        for number, at in enumerate([*cuts, -1]):
            mapping = mappings[number % len(mappings)]
            found = leg(
                folder / "run",
                number > 0,
                at,
                crews[number % len(crews)],
                lambda ranks, mapping=mapping: make(ranks, mapping),
            )
            ends = [each for each in everyone(found) if each is not None]
            assert bool(ends) == (at == -1), "it ended before it was cut"
    return ends[0]


@pytest.fixture(autouse=True)
def every_step(monkeypatch):
    """A rank alone can be cut between any two steps, too."""
    monkeypatch.setattr(runs, "AT_ONCE", 1)


QUICK = (5, 24, 29, 32, 36)
"""Wormhole, a trace, slow links, virtual cut-through with a deadlock, and queues without limit."""

FEW, MANY = (23, 120, 202), (7, 49, 50, 120, 199, 200, 205)
"""Cuts in the warm-up, in the window, and where the network is drained."""


@pytest.mark.costly
@pytest.mark.parametrize(
    ("number", "cuts"),
    [
        *((number, FEW) for number in QUICK),
        *(pytest.param(n, MANY, marks=pytest.mark.long) for n in range(len(golden()))),
    ],
)
def test_a_run_that_is_cut_has_the_results_of_the_reference(number, cuts):
    known = golden()[number]
    cuts = [step for step in cuts if step < known["result"]["steps"]]
    found = relayed(
        cuts,
        lambda ranks, mapping: open_loop(
            known["trace"], mapping, transport=ranks, **known["setting"]
        ),
    )
    assert {name: found[name] for name in known["result"]} == known["result"]


def some(settings, quick):
    """All settings' numbers, but for these marked as long."""
    return [
        number if number in quick else pytest.param(number, marks=pytest.mark.long)
        for number in range(len(settings))
    ]


@pytest.mark.parametrize("number", some(busses.SETTINGS, (3, 7)))
def test_a_run_on_busses_that_is_cut_has_the_results_of_plain_python(number):
    changes, flits = busses.SETTINGS[number]
    trace, s = busses.random_trace(len(flits), flits), busses.PLAIN | changes
    window = {"warmup": 10, "measure": 40, "drain": 400}
    known = play_busses(busses.SHAPE, trace, s | window)

    def make(ranks, mapping):
        grid = BusGrid(*busses.SHAPE)
        rows_first = stateless("rows", busses.along_the_row_first, grid)
        return open_loop(
            trace, mapping, routing=rows_first, network=grid, transport=ranks, **s, **window
        )

    found = relayed((6, 31, 52), make)
    assert {name: found[name] for name in known} == known


@pytest.mark.parametrize("number", some(adaptive.SETTINGS, (1,)))
def test_an_adaptive_run_that_is_cut_delivers_what_a_second_program_does_when_it_does(number):
    network, vcs, buffer, switching, policy = adaptive.SETTINGS[number]
    topology = mpinet.open(network)
    rows = adaptive.crowd(topology.size, number)
    times, steps, moves, _ = play_adaptive(
        adaptive.Grid(network), rows, vcs, buffer, switching, policy
    )

    def make(ranks, mapping):
        return open_loop(
            rows, mapping, routing=topology.routing("adaptive"), network=network, classes="own",
            vcs=vcs, buffer=buffer, switching=switching, policy=policy, warmup=0, transport=ranks,
        )  # fmt: skip

    found = relayed((5, 14, 20), make)
    assert (found["moves"], found["last_move"]) == (moves, steps - 2)
    assert found["seal"] == sum(adaptive.draw(*time) for time in times) % 2**61


@pytest.mark.parametrize("number", some(detailed.SETTINGS, (0, 7)))
def test_a_run_of_other_routers_that_is_cut_has_the_results_of_plain_python(number):
    network, changes = detailed.SETTINGS[number]
    s = detailed.USUAL | changes
    rows = detailed.rows_for(network, number, s.pop("length", None))
    known = detailed.played(network, Straight(network, s.get("classes") == "bubble"), rows, s)
    found = relayed(
        (3, 9, 16),
        lambda ranks, mapping: detailed.made(network, rows, s, mapping=mapping, transport=ranks),
    )
    assert {name: found[name] for name in known} == known


LONG_WAYS = {"network": "ring:6", "classes": "hops", "size": 9, "vcs": 6, "buffer": 1, "rate": 0.2}
"""A message of Valiant's covers a lane and comes back to it before its tail has left."""

FIRST_COME = {"switching": "vct", "policy": "fifo", "size": 3, "rate": 0.2}

OTHERS = [
    (LONG_WAYS, "valiant", ""),
    (LONG_WAYS | {"delay": 3, "buffer": 2, "policy": "rotating"}, "valiant", ""),
    ({"network": "torus:4x4", "rate": 0.2, "size": 3}, None, "node:5,link:0-1"),
    ({"network": "torus:4x4", "switching": "saf", "buffer": 0, "burst": 9.0}, None, "node:5"),
    ({"network": "lens:3,3,2", "classes": "none", "buffer": 0, **FIRST_COME}, None, ""),
]
"""Settings, the routing, and what is dead."""


@pytest.mark.parametrize("number", some(OTHERS, (1, 2)))
def test_a_run_that_is_cut_ends_like_one_that_is_not(number):
    changes, routing, dead = OTHERS[number]
    s = {"warmup": 20, "measure": 60, "drain": 300} | changes
    topology = mpinet.open(s["network"])
    if s.get("classes") == "hops":
        s["classes"] = "none"  # with so many channels nothing has to wait for ever

    def make(ranks, mapping):
        return open_loop(
            mapping=mapping,
            routing=topology.routing(routing, 3),
            faults=faults_of(topology, dead),
            transport=ranks,
            **s,
        )

    whole = results(make(transport(), "blocks").run())
    assert whole["delivered"] > 0 and whole["steps"] > 82
    assert relayed((11, 45, 82), make) == whole


def faults_of(topology, words):
    from mpinet.jobs.faults import parse_faults

    return parse_faults(topology, words) if words else Faults(topology)


def test_a_checkpoint_of_other_lanes_is_refused():
    def with_lanes(vcs):
        return lambda ranks: open_loop(
            network="torus:4x4", vcs=vcs, rate=0.3, measure=40, transport=ranks
        )

    size = transport().size
    with shared_folder() as folder:
        assert leg(folder / "run", False, 9, size, with_lanes(2)) is None
        with pytest.raises(FileError, match="another run"):
            leg(folder / "run", True, -1, size, with_lanes(4))


def test_credits_flits_and_what_is_under_way_make_up_the_buffers_that_are_written():
    setting = golden()[29]["setting"]
    with shared_folder() as folder:
        ranks = transport()
        ended = leg(
            folder / "run", False, 120, ranks.size,
            lambda ranks: open_loop(transport=ranks, **setting),
        )  # fmt: skip
        assert ended is None
        state = folder / "run" / read_manifest(folder / "run")["state"]

        def rows(field):
            parts = sorted(state.glob(f"0-traffic.{field}.?????.npy"))
            return np.concatenate([np.load(part) for part in parts])

        topology, vcs = mpinet.open(setting["network"]), setting["vcs"]
        channels = topology.ports * vcs
        credits = int(rows("lanes")[:, :channels, -2].sum())
        flits = int(rows("parts")[:, 3].sum())
        flying, returning = len(rows("flights")), len(rows("credits"))
    assert min(flits, flying, returning) > 0
    assert credits + flits + flying + returning == topology.size * channels * setting["buffer"]
