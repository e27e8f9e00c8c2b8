"""The broadcast of section 6: the loop's phase, then all cubes at once."""

import numpy as np
import pytest
from serial.sth import reference
from serial.sth.reference import table, wired

import mpinet


def run(ports: np.ndarray, schedule) -> list[list[tuple[int, int]]]:
    """The (sender, receiver) pairs of every step; checks the one-port model on the way."""
    since = {schedule.root: 0}
    steps = []
    for step in range(1, schedule.steps + 1):
        sent = []
        for u in sorted(since):
            port = schedule.rule.function(u, schedule.root, since[u], step, schedule.params)
            if port >= 0:
                sent.append((u, int(ports[u, port])))
        heard = [v for _, v in sent]
        assert -1 not in heard
        assert len(set(heard)) == len(heard), "two messages for one processor"
        assert not set(heard) & set(since), "a message for one who knows"
        since.update(dict.fromkeys(heard, step))
        steps.append(sent)
    return steps


def test_the_loop_of_24_as_printed():
    printed = """0>4; 0>20, 4>8; 0>1, 4>5, 8>12, 20>16;
        0>23, 1>2, 4>3, 5>6, 8>9, 12>13, 16>17, 20>21;
        8>7, 9>10, 12>11, 13>14, 16>15, 17>18, 20>19, 21>22"""
    expected = [
        [tuple(map(int, pair.split(">"))) for pair in step.split(",")]
        for step in printed.split(";")
    ]
    steps = run(table(reference.lst(3)), mpinet.open("lst:3").schedules(0)["chords"]())
    assert steps == expected


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6, 9, 16, 31, 64])
def test_the_loop_takes_m_plus_2_steps(m):
    topology, ports = mpinet.open(f"lst:{m}"), table(reference.lst(m))
    for root in {0, 1, 4 * m - 1, 8 * m - 1, 5 % (8 * m)}:
        schedule = topology.schedules(root)["chords"]()
        steps = run(ports, schedule)
        assert len(steps) == schedule.steps == m + 2
        assert sum(map(len, steps)) == 8 * m - 1
        assert steps[-1]


@pytest.mark.parametrize(
    "name", ["tq:2", "tq:5", "cq:1", "cq:4", "cq:5", "hkv:1", "hkv:3", "hkv:5"]
)
def test_cubes_double_from_every_root(name):
    topology, ports = mpinet.open(name), table(wired(name))
    for root in range(topology.size):
        steps = run(ports, topology.schedules(root)["dimensions"]())
        assert [len(step) for step in steps] == [2**s for s in range(topology.ports)]


@pytest.mark.parametrize(
    "name", ["sth:2,2", "sth:3,3", "sth:2,3,cq", "sth:5,2,cq", "sth:2,3,hkv", "sth:2,4,q"]
)
def test_both_phases_inform_everybody_once(name):
    topology, ports = mpinet.open(name), table(wired(name))
    m, n, size = topology.m, topology.second.ports, topology.first.size
    for root in np.random.default_rng(4).integers(0, topology.size, 16).tolist():
        schedule = topology.schedules(root)["twophase"]()
        assert schedule.phases == (("lst", m + 2), ("cube", n))
        steps = run(ports, schedule)
        assert sum(map(len, steps)) == topology.size - 1
        for step, sent in enumerate(steps, 1):
            in_loop = {u // size == v // size for u, v in sent}
            assert in_loop == {step <= m + 2}
            if step > m + 2:
                port = 4 + n - (step - m - 2)
                assert all(ports[u, port] == v for u, v in sent)
