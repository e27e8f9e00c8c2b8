"""Collectives of many items on any ranks: all get what is meant for them."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, machine_of, mapping_of

import mpinet
from mpinet.programs.collective import items
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.collectives import move_items
from mpinet.programs.pipelines.spreading import spread
from mpinet.programs.playing import play_rows as play
from mpinet.programs.schedules.timetable import Timetable

COLLECTIVES = {
    "broadcast": lambda machine, algorithm: move_items(
        machine, "broadcast", 5, 1, algorithm=algorithm, seed=3
    ),
    "reduce": lambda machine, algorithm: move_items(
        machine, "reduce", 5, 1, operator="max", algorithm=algorithm, seed=3
    ),
    "gossip": lambda machine, algorithm: move_items(
        machine, "gossip", 2, algorithm=algorithm, seed=3
    ),
    "reducescatter": lambda machine, algorithm: move_items(
        machine, "reducescatter", 2, operator="sum", algorithm=algorithm, seed=3
    ),
    "allreduce": lambda machine, algorithm: move_items(
        machine, "allreduce", 5, operator="sum", algorithm=algorithm, seed=3
    ),
}

CASES = [
    ("torus:3x4", "one", "cycle", "blocks"),
    ("hypercube:3", "one", "matching", "random"),
    ("fattree:2,3", "one", None, "table"),
    ("petersen", "all", "rarest", "random"),
    ("fattree:2,3", "all", None, "blocks"),
    ("debruijn:3", "all", "trees", "table"),
    ("complete:1", "all", None, "blocks"),
    ("clens:3,2", "one", "matching", "random"),
    ("busstar:3,2", "all", "rarest", "table"),
]


def combined(operator, hosts):
    """What item 0 of all comes to, by Python's whole numbers."""
    drawn = items(3, np.arange(hosts), np.zeros(hosts, np.int64)).tolist()
    return operator([each * 0x9E3779B97F4A7C15 % 2**64 for each in drawn]) % 2**64


@pytest.mark.costly
@pytest.mark.parametrize(
    ("name", "ports", "algorithm", "mapping", "collective"),
    [
        (*case, collective)
        for case, collective in product(CASES, COLLECTIVES)
        if case[2] != "trees" or collective not in ("gossip", "reducescatter")
    ],
)
def test_everybody_has_every_item_in_the_end(name, ports, algorithm, mapping, collective):
    topology = mpinet.open(name)
    if topology.size == 1 and collective in ("broadcast", "reduce"):
        with pytest.raises(mpinet.MpinetError, match="not in complete:1"):
            COLLECTIVES[collective](machine_of(topology, ports), algorithm)
        return
    machine = machine_of(topology, ports, mapping=mapping_of(topology, mapping))
    found = COLLECTIVES[collective](machine, algorithm)
    assert found.correct and found.informed == topology.hosts
    assert found.algorithm == algorithm or algorithm is None
    assert found.lower_bound <= found.steps == machine.steps
    if collective == "reduce":
        assert found.value == combined(max, topology.hosts)
    if collective in ("allreduce", "reducescatter"):
        assert found.value == combined(sum, topology.hosts)


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize(
    ("name", "ports", "steps"), [("torus:4x6", "one", 5), ("ring:7", "all", 3)]
)
def test_an_allreduce_along_dimensions_is_right_on_any_ranks(name, ports, steps, mapping):
    topology = mpinet.open(name)
    machine = machine_of(topology, ports, mapping=mapping_of(topology, mapping))
    found = move_items(machine, "allreduce", 1, operator="sum", algorithm="dimensions", seed=3)
    assert found.correct and found.steps == steps
    assert found.value == combined(sum, topology.hosts)


@pytest.mark.parametrize("mapping", MAPPINGS)
def test_who_misses_a_message_is_counted(mapping):
    topology = mpinet.open("hypercube:3")
    machine = machine_of(topology, "all", mapping=mapping_of(topology, mapping))
    found = spread(topology, Arcs.of(topology), machine.model, np.zeros(6, np.int64), 4)
    columns = (np.ascontiguousarray(column) for column in found.rows.T)
    table = Timetable("broadcast", 8, *columns, chunks=6, root=0)
    assert play(machine, table)[1].short() == 0
    lacking = table.rows(np.arange(len(table) - 2))
    last = table.receiver[-2:]
    assert play(machine, lacking)[1].short() == len(set(last.tolist()))
    assert play(machine, replace(lacking, chunks=6), seed=9)[1].short() > 0


@pytest.mark.parametrize("name", ["hypercube:4", "debruijn:4", "torus:4x4"])
def test_long_pipelines_on_all_ports_come_close_to_their_rate(name):
    machine = machine_of(name, "all")
    found = move_items(machine, "broadcast", 200, 0)
    assert found.rate is not None
    assert found.steps <= 200 / found.rate + 5


@pytest.mark.parametrize("collective", ["broadcast", "gossip", "allreduce"])
def test_the_optimum_of_many_items_on_a_ring_is_proved_on_any_ranks(collective):
    steps = {"broadcast": 6 + 3 - 1, "gossip": 6 * 5, "allreduce": 2 * 5}[collective]
    found = mpinet.optimum("ring:6", collective=collective, items=6)
    assert found.correct and found.exact and found.upper == steps
