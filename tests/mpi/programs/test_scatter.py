"""Scatter and gather: everybody's item arrives, in N-1 steps with one port, which is optimal."""

from collections import Counter
from itertools import cycle

import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of
from serial.machine.outcome import moves_of, together

import mpinet
from mpinet import Machine
from mpinet.errors import NodeError, UsageError
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.networks.routing import path
from mpinet.programs.gather import gather
from mpinet.programs.scatter import scatter

LINKS = """complete:1 complete:2 ring:7 mesh:3x4 torus:2x3x5 hypercube:4 ccc:3 debruijn:3
ring:5*ring:7""".split()


def ways(topology, root):
    """Every processor's way to the root, a list of nodes."""
    nodes = set(range(topology.hosts)) - {root}
    return [path(topology, topology.routing(), node, root)[0] for node in sorted(nodes)]


@pytest.mark.parametrize("collective", [scatter, gather])
@pytest.mark.parametrize(("name", "mapping"), list(zip(LINKS, cycle(MAPPINGS), strict=False)))
def test_with_one_port_it_takes_one_step_for_every_other_processor(collective, name, mapping):
    topology = mpinet.open(name)
    root = topology.size // 3
    machine = machine_of(topology, "one", mapping=mapping_of(topology, mapping))
    result = collective(machine, root, seed=5)
    others = topology.size - 1
    assert (result.algorithm, result.steps, machine.steps) == ("tree", others, others)
    assert result.lower_bound == others
    assert result.messages == sum(len(way) - 1 for way in ways(topology, root))
    assert result.correct


@pytest.mark.parametrize("collective", [scatter, gather])
@pytest.mark.parametrize("name", LINKS)
def test_with_all_ports_it_takes_a_step_for_each_processor_of_the_largest_branch(collective, name):
    topology = mpinet.open(name)
    root = topology.size // 2
    result = collective(machine_of(topology, "all"), root)
    branches = Counter(way[-2] for way in ways(topology, root))
    assert result.steps == max(branches.values(), default=0)
    assert result.correct and result.lower_bound <= result.steps


@pytest.mark.parametrize("name", ["mesh:3x4", "ccc:3", "fattree:2,3"])
@pytest.mark.parametrize("ports", ["one", "all"])
def test_a_scatter_is_the_gather_backwards(name, ports):
    moves = []
    for collective in (scatter, gather):
        machine = machine_of(name, ports, trace=Trace())
        steps = collective(machine, 1).steps
        found = together(everyone, moves_of(machine))
        moves.append([(step, sender, receiver) for step, sender, _, receiver, _ in found])
    backwards = [(steps + 1 - step, receiver, sender) for step, sender, receiver in moves[1]]
    assert sorted(moves[0]) == sorted(backwards)


@pytest.mark.parametrize("collective", [scatter, gather])
@pytest.mark.parametrize("name", ["fattree:2,3", "fattree:3,3", "roadrunner:3,2,2"])
def test_switches_only_pass_items_on(collective, name):
    topology = mpinet.open(name)
    root = topology.hosts // 2
    result = collective(machine_of(name, "one"), root)
    lengths = [len(way) - 1 for way in ways(topology, root)]
    assert result.messages == sum(lengths)
    assert result.lower_bound <= result.steps <= topology.hosts - 2 + max(lengths)
    assert result.correct


@pytest.mark.parametrize("collective", [scatter, gather])
def test_items_may_be_routed_instead(collective):
    result = collective(machine_of("torus:3x4", "one"), 5, "routed")
    assert result.algorithm == "routed" and result.correct
    assert result.messages == sum(len(way) - 1 for way in ways(mpinet.open("torus:3x4"), 5))
    assert result.lower_bound == 11 <= result.steps


@pytest.mark.parametrize("collective", [scatter, gather])
@pytest.mark.parametrize("ports", ["one", "all"])
def test_busses_carry_routed_items(collective, ports):
    result = collective(machine_of("lens:3,2,3", ports), 4)
    assert result.algorithm == "routed" and result.correct
    assert result.lower_bound <= result.steps
    assert set(everyone(result)) == {collective(Machine("lens:3,2,3", ports, Local()), 4)}


@pytest.mark.parametrize("collective", [scatter, gather])
def test_wrong_roots_and_algorithms_are_refused(collective):
    machine = machine_of("fattree:2,2", "one")
    with pytest.raises(NodeError):
        collective(machine, 99)
    with pytest.raises(UsageError, match=r"Node 4 .* is a switch"):
        collective(machine, 4)
    with pytest.raises(UsageError, match=r"no (scatter|gather) 'fastest' .* tree, routed"):
        collective(machine, 0, "fastest")
