"""Broadcasts inform everybody, in the steps of the closed forms or of an independent count."""

from functools import cache
from itertools import cycle
from math import ceil, log2

import networkx
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, transport
from serial.machine.outcome import moves_of, together
from serial.networks.reference import EVERYTHING, distances, graph

import mpinet
from mpinet import Machine
from mpinet.errors import NodeError, UsageError
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.networks.routing import path
from mpinet.programs import passes
from mpinet.programs.broadcast import broadcast


@cache
def fewest_steps(length, first, last):
    """Brute force: steps to inform a path whose places first..last know, one call each a step."""
    if (first, last) == (0, length - 1):
        return 0
    onwards = {(max(first - 1, 0), last), (first, min(last + 1, length - 1))}
    if first < last:  # two ends, so both may call
        onwards.add((max(first - 1, 0), min(last + 1, length - 1)))
    return 1 + min(fewest_steps(length, *ends) for ends in onwards - {(first, last)})


def ring_steps(sides):
    return sum(ceil(side / 2) for side in sides)


CLOSED_FORMS = [
    *((f"hypercube:{n}", 2**n // 3, n) for n in (1, 4, 7)),
    *((f"complete:{n}", n // 2, ceil(log2(n))) for n in (2, 7, 16, 33)),
    *((f"ring:{n}", 2, ceil(n / 2)) for n in (3, 8, 13)),
    *((f"torus:{'x'.join(map(str, s))}", 5, ring_steps(s)) for s in [(4, 4), (2, 3, 5), (7, 5)]),
    *((f"mesh:{n}", u, fewest_steps(n, u, u)) for n in (2, 5) for u in range(n)),
    ("mesh:3x5", 7, fewest_steps(3, 1, 1) + fewest_steps(5, 2, 2)),
    ("mesh:3x5", 4, fewest_steps(3, 0, 0) + fewest_steps(5, 4, 4)),
    ("ring:5*hypercube:3", 11, 3 + 3),
]
"""Network, root, steps of the family's own one-port broadcast."""


@pytest.mark.parametrize(("network", "root", "steps"), CLOSED_FORMS)
def test_own_schedules_take_the_steps_of_the_closed_forms(network, root, steps):
    machine = machine_of(network, "one")
    result = broadcast(machine, root)
    size = machine.topology.size
    assert (result.steps, machine.steps) == (steps, steps)
    assert (result.informed, result.messages) == (size, size - 1)
    assert sum(length for _, length in result.phases) == steps
    assert result.lower_bound <= steps


def tree_count(topology, root):
    """Steps and messages: every node serves its children one a step, the deepest subtree first.

    A node's parent is the next one on its way to the root; equally deep children are served in
    port order; subtrees without a processor are left out.
    """
    children = {u: [] for u in range(topology.size)}
    for node in set(range(topology.size)) - {root}:
        parent = path(topology, topology.routing(), node, root)[0][1]
        ports = [topology.neighbor(parent, port) for port in range(topology.ports)]
        children[parent].append((ports.index(node), node))

    @cache
    def depth(node):
        below = [depth(child) + 1 for _, child in children[node] if depth(child) is not None]
        return max(below, default=0 if node < topology.hosts else None)

    def serve(node, since):
        """The last step, and the messages, of the broadcast below a node informed in `since`."""
        served = sorted((-depth(c), port, c) for port, c in children[node] if depth(c) is not None)
        ends = [serve(child, since + i) for i, (_, _, child) in enumerate(served, start=1)]
        last = max((end for end, _ in ends), default=since)
        return last, len(ends) + sum(messages for _, messages in ends)

    return serve(root, 0)


TREES = """ring:17 mesh:3x4 torus:2x3x5 hypercube:5 complete:9 ccc:3 debruijn:6 shuffleexchange:3
chordalring:16,5 fattree:2,3 fattree:3,3 fattree:4,2 roadrunner:3,2,2 ring:5*ring:7""".split()


@pytest.mark.parametrize(("network", "mapping"), list(zip(TREES, cycle(MAPPINGS), strict=False)))
def test_tree_broadcast_takes_the_steps_counted_by_hand(network, mapping):
    topology = mpinet.open(network)
    root = topology.hosts // 3
    machine = machine_of(topology, "one", mapping=mapping_of(topology, mapping))
    result = broadcast(machine, root, "tree")
    assert (result.steps, result.messages) == tree_count(topology, root)
    assert result.informed == topology.hosts
    assert machine.steps == result.steps
    if topology.hosts == topology.size:
        assert result.messages == topology.size - 1
    far = distances(EVERYTHING[network])[root]
    doublings = ceil(log2(topology.hosts))
    assert result.lower_bound == max(doublings, *(far[u] for u in range(topology.hosts)))
    assert result.lower_bound <= result.steps
    alone = broadcast(Machine(topology, "one", Local()), root, "tree")
    assert set(everyone(result)) == {alone}


@pytest.mark.parametrize("network", ["torus:4x4", "ccc:3"])
def test_the_root_s_message_goes_over_links_to_each_processor_once(network):
    topology = mpinet.open(network)
    machine = machine_of(topology, "one", mapping=mapping_of(topology, "table"), trace=Trace())
    broadcast(machine, 6)
    moves = together(everyone, moves_of(machine))
    informed = {6: 0}
    for step, sender, _, receiver, _ in moves:
        assert graph(EVERYTHING[network]).has_edge(sender, receiver)
        assert informed[sender] < step
        assert informed.setdefault(receiver, step) == step
    assert len(informed) == len(moves) + 1 == topology.size


def test_default_is_the_family_s_own_broadcast_or_else_passes(monkeypatch):
    assert broadcast(machine_of("hypercube:3", "one"), 0).algorithm == "binomial"
    assert broadcast(machine_of("ccc:3", "one"), 0).algorithm == "passes"
    monkeypatch.setattr(passes, "MOST_PORTS", 24 * 3 - 1)
    assert broadcast(machine_of("ccc:3", "one"), 0).algorithm == "tree"


def test_a_lone_processor_needs_no_step():
    result = broadcast(machine_of("complete:1", "one"), 0)
    assert (result.steps, result.messages, result.informed, result.lower_bound) == (0, 0, 1, 0)


def test_wrong_roots_and_algorithms_are_refused():
    machine = machine_of("fattree:2,2", "one")
    with pytest.raises(NodeError):
        broadcast(machine, 99)
    with pytest.raises(UsageError, match=r"Node 4 .* is a switch"):
        broadcast(machine, 4)
    with pytest.raises(UsageError, match="no broadcast 'fastest'; it has: passes, tree"):
        broadcast(machine, 0, "fastest")
    assert machine.sum(1) == [transport().size]


def test_networkx_agrees_that_the_hand_counted_tree_is_one():
    topology = mpinet.open("fattree:2,3")
    steps, messages = tree_count(topology, 2)
    tree = networkx.Graph()
    for node in range(topology.hosts):
        networkx.add_path(tree, path(topology, topology.routing(), node, 2)[0])
    assert networkx.is_tree(tree)
    assert messages == tree.number_of_edges()
    assert steps >= networkx.eccentricity(tree, 2)
