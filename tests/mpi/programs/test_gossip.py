"""All-to-all broadcast: everybody has every item, in the steps of closed forms or brute force."""

from contextlib import suppress
from itertools import cycle

import networkx
import numpy as np
import pytest
from mpi.machine.ranks import MAPPINGS, everyone, machine_of, mapping_of, transport
from serial.machine.outcome import moves_of, together

import mpinet
from mpinet import Machine
from mpinet.errors import ModelViolation, TooLarge, UsageError
from mpinet.machine.model import PortModel
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.networks.graph import from_networkx
from mpinet.networks.routing import path
from mpinet.programs import fewest
from mpinet.programs.collective import items
from mpinet.programs.gossip import gossip
from mpinet.programs.holdings import ChunksCame, MarkedChunks
from mpinet.programs.kinds import Purpose
from mpinet.programs.pipelines.collectives import move_items

CYCLES = """complete:1 complete:2 ring:7 hypercube:4 torus:3x5 torus:2x3x5 ccc:3 ccc:4 gmn:3,12
chordalring:16,5 mesh:3x4 debruijn:4 ring:3*mesh:3x3 mesh:3x3*complete:2 sth:2,3 hdn:2x3,super=0.1
hdn:2x3x5,super=0.1 hdn:2x3,super=0.1/0 hdn:2x2,super=0/1 rdn:2,2 dualcube:3""".split()


@pytest.mark.costly
@pytest.mark.parametrize(("name", "mapping"), list(zip(CYCLES, cycle(MAPPINGS), strict=False)))
def test_rotation_takes_one_step_for_every_other_processor(name, mapping):
    topology = mpinet.open(name)
    machine = machine_of(topology, "one", mapping=mapping_of(topology, mapping))
    result = gossip(machine, seed=3)
    others = topology.size - 1
    assert (result.algorithm, result.steps, machine.steps) == ("cycle", others, others)
    assert result.lower_bound == others
    assert result.messages == topology.size * others
    assert result.correct


@pytest.mark.parametrize("name", ["complete:2", "ring:7", "ring:8", "torus:3x3"])
def test_with_all_ports_rotation_goes_both_ways(name):
    result = gossip(machine_of(name, "all"), "cycle")
    size = mpinet.open(name).size
    assert result.steps == -(-(size - 1) // 2)
    assert result.messages == size * (size - 1)
    assert result.correct and result.lower_bound <= result.steps


def test_rotating_both_ways_at_once_breaks_the_one_port_model():
    machine = machine_of("ring:7", "one")
    both = np.repeat([0, 1], len(machine.nodes))
    with pytest.raises(ModelViolation, match=r"Step 1: processor \d sends on port 1"):
        machine.step(np.tile(machine.nodes, 2), both)
    assert machine.steps == 0


@pytest.mark.parametrize("name", ["hdn:2x3,super=0", "ccc:3", "mesh:3x4", "debruijn:4"])
def test_a_processor_that_leaves_the_cycle_is_caught(name):
    topology, machine = mpinet.open(name), machine_of(name, "one")
    nodes = np.arange(topology.size)
    ahead = topology.cycle().successor(nodes)
    beside = (ahead + 1) % topology.ports
    leaving = np.flatnonzero(topology.neighbor(nodes, beside) >= 0)[0]
    ports = np.where(nodes == leaving, beside, ahead)
    with pytest.raises(ModelViolation, match=r"Step 1: processor \d+ receives on port \d+"):
        machine.step(machine.nodes, ports[machine.nodes])
        machine.sum(0)  # where the ranks that have not seen it hear of it


def test_half_duplex_links_carry_the_rotation_as_well():
    result = gossip(machine_of("ring:9", PortModel(None, None, True)))
    assert (result.steps, result.correct) == (8, True)


class LiteralTree:
    """Gossip along the tree of the routing towards 0, node after node in plain Python."""

    def __init__(self, topology, period=None):
        self.hosts = topology.hosts
        ports = range(topology.ports)
        self.parent, children = {}, {u: [] for u in range(topology.size)}
        for node in range(1, topology.size):
            self.parent[node] = path(topology, topology.routing(), node, 0)[0][1]
        for node, parent in self.parent.items():
            port = [topology.neighbor(parent, p) for p in ports].index(node)
            children[parent].append((port, node))
        self.color = {}
        self._color(0, None, children)
        self.period = period or 1 + max(self.color.values(), default=0)
        self.one_port = period is None
        self.neighbors = {u: [] for u in {0, *self.color}}
        for node in self.color:
            self.neighbors[node].append(self.parent[node])
            self.neighbors[self.parent[node]].append(node)

    def _depth(self, node, children):
        """Links to the deepest processor below; None if there is none."""
        depths = [self._depth(child, children) for _, child in children[node]]
        below = [depth + 1 for depth in depths if depth is not None]
        return max(below, default=0 if node < self.hosts else None)

    def _color(self, node, own, children):
        depths = [(self._depth(child, children), port, child) for port, child in children[node]]
        served = sorted((-d, port, child) for d, port, child in depths if d is not None)
        free = [color for color in range(len(served) + 1) if color != own]
        for color, (_, _, child) in zip(free, served, strict=False):
            self.color[child] = color
            self._color(child, color, children)

    def run(self):
        """Steps, and the moves (step, sender, receiver)."""
        held = {u: [(u, None)] if u < self.hosts else [] for u in self.neighbors}
        sent = {(u, v): 0 for u, others in self.neighbors.items() for v in others}
        step, moves = 0, []
        while any(len(rows) < self.hosts for rows in held.values()):
            step += 1
            arrived = []
            for u, v in sent:
                color = self.color[u if self.parent.get(u) == v else v]
                if self.one_port and color != (step - 1) % self.period:
                    continue
                while sent[u, v] < len(held[u]) and held[u][sent[u, v]][1] == v:
                    sent[u, v] += 1
                if sent[u, v] < len(held[u]):
                    arrived.append((u, v, held[u][sent[u, v]][0]))
                    sent[u, v] += 1
            for u, v, item in sorted(arrived):
                held[v].append((item, u))
                moves.append((step, u, v))
        assert all(sorted(i for i, _ in held[u]) == list(range(self.hosts)) for u in held)
        return step, sorted(moves)


TREES = "mesh:3x4 ccc:3 debruijn:3 fattree:2,3 ring:3*hypercube:2 hypercube:3 complete:2".split()


@pytest.mark.parametrize(("name", "mapping"), list(zip(TREES, cycle(MAPPINGS), strict=False)))
def test_gossip_along_the_tree_takes_the_steps_of_the_literal_one(name, mapping):
    topology = mpinet.open(name)
    for ports, period in (("one", None), ("all", 1)):
        mapped = mapping_of(topology, mapping)
        machine = machine_of(topology, ports, mapping=mapped, trace=Trace())
        result = gossip(machine, "tree")
        steps, moves = LiteralTree(topology, period).run()
        assert (result.steps, result.messages) == (steps, len(moves))
        assert result.correct and result.lower_bound <= steps
        if not period:  # one message a link and step: the order within a step cannot differ
            found = together(everyone, moves_of(machine))
            assert [(step, u, v) for step, u, _, v, _ in found] == moves


@pytest.mark.parametrize("name", ["complete:2", "mesh:3x4", "ccc:3", "fattree:2,2"])
def test_the_tree_keeps_half_duplex_links_too(name):
    for model in (PortModel(1, 1, True), PortModel(None, None, True)):
        result = gossip(machine_of(name, model), "tree")
        assert result.correct and result.lower_bound <= result.steps


@pytest.mark.parametrize("name", ["torus:3x4", "fattree:2,2"])
def test_routed_gossip_sends_every_item_over_every_way(name):
    topology = mpinet.open(name)
    result = gossip(machine_of(name, "one"), "routed")
    pairs = [(s, t) for s in range(topology.hosts) for t in range(topology.hosts) if s != t]
    ways = [path(topology, topology.routing(), source, target)[1] for source, target in pairs]
    assert result.algorithm == "routed" and result.correct
    assert result.messages == sum(map(len, ways))


@pytest.mark.parametrize("name", ["lens:2,2,3", "lens:3,2,3"])
@pytest.mark.parametrize("ports", ["one", "all"])
def test_busses_carry_routed_gossip(name, ports):
    result = gossip(machine_of(name, ports))
    assert result.algorithm == "routed" and result.correct
    assert result.lower_bound <= result.steps
    assert set(everyone(result)) == {gossip(Machine(name, ports, Local()))}


OPTIMA = """petersen:3 hypercube:4:4 torus:4x4:4 torus:7x7:12 tq:5:7 stargraph:4:8 foldedcube:5:6
debruijn:5:16 arrangement:5,3:10 hypercube:7:19""".split()


@pytest.mark.parametrize(("case", "mapping"), list(zip(OPTIMA, cycle(MAPPINGS), strict=False)))
def test_who_takes_the_rarest_from_all_neighbours_needs_as_few_steps_as_there_can_be(case, mapping):
    name, _, steps = case.rpartition(":")
    topology = mpinet.open(name)
    machine = machine_of(topology, "all", mapping=mapping_of(topology, mapping))
    found = gossip(machine, "rarest")
    assert (found.steps, found.lower_bound, found.correct) == (int(steps), int(steps), True)
    assert found.messages == topology.size * (topology.size - 1)


MATCHED = """petersen:9:9 shuffleexchange:3:9:9 shuffleexchange:4:17:18 bsn:1,1,5:33:34
roadrunner:3,2,3:121:134 fattree:2,3:16:20 mesh:3x3x3:27:28 star:25:25""".split()
"""Networks without a Hamiltonian cycle, a bound by cuts, and steps that take no more."""


@pytest.mark.costly
@pytest.mark.parametrize(("case", "mapping"), list(zip(MATCHED, cycle(MAPPINGS), strict=False)))
def test_matchings_gossip_in_little_more_than_the_best_cut_s_bound(case, mapping):
    name, bound, most = case.rsplit(":", 2)
    star = from_networkx(networkx.star_graph(5))
    topology = star if name == "star" else mpinet.open(name)
    machine = machine_of(topology, "one", mapping=mapping_of(topology, mapping))
    found = gossip(machine, "matching")
    assert found.correct and found.lower_bound == int(bound) <= found.steps <= int(most)
    assert set(everyone(found)) == {gossip(Machine(topology, "one", Local()), "matching")}


def test_matchings_are_for_one_port_of_full_duplex():
    with pytest.raises(UsageError, match="uses one port: give --ports one"):
        gossip(machine_of("petersen", "all"), "matching")
    with pytest.raises(UsageError, match="no gossip 'matching'"):
        gossip(machine_of("petersen", PortModel(1, 1, True)), "matching")


def test_the_rarest_are_taken_over_all_ports():
    for algorithm in ("rarest", "trees"):
        with pytest.raises(UsageError, match="uses all ports: give --ports all"):
            gossip(machine_of("petersen", "one"), algorithm)
    with pytest.raises(UsageError, match="no gossip 'paths'"):
        gossip(machine_of("petersen", "all"), "paths")


NAMED = """cycle tree rarest matching paths trees translations""".split()

CHOSEN = """petersen mesh:3x3 mesh:5x4 torus:4x4 debruijn:4 shuffleexchange:3 twistedtorus:8x4
fattree:2,2 dgx1 dgxh100:2 mi250:1 rail:4,2 hammingmesh:2,2,2,2""".split()


@pytest.mark.costly
@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize(("name", "mapping"), list(zip(CHOSEN, cycle(MAPPINGS), strict=False)))
def test_no_named_algorithm_takes_fewer_steps_than_the_default(name, mapping, ports):
    topology, steps = mpinet.open(name), {}
    for algorithm in NAMED:
        with suppress(UsageError):
            steps[algorithm] = gossip(Machine(topology, ports, Local()), algorithm).steps
    found = gossip(machine_of(topology, ports, mapping=mapping_of(topology, mapping)))
    assert (found.correct, found.skipped) == (True, ())
    assert found.lower_bound <= found.steps == steps[found.algorithm] == min(steps.values())
    assert {each.steps for each in everyone(found)} == {found.steps}


@pytest.mark.costly
@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("name", CHOSEN)
def test_one_item_takes_no_more_steps_than_two(name, ports):
    one = gossip(machine_of(name, ports))
    assert one.steps <= move_items(machine_of(name, ports), "gossip", 2).steps
    once, twice = (move_items(machine_of(name, ports), "allreduce", items) for items in (1, 2))
    assert once.steps <= twice.steps


def test_boxes_and_twisted_tori_gossip_in_few_steps_by_default():
    # Each message passes a switch: no schedule takes fewer than 2 steps.
    assert gossip(machine_of("dgxh100:1", "all")).steps == 2
    # 127 items come over 6 links, one each a step.
    assert gossip(machine_of("twistedtorus:4x4x8", "all")).steps == -(-127 // 6)


def test_a_candidate_beyond_the_budget_is_skipped_and_named(monkeypatch):
    monkeypatch.setattr(fewest, "MOST_WORK", 0)
    found = gossip(machine_of("torus:4x4", "all"))
    assert (found.algorithm, found.steps) == ("cycle", 8)
    assert found.skipped == ("translations", "rarest", "trees")


def test_an_allreduce_whose_trees_take_too_long_goes_by_paths():
    with pytest.raises(TooLarge, match="would take too long to find"):
        move_items(machine_of("dgxh100:8", "all"), "allreduce", 64, algorithm="trees")
    found = move_items(machine_of("dgxh100:8", "all"), "allreduce", 64, operator="sum")
    assert (found.algorithm, found.correct, found.skipped) == ("paths", True, ("trees",))
    assert found.lower_bound <= found.steps


def test_a_missing_or_a_wrong_item_is_noticed():
    def outcome(change):
        machine = machine_of("ring:3", "one")
        held = MarkedChunks(machine, Purpose("gossip", 3), 0)
        origins = np.arange(3)
        rows = np.stack([origins, items(0, origins, origins)], axis=1)
        for slot, node in enumerate(machine.nodes.tolist()):
            told = change(rows.copy()) if node == 1 else rows
            slots = np.full(len(told), slot)
            held.take(ChunksCame(slots, machine.nodes[slots], slots, told, 0))
        return held.short() == 0

    def spoilt(rows):
        rows[2, 1] += 1
        return rows

    assert outcome(lambda rows: rows)
    assert not outcome(lambda rows: rows[:1])
    assert not outcome(spoilt)


def test_what_cannot_be_done_is_refused():
    with pytest.raises(UsageError, match=r"no gossip 'cycle' .* it has: tree, routed"):
        gossip(machine_of("mesh:3x3", "one"), "cycle")
    with pytest.raises(UsageError, match="at most 8,192 processors"):
        gossip(machine_of("hypercube:14", "one"), "tree")
    assert machine_of("ring:3").sum(1) == [transport().size]
