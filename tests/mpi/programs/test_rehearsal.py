"""A rank that is played alone sends what it sends among the others."""

import numpy as np
import pytest
from mpi.machine.ranks import transport

import mpinet
from mpinet.errors import UsageError
from mpinet.machine.choice import open_mapping
from mpinet.machine.dry import Dry
from mpinet.machine.machine import Machine
from mpinet.machine.model import PortModel
from mpinet.machine.transport import Local
from mpinet.networks.routing import path
from mpinet.programs.ascend import run
from mpinet.programs.broadcast import broadcast
from mpinet.programs.flood import flood
from mpinet.programs.operators import open_operator
from mpinet.programs.rehearsal import route
from mpinet.programs.rehearsal.ascend import rehearse_ascend
from mpinet.programs.rehearsal.broadcast import rehearse_broadcast
from mpinet.programs.rehearsal.flood import rehearse_flood
from mpinet.programs.rehearsal.rehearsal import Cluster, Rehearsal
from mpinet.programs.rehearsal.route import rehearse_route
from mpinet.programs.route import route as route_all
from mpinet.programs.traffic import traffic


def both(name, mapping="blocks", ports="all"):
    """This rank among the others, and played alone with its transport."""
    topology = mpinet.open(name)
    real = transport()
    dry = Dry(real.rank, real.size)
    made = [
        Machine(topology, ports, ranks, open_mapping(mapping, topology, Local()))
        for ranks in (real, dry)
    ]
    return *made, dry


def sends(machine):
    return machine.meters.crossed, machine.meters.crossed_bytes


def agree(found, machine, steps):
    """Whether the rehearsal has found what the machine has done."""
    crossing = machine.crossing
    return (found.messages, found.bytes, found.all_messages, found.all_bytes, found.steps) == (
        *sends(machine),
        crossing.messages,
        crossing.bytes,
        steps,
    )


@pytest.mark.parametrize("operator", ["sum", "prefix", "fft"])
def test_ascend_is_known_exactly_on_a_power_of_two_ranks(operator):
    machine, alone, dry = both("hypercube:9")
    program = open_operator(operator)
    if dry.size & (dry.size - 1):
        with pytest.raises(UsageError, match="predict supports ascend"):
            rehearse_ascend(alone, dry, program, "ascend")
        return
    found = rehearse_ascend(alone, dry, program, "ascend")
    steps = run(machine, program).steps
    assert agree(found, machine, steps)
    assert found.partners == dry.size.bit_length() - 1 and not found.modelled


@pytest.mark.parametrize("mapping", ["blocks", "clusters"])
@pytest.mark.parametrize("name", ["hypercube:8", "torus:6x7", "gmn:8,256", "sth:2,3"])
def test_a_flood_along_shortest_paths_is_known_exactly(name, mapping):
    machine, alone, dry = both(name, mapping)
    found = rehearse_flood(alone, dry, 3)
    assert agree(found, machine, flood(machine, 3).steps)
    assert not found.modelled


@pytest.mark.parametrize("mapping", ["blocks", "clusters"])
@pytest.mark.parametrize(
    "name", ["hypercube:8", "torus:6x7x3", "hdn:2x3,super=-/1", "sth:2,3", "dualcube:4"]
)
def test_a_broadcast_by_a_schedule_is_known_exactly(name, mapping):
    machine, alone, dry = both(name, mapping, "one")
    found = rehearse_broadcast(alone, dry, 5)
    steps = broadcast(machine, 5).steps
    assert agree(found, machine, steps)


@pytest.mark.costly
@pytest.mark.parametrize("mapping", ["blocks", "clusters"])
@pytest.mark.parametrize("policy", ["oldest", "fifo"])
@pytest.mark.parametrize("name", ["hypercube:8", "torus:6x7x3", "gmn:8,256", "hdn:2x3,super=-/1"])
def test_where_routed_messages_cross_is_known_exactly_if_all_are_walked(name, policy, mapping):
    machine, alone, dry = both(name, mapping)
    pattern, routing = traffic(machine.topology, "permutation", 2), machine.topology.routing()
    found = rehearse_route(alone, dry, pattern, routing, policy=policy)
    steps = route_all(machine, pattern, routing, policy=policy).steps
    assert agree(found, machine, found.steps) and found.steps <= steps
    ends = zip(*(part.tolist() for part in pattern.ends(np.arange(pattern.total))), strict=True)
    assert found.steps == max(len(path(machine.topology, routing, u, v)[1]) for u, v in ends)


def test_where_routed_messages_cross_is_known_nearly_if_a_sample_is_walked(monkeypatch):
    monkeypatch.setattr(route, "SAMPLE", 2**11)
    machine, alone, dry = both("hypercube:14")
    pattern = traffic(machine.topology, "permutation", 2)
    found = rehearse_route(alone, dry, pattern, machine.topology.routing())
    route_all(machine, pattern)
    assert found.all_messages == pytest.approx(machine.crossing.messages, rel=0.1)
    assert found.bytes == pytest.approx(machine.meters.crossed_bytes, rel=0.1)
    assert {"messages", "bytes"} <= set(found.modelled)


def test_a_rank_of_a_machine_that_is_not_there_is_played():
    dry = Dry(700, 1024)
    machine = Machine("hypercube:24", transport=dry)
    found = rehearse_ascend(machine, dry, open_operator("min"), "descend")
    assert (found.processors, found.steps, found.partners) == (2**14, 24, 10)
    assert (found.messages, found.bytes) == (10 * 2**14, 10 * 2**17)
    assert found.all_messages == 10 * 2**24


def test_what_a_rank_alone_cannot_know_gets_a_sentence():
    def machine(name, ports="all", mapping="blocks"):
        topology = mpinet.open(name)
        return Machine(topology, ports, Dry(0, 2), open_mapping(mapping, topology, Local()))

    dry = Dry(0, 2)
    ring, half = machine("ring:8", "one"), PortModel(half_duplex=True)
    for act, said in [
        (lambda: rehearse_flood(machine("clens:3,3"), dry, 0), "links, not of busses"),
        (lambda: rehearse_flood(machine("ring:8", mapping="random"), dry, 0), "or clusters"),
        (lambda: rehearse_flood(machine("ring:8", half), dry, 0), "full-duplex links"),
        (
            lambda: rehearse_flood(machine("fattree:2,2", mapping="clusters"), dry, 0),
            "--mapping blocks\\.",
        ),
        (
            lambda: rehearse_ascend(ring, dry, open_operator("sum"), "ascend"),
            "predict supports ascend",
        ),
        (lambda: rehearse_broadcast(machine("ccc:3", "one"), dry, 0, "tree"), "tree on ccc:3"),
        (lambda: rehearse_broadcast(machine("bsn:1,2,6", "one"), dry, 0), "receives twice"),
        (
            lambda: rehearse_route(
                ring, dry, traffic(ring.topology, "permutation"), ring.topology.routing()
            ),
            "all ports",
        ),
    ]:
        with pytest.raises(UsageError, match=said):
            act()


def test_a_flood_by_a_sample_of_distances_rests_on_it_in_all_counts(monkeypatch):
    monkeypatch.setattr("mpinet.programs.rehearsal.flood.SAMPLE", 2**5)
    dry = Dry(1, 4)
    found = rehearse_flood(Machine("torus:9x9", transport=dry), dry, 0)
    assert {"steps", "messages", "bytes", "partners"} <= set(found.modelled)


def test_a_rehearsed_broadcast_sends_what_the_schedule_does_and_measures_no_distances():
    dry = Dry(0, 4)
    machine = Machine("hypercube:8", "one", dry)
    found = rehearse_broadcast(machine, dry, 0)
    assert dry.records_sent.sum() == found.messages
    assert dry.bytes_sent == found.bytes


def test_traffic_without_messages_takes_no_step(tmp_path):
    (tmp_path / "none.csv").write_text("source,target\n")
    dry = Dry(0, 2)
    machine = Machine("ring:6", transport=dry)
    pattern = traffic(machine.topology, str(tmp_path / "none.csv"))
    found = rehearse_route(machine, dry, pattern, machine.topology.routing())
    assert (found.steps, found.messages, found.all_messages, found.partners) == (0, 0, 0, 0)


def test_the_model_adds_what_is_computed_waited_and_sent():
    found = Rehearsal(3, 16, 100, 10, 500, 8000, 8000, 128000, 7, 0.5)
    seconds = Cluster(latency=1e-3, bandwidth=1e4).seconds(found)
    assert seconds["computing"] == 0.5
    assert seconds["latency"] == pytest.approx(1e-3 * (10 * 4 + 10 * 7))
    assert seconds["transfer"] == pytest.approx((8000 + 10 * 4 * 256 + 70 * 16) / 1e4)
    assert seconds["total"] == pytest.approx(sum(list(seconds.values())[:3]))
