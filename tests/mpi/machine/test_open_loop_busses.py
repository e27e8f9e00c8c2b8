"""Open-loop traffic on busses is what a second, plain program makes of its specification."""

import numpy as np
import pytest
from mpi.machine.bustraffic import Grid, play
from mpi.machine.openloop import open_loop, simulate
from mpi.machine.ranks import transport
from serial.machine.busgrid import COLUMNS, BusGrid

import mpinet
from mpinet import rule
from mpinet.errors import ConservationError
from mpinet.machine.faults import Faults, Passing
from mpinet.machine.machine import Machine
from mpinet.machine.router import Router
from mpinet.machine.traffic.results import results
from mpinet.measure.channelload import saturation_bound
from mpinet.networks.routing import path, stateless
from mpinet.programs.patterns import pattern_of

SHAPE = 3, 4


@rule
def along_the_row_first(node, header, params):
    columns, target = params[COLUMNS], header[0]
    row, column = node // columns, node % columns
    if target == node:
        return -1
    if target % columns != column:
        return target % columns - (target % columns > column)
    return columns - 1 + target // columns - (target // columns > row)


def random_trace(seed, flits, steps=60, rate=0.35):
    """Rows (step, source, target, flits) with random ends."""
    draw = np.random.default_rng(seed)
    born = draw.random((steps, 12)) < rate
    times, sources = np.nonzero(born)
    targets = draw.integers(0, 12, len(times))
    lengths = draw.choice(flits, len(times))
    return np.stack([times, sources, targets, lengths], axis=1).tolist()


PLAIN = {"vcs": 2, "buffer": 4, "classes": "hops", "crossbar": "one", "eject": "one", "delay": 1}
"""What the settings below change."""

DYING = [((0, 1), 8, 30), ((5,), 12, 26), ((2, 10), 20, None), ((7,), 25, None)]

SETTINGS = [
    ({"switching": "wormhole", "policy": "rotating"}, [1, 5]),
    ({"switching": "wormhole", "policy": "oldest", "vcs": 4, "delay": 2}, [3]),
    ({"switching": "wormhole", "policy": "fifo", "crossbar": "all", "eject": "all"}, [1, 2]),
    ({"switching": "vct", "policy": "rotating", "delay": 2}, [1, 4]),
    ({"switching": "vct", "policy": "fifo", "classes": "none", "crossbar": "all"}, [2, 3]),
    ({"switching": "saf", "policy": "oldest", "classes": "none", "buffer": 5}, [1, 5]),
    ({"switching": "saf", "policy": "rotating", "eject": "all", "vcs": 4}, [3]),
    ({"switching": "saf", "policy": "oldest", "buffer": 0}, [1, 3]),
    ({"switching": "vct", "policy": "fifo", "buffer": 0}, [1, 4]),
    ({"switching": "wormhole", "policy": "rotating", "passing": DYING}, [1, 5]),
    ({"switching": "vct", "policy": "oldest", "passing": DYING[1:], "delay": 2}, [4]),
    ({"switching": "saf", "policy": "fifo", "passing": DYING, "vcs": 4}, [2, 3]),
]


@pytest.mark.parametrize(("buffer", "policy"), [(4, "rotating"), (0, "fifo")])
@pytest.mark.parametrize("network", ["lens:2,2,1", "snowflake:2,2"])
def test_fewer_processors_than_ranks_or_none_with_a_port_come_to_an_end(network, buffer, policy):
    found = simulate(
        network=network, classes="none", rate=0.2, switching="vct", buffer=buffer, policy=policy,
        warmup=0, measure=10,
    )  # fmt: skip
    assert found["generated"] == found["delivered"] > 0 and found["unfinished"] == 0


def run_on_grid(trace, mapping="blocks", passing=(), **changes):
    grid = BusGrid(*SHAPE)
    routing = stateless("rows", along_the_row_first, grid)
    faults = Faults(grid, passing=[Passing(*each) for each in passing])
    return open_loop(trace, mapping, faults, routing, network=grid, **changes)


@pytest.mark.parametrize("mapping", ["blocks", "random"])
@pytest.mark.parametrize(("changes", "flits"), SETTINGS)
def test_every_value_is_that_of_plain_python(changes, flits, mapping):
    if mapping == "random" and transport().size == 1:
        mapping = "blocks"
    trace, s = random_trace(len(flits), flits), PLAIN | changes
    window = {"warmup": 10, "measure": 40, "drain": 400}
    known = play(SHAPE, trace, s | window)
    assert known["delivered"] > 100 and known["loads_max"] > 30
    run = run_on_grid(trace, mapping, **s, **window).run()
    found = results(run)
    assert {name: found[name] for name in known} == known
    assert found["utilisation_mean"] == known["loads_sum"] / (sum(SHAPE) * 40)


def test_queues_without_limit_on_busses_are_the_routers_queued_mode():
    topology = mpinet.open("busstar:3,3")
    machine = Machine(topology)
    targets = np.random.default_rng(3).integers(0, topology.size, topology.size)
    router = Router(machine, topology.routing())
    router.inject(machine.nodes, targets[machine.nodes], machine.nodes, topology.size)
    router.run()
    trace = [[0, source, int(target), 1] for source, target in enumerate(targets)]
    how = {"switching": "saf", "buffer": 0, "vcs": 1, "classes": "none"}
    found = simulate(trace, network="busstar:3,3", warmup=0, measure=1, **how)
    histogram = router.latencies
    assert found["latency_max"] == machine.steps
    assert found["latency_sum"] == int(np.arange(len(histogram)) @ histogram)
    assert found["hops_sum"] == router.totals["hops_total"]


def test_the_bound_is_that_of_the_busiest_bus_and_never_exceeded():
    grid = BusGrid(*SHAPE)
    routing = stateless("rows", along_the_row_first, grid)
    plain, carried = Grid(*SHAPE), [0] * sum(SHAPE)
    for source in range(12):
        for target in range(12):
            _, ports = path(grid, routing, source, target)
            at = source
            for port in ports:
                carried[plain.bus(at, port)] += 1
                at = plain.wiring[at][port]
    bound = saturation_bound(grid, routing, pattern_of(grid, "uniform"))
    assert bound == pytest.approx(12 / max(carried))
    for share, full in ((0.7, False), (1.4, True)):
        found = results(run_on_grid(None, rate=share * bound, classes="hops", measure=500).run())
        assert found["saturated"] == full
        assert (0.95 if full else 0.6) < found["utilisation_max"] <= 1


def test_a_bus_that_carried_more_than_a_flit_a_step_is_noticed():
    run = run_on_grid(None, classes="hops", measure=20)
    run.books.loads[0] += 21 * (transport().rank == 0)
    with pytest.raises(ConservationError, match="1 channels carried more than 20 flits"):
        run.run()
