"""Systems of the papers' pages: the commands that docs/papers print, on any number of ranks."""

import math
from collections import defaultdict

import networkx as nx
import numpy as np
import pytest
from mpi.machine.ranks import everyone, machine_of, mapping_of
from serial.networks.test_detours import Wires

import mpinet
from mpinet.cli.commands import parse
from mpinet.draws import draw
from mpinet.jobs import module_of
from mpinet.machine.busprotocol import PROTOCOLS
from mpinet.machine.transport import world
from mpinet.networks.routing import path
from mpinet.programs.multicast import multicast
from mpinet.programs.route import route
from mpinet.programs.traffic import traffic


def result_of(line):
    """The result of a command on all ranks, which has to be the same everywhere."""
    options = parse(line.split())
    found = module_of(options.command).prepare(options).run(world(), lambda *done: None)
    results = everyone(found)
    assert all(each == results[0] for each in results)
    return found


def walks(topology, routing=None):
    """For every pair the (processor, bus, next processor) of its route, and the pairs' order."""
    ends = traffic(topology, "all")
    sources, targets = ends.ends(np.arange(ends.total))
    found = []
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        nodes, ports = path(topology, routing or topology.routing(), source, target)
        busses = topology.channel(np.array(nodes[:-1]), np.array(ports)).tolist()
        found.append(list(zip(nodes, busses, nodes[1:], strict=False)))
    return found


class Members:
    """What each protocol decides, by its description alone."""

    def __init__(self, topology, name, seed):
        self.topology, self.name, self.seed = topology, name, seed
        self.last, self.token, self.free = {}, {}, defaultdict(int)
        self.collided = defaultdict(int)

    def members(self, bus):
        return self.topology.bus_members(bus)

    def pass_tokens(self, step, asking):
        """Move the token of every bus whose holder has nothing to send."""
        for bus in range(self.topology.busses):
            holder = self.token.setdefault(bus, 0)
            if step > 1 and not self.sent_last.get(bus):
                self.token[bus] = (holder + 1) % len(self.members(bus))

    def chosen(self, step, bus, nodes):
        members = self.members(bus)
        if self.name == "roundrobin":
            turn = self.last.get(bus, -1)
            while True:
                turn = (turn + 1) % len(members)
                if members[turn] in nodes:
                    self.last[bus] = turn
                    return members[turn]
        if self.name == "token":
            holder = members[self.token[bus]]
            return holder if holder in nodes else None
        trying = [node for node in nodes if self.free[node, bus] <= step]
        if len(trying) == 1:
            self.collided.pop((trying[0], bus), None)
            self.free.pop((trying[0], bus), None)
            return trying[0]
        for node in trying:
            self.collided[node, bus] += 1
            window = 2 ** min(self.collided[node, bus], 10)
            key = step * self.topology.busses + bus
            self.free[node, bus] = step + 1 + draw(self.seed, node, key) % window
        return None


def simulated(topology, ways, name, seed):
    """The step in which each message arrives, message by message."""
    place, arrived, step = [0] * len(ways), [0] * len(ways), 0
    members = Members(topology, name, seed)
    members.sent_last = {}
    while any(place[i] < len(way) for i, way in enumerate(ways)):
        step += 1
        offers = defaultdict(dict)
        for i, way in enumerate(ways):
            if place[i] < len(way):
                node, bus, _ = way[place[i]]
                offers[bus].setdefault(node, i)
        if name == "token":
            members.pass_tokens(step, offers)
        members.sent_last = {}
        for bus, asking in offers.items():
            node = members.chosen(step, bus, sorted(asking))
            if node is not None:
                members.sent_last[bus] = True
                place[asking[node]] += 1
                if place[asking[node]] == len(ways[asking[node]]):
                    arrived[asking[node]] = step
    return arrived


@pytest.mark.parametrize("mapping", ["blocks", "random"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["clens:3,2", "lens:3,4,2"])
def test_members_arbitrate_as_in_a_plain_simulation(name, protocol, mapping):
    topology = mpinet.open(name)
    machine = machine_of(topology, mapping=mapping_of(topology, mapping))
    arrived = simulated(topology, walks(topology), protocol, seed=3)
    found = route(machine, traffic(topology, "all"), protocol=PROTOCOLS[protocol](machine, 3))
    assert set(everyone(found)) == {found}
    assert (found.steps, found.delivered) == (max(arrived), len(arrived))
    assert found.latency.mean == pytest.approx(sum(arrived) / len(arrived))


def test_the_protocols_of_the_lens_page_take_its_steps():
    topology = mpinet.open("clens:3,3")
    ways = walks(topology)
    for protocol in ("roundrobin", "token", "backoff"):
        found = result_of(f"route clens:3,3 --pairs all --arbitration {protocol}")
        assert found["steps"] == max(simulated(topology, ways, protocol, seed=0))
        assert found["undeliverable"] == 0


FAULTS = [
    ("hdn:2x3,super=0", {"nodes": [3]}, "node:3", 70),
    ("clens:3,3", {"nodes": [3]}, "node:3", 46),
    ("clens:3,3", {"busses": [3]}, "bus:3", 0),
    ("sth:2,2", {"nodes": [3, 17, 20, 40, 63]}, "node:3,node:17,node:20,node:40,node:63", 610),
]
"""Networks with dead parts, and the messages that no routing can deliver."""


@pytest.mark.parametrize(("name", "faults", "words", "lost"), FAULTS)
def test_only_messages_of_dead_processors_are_undeliverable(name, faults, words, lost):
    topology = mpinet.open(name)
    dead = faults.get("nodes", [])
    graph = Wires(topology, **faults).graph(dead)
    reached = sum(len(part) * (len(part) - 1) for part in nx.connected_components(graph))
    found = result_of(f"route {name} --pairs all --faults {words}")
    assert found["routing"] == "detour"
    assert (found["delivered"], found["undeliverable"]) == (reached, lost)
    distance = dict(nx.all_pairs_shortest_path_length(graph))
    assert found["hops_max"] >= max(max(each.values()) for each in distance.values())


@pytest.mark.parametrize("mapping", ["blocks", "random"])
@pytest.mark.parametrize(
    ("name", "count"), [("hdn:2x3,super=0", 9), ("clens:3,3", 5), ("ring:7", 6)]
)
def test_a_multicast_reaches_its_set_in_the_rounds_of_its_description(name, count, mapping):
    topology = mpinet.open(name)
    targets = np.random.default_rng(count).permutation(np.arange(1, topology.size))[:count]
    machine = machine_of(topology, "one", mapping=mapping_of(topology, mapping))
    found = multicast(machine, 0, targets.tolist())
    assert set(everyone(found)) == {found}
    assert found.correct and found.informed == count + 1
    assert len(found.phases) == math.ceil(math.log2(count + 1))
    # Hops of the routes between holders, round by round.
    row, hops = [0, *sorted(targets.tolist())], 0
    parts = [(0, len(row))]
    while any(last - first > 1 for first, last in parts):
        halves = []
        for first, last in parts:
            if last - first > 1:
                middle = (first + last + 1) // 2
                hops += len(path(topology, topology.routing(), row[first], row[middle])[1])
                halves += [(first, middle), (middle, last)]
            else:
                halves.append((first, last))
        parts = halves
    assert found.messages == hops


@pytest.mark.parametrize(("part", "copies", "steps"), [("lst", 8, 2 + 2), ("tq", 16, 3)])
def test_copies_broadcast_at_once_in_the_steps_of_one(part, copies, steps):
    found = result_of(f"broadcast sth:2,3 --parts {part} --root 1")
    assert (found["steps"], found["informed"], found["correct"]) == (steps, 128, True)
    assert [each["steps"] for each in found["groups"]] == [steps] * copies
    assert found["messages"] == 128 - copies


@pytest.mark.parametrize("operator", ["sum", "fft", "prefix"])
@pytest.mark.parametrize(("name", "part", "copies"), [("sth:2,3", "lst", 8), ("sth:3,2", "tq", 24)])
def test_copies_ascend_at_once_in_the_steps_of_one(name, part, copies, operator):
    found = result_of(f"ascend {name} --operator {operator} --parts {part}")
    assert found["correct"] and found["copies"] == copies
    assert found["steps"] == found["alone"] > 0
    assert found["elements"] == mpinet.open(name).size


def test_a_flood_around_dead_nodes_takes_their_eccentricity():
    dead = [3, 9, 64, 71, 100, 127]
    topology = mpinet.open("sth:2,3")
    graph = Wires(topology, nodes=dead).graph(dead)
    found = result_of("flood sth:2,3 --faults " + ",".join(f"node:{node}" for node in dead))
    assert found["steps"] == nx.eccentricity(graph, 0) <= 2 + 3 + 2
    assert found["informed"] == 128 - len(dead)
