"""The families' one-port broadcasts obey the one-port model and reach everybody in time."""

from math import ceil, log2

import numpy as np
import pytest
from serial.networks.reference import EVERYTHING

import mpinet
from mpinet.base.arguments import ScheduleRule
from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel


def run(topology, wiring, schedule):
    """Step -> processors informed after it; checks the one-port model on the way."""
    since, informed = {schedule.root: 0}, [1]
    for step in range(1, schedule.steps + 1):
        heard = []
        for u, at in since.items():
            port = schedule.rule(u, schedule.root, at, step, schedule.params)
            if port >= 0:
                assert wiring[u][port] is not None
                heard.append(wiring[u][port])
        assert len(set(heard)) == len(heard), "two messages for one processor"
        assert not set(heard) & set(since), "a message for one who knows"
        since.update(dict.fromkeys(heard, step))
        informed.append(len(since))
    return informed


SCHEDULED = [name for name in EVERYTHING if mpinet.open(name).schedules(0)]


@pytest.mark.parametrize("name", SCHEDULED)
def test_broadcast_from_every_root_informs_each_processor_once(name):
    topology, wiring = mpinet.open(name), EVERYTHING[name]
    for root in range(topology.size):
        for make in topology.schedules(root).values():
            schedule = make()
            informed = run(topology, wiring, schedule)
            assert informed[-1] == topology.size
            assert informed[-2] < topology.size, "the last step is needed"


@pytest.mark.parametrize("sides", [(2,), (5,), (2, 3, 5), (4, 4), (7, 2, 2)])
def test_torus_takes_half_of_every_side(sides):
    topology = mpinet.open("torus:" + "x".join(map(str, sides)))
    schedule = topology.schedules(topology.size - 1)["dimensions"]()
    assert schedule.phases == tuple((f"D{j}", ceil(side / 2)) for j, side in enumerate(sides))


@pytest.mark.parametrize("n", range(2, 18))
def test_complete_graph_doubles(n):
    assert mpinet.open(f"complete:{n}").schedules(1)["doubling"]().steps == ceil(log2(n))


@pytest.mark.parametrize("n", range(2, 9))
def test_path_takes_the_farther_end_and_one_more_if_the_nearer_is_as_far(n):
    for source in range(n):
        ends = sorted((source, n - 1 - source))
        expected = max(ends[1], ends[0] + 1) if ends[0] else ends[1]
        assert mpinet.open(f"mesh:{n}").schedules(source)["dimensions"]().steps == expected


def test_product_runs_the_phases_of_its_factors_one_after_the_other():
    schedule = mpinet.open("ring:5*hypercube:2*torus:2x3").schedules(7)[
        "ring+binomial+dimensions"
    ]()
    assert schedule.phases == (("ring", 3), ("D0", 1), ("D1", 1), ("D0", 1), ("D1", 2))


@kernel
def all_sends(rule: ScheduleRule, root: int, params: Ints, ports: Table) -> None:
    """What every processor would do in every step if it knew from the start."""
    send = rule.call
    for step in range(1, ports.shape[0]):
        for u in range(ports.shape[1]):
            ports[step, u] = send(u, root, 0, step, params)


@pytest.mark.parametrize("name", SCHEDULED)
def test_compiled_schedules_are_those_of_plain_python(name):
    topology = mpinet.open(name)
    schedule = next(iter(topology.schedules(topology.size // 2).values()))()
    ports = np.zeros((schedule.steps + 1, topology.size), np.int64)
    all_sends(schedule.rule.native, schedule.root, schedule.params, ports)
    plain = np.zeros_like(ports)
    stand_in = type("Plain", (), {"call": staticmethod(schedule.rule)})
    all_sends.function(stand_in, schedule.root, schedule.params, plain)
    assert (ports == plain).all()
