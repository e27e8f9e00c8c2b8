"""Several ranks against one: every such benchmark runs on its small size, on any ranks."""

from dataclasses import replace

import numpy as np
import pytest

from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders
from mpinet.bench.catalogue import BENCHMARKS, run_here
from mpinet.bench.permutation import make_router
from mpinet.bench.scaling import by_parity
from mpinet.errors import TooLarge
from mpinet.machine.transport import world
from mpinet.networks import open as open_topology

NAMES = [one.name for one in BENCHMARKS.values() if one.several and not one.starts]


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_has_a_figure_of_all_ranks_and_one_of_rank_0_alone(name):
    transport = world()
    setting = BenchSetting("small", repeat=1, transport=transport)
    (row,) = run_here([BENCHMARKS[name]], setting, lambda done, total: None)
    if transport.size == 1:
        assert row.figure is None and "several ranks" in row.absent
    else:
        assert row.ranks == transport.size
        assert row.figure > 0 and row.ratio == row.figure / row.baseline


def test_rows_for_one_rank_are_absent_on_several_and_those_that_start_processes_too():
    setting = BenchSetting("small", repeat=1, transport=world())
    chosen = [BENCHMARKS["w3-time"], BENCHMARKS["start-warm-ranks"]]
    one, starting = run_here(chosen, setting, lambda done, total: None)
    assert starting.figure is None
    if setting.transport.size == 1:
        assert one.figure > 0 and "several ranks" in starting.absent
    else:
        assert one.figure is None and "one rank" in one.absent
        assert "without a launcher" in starting.absent


@pytest.mark.parametrize("first_failing", [0, -1])
def test_a_benchmark_that_fails_on_some_ranks_gives_one_error_and_the_next_one_runs(first_failing):
    transport = world()
    several = transport.size > 1

    def contenders(setting, size):
        if setting.transport.rank >= first_failing % setting.transport.size:
            raise TooLarge("The walk is too long.")
        return Contenders(lambda: 1.0, {"hare": lambda: 2.0})

    sizes, hare = {"small": 1, "full": 2}, (Baseline("hare"),)
    failing = Benchmark("marathon", "walk {}", "s", sizes, contenders, hare, several=several)
    walk = replace(failing, contenders=lambda *_: Contenders(lambda: 1.0, {"hare": lambda: 2.0}))
    setting = BenchSetting("small", repeat=1, transport=transport)
    failed, other = run_here([failing, walk], setting, lambda done, total: None)
    assert (failed.figure, failed.error) == (None, "The walk is too long.")
    assert (other.ratio, other.error) == (0.5, None)


@pytest.mark.parametrize("crossing", [False, True])
def test_both_mappings_route_every_message_over_its_shortest_path(crossing):
    topology = open_topology("hypercube:6")
    mapping = by_parity(topology) if crossing else None
    router, run = make_router(topology, topology.routing(), 5, world(), mapping)
    run()
    alone, run_alone = make_router(topology, topology.routing(), 5)
    run_alone()
    assert router.machine.messages == alone.machine.messages
    assert router.machine.steps == alone.machine.steps
    assert np.array_equal(router.latencies, alone.latencies)
