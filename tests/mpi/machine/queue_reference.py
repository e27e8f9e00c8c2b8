"""Routings that look at queues, in plain Python: what `adaptive_reference.play` asks of a network.

Written from docs/reference/traffic.md. Only who is behind a port is taken from mpinet; whose ways
and classes, distances and draws are these are found here.
"""

from itertools import pairwise

import networkx as nx
from mpi.machine.adaptive_reference import draw

import mpinet


class Wired:
    """A network's nodes and ports."""

    def __init__(self, name, seed=0):
        topology = mpinet.open(name)
        self.family, _, sides = name.partition(":")
        self.numbers = [int(each) for each in sides.replace("x", ",").split(",")]
        self.size, self.hosts, self.seed = topology.size, topology.hosts, seed
        self.ports = range(topology.ports)
        self.far, self.near = {}, {}
        for node in range(self.size):
            for port in self.ports:
                other = int(topology.neighbor(node, port))
                if other >= 0:
                    self.far[node, port] = other
                    self.near[node, port] = int(topology.reverse_port(node, port))
        self.edge = self.hosts if self.hosts < self.size else 0
        self.escape = self.classes

    def behind(self, node, port):
        return self.far.get((node, port))

    def back(self, node, port):
        return self.near[node, port]

    def best(self, able):
        return able[0]

    def to(self, node, other):
        """The port that leads to a neighbour."""
        return next(port for port in self.ports if self.behind(node, port) == other)

    def place(self, node):
        """Coordinates, the first dimension first; of a hypercube the lowest bit."""
        if self.family == "hypercube":
            return [node >> bit & 1 for bit in range(self.numbers[0])]
        found = []
        for side in reversed(self.numbers):
            node, here = divmod(node, side)
            found.insert(0, here)
        return found

    def minimal(self, node, target):
        """The next node of the way that the network itself would go."""
        if self.family == "dragonfly":
            return self.across(node, target)
        here, there = self.place(node), self.place(target)
        wrong = next(j for j, (x, y) in enumerate(zip(here, there, strict=True)) if x != y)
        step = there[wrong] - here[wrong]
        if self.family == "mesh":
            step = 1 if step > 0 else -1
        following = [*here[:wrong], here[wrong] + step, *here[wrong + 1 :]]
        return next(other for other in range(self.size) if self.place(other) == following)

    def group(self, node):
        """The group of a processor or router of a dragonfly."""
        p, a, _ = self.numbers
        return node // (p * a) if node < self.hosts else (node - self.hosts) // a

    def entry(self, group, other):
        """The routers of the one link from a group to another."""
        return next(
            (u, v)
            for (u, _), v in self.far.items()
            if u >= self.hosts and self.group(u) == group and self.group(v) == other
        )

    def across(self, node, target):
        """Up, to the link between the groups, over it, to the router, down."""
        if node < self.hosts:
            return self.behind(node, 0)
        goal = self.behind(target, 0) if target < self.hosts else target
        if node == goal:
            return target
        if self.group(node) == self.group(goal):
            return goal
        here, there = self.entry(self.group(node), self.group(goal))
        return there if node == here else here

    def path(self, node, target):
        """All nodes of that way."""
        nodes = [node]
        while nodes[-1] != target:
            nodes.append(self.minimal(nodes[-1], target))
        return nodes

    def middle(self, message):
        """The node that a message's draw leads by, or None."""
        source, target = message["source"], message["target"]
        pair = draw(self.seed, source, target, 21)
        word = draw(pair, message["number"], 0, 21)
        if source == target:
            return None
        if self.family != "dragonfly":
            found = word * self.size >> 32
            return None if found in (source, target) else found
        _, a, h = self.numbers
        here, drawn, there = self.group(source), word * (a * h + 1) >> 32, self.group(target)
        return None if here == there or drawn in (here, there) else self.entry(here, drawn)[1]

    def hops(self, nodes):
        """Hops between nodes that forward."""
        return sum(min(pair) >= self.edge for pair in pairwise(nodes))


class Ugal(Wired):
    """Networks of one class, and dragonflies of two: one class more, for the way to the group."""

    everywhere = False

    def __init__(self, name, seed=0):
        self.classes = 3 if name.startswith("dragonfly") else 2
        super().__init__(name, seed)

    def is_first(self, node, lane):
        return lane[0] < 0 or self.behind(node, lane[0]) < self.edge

    def straight(self, node, lane, message, fresh):
        """The way to the target, a class later behind a global link."""
        following = self.minimal(node, message["target"])
        group = 1
        if self.family == "dragonfly" and not fresh and lane[1] >= 1:
            group = lane[1]
            before = self.behind(node, lane[0])
            came_global = min(before, node) >= self.hosts and self.group(before) != self.group(node)
            leaves_locally = following >= self.hosts and self.group(following) == self.group(node)
            group += came_global and leaves_locally
        return self.to(node, following), group

    def ways(self, node, lane, message, queue):
        if node < self.edge:
            return [(self.to(node, self.minimal(node, message["target"])), 0)]
        middle, first = self.middle(message), self.is_first(node, lane)
        if not first and lane[1] == 0 and node != middle:
            return [(self.to(node, self.minimal(node, middle)), 0)]
        straight = self.straight(node, lane, message, not first and lane[1] == 0)
        if not first or middle is None:
            return [straight]
        return self.chosen(node, middle, message["target"], straight, 0, queue)

    def chosen(self, node, middle, target, straight, group, queue):
        """The one of both ways that queues speak for."""
        both = self.path(node, target), self.path(node, middle) + self.path(middle, target)[1:]
        if self.everywhere:
            weigh = [sum(queue(u, self.to(u, v)) for u, v in pairwise(way)) for way in both]
        else:
            weigh = [queue(node, self.to(*way[:2])) * self.hops(way) for way in both]
        return [straight if weigh[0] <= weigh[1] else (self.to(node, both[1][1]), group)]


class UgalG(Ugal):
    everywhere = True


class Par(Ugal):
    """Of a dragonfly: asked again at every router of the source's group."""

    def __init__(self, name, seed=0):
        super().__init__(name, seed)
        self.classes = self.escape = 4

    def ways(self, node, lane, message, queue):
        middle, target = self.middle(message), message["target"]
        if node < self.hosts:
            return [(0, 0)]
        home, here = self.group(message["source"]), self.group(node)
        leaving = lane[1] == 1 and node != middle
        if leaving:
            return [(self.to(node, self.minimal(node, middle)), 1)]
        following = self.minimal(node, target)
        is_local = following >= self.hosts and self.group(following) == here
        if here == self.group(target):
            return [(self.to(node, following), 3)]
        if here != home:
            return [(self.to(node, following), 2)]
        straight = self.to(node, following), 0 if is_local else 2
        if middle is None:
            return [straight]
        return self.chosen(node, middle, target, straight, 1, queue)


class Incremental(Wired):
    """Of a HyperX: candidates by what they weigh."""

    def ways(self, node, lane, message, queue):
        here, there = self.place(node), self.place(message["target"])
        wrong = [j for j in range(len(here)) if here[j] != there[j]]
        self.weights, found = {}, []
        for astray in (False, True):
            for port in self.ports:
                at = self.place(self.behind(node, port))
                (j,) = [j for j in range(len(here)) if at[j] != here[j]]
                if j not in wrong or (at[j] != there[j]) != astray:
                    continue
                if not self.allows(j, wrong, astray, lane[1]):
                    continue
                self.weights[port] = queue(node, port) * (len(wrong) + astray)
                found.append((port, self.group_of(astray, lane[1])))
        return found

    def best(self, able):
        return min(able, key=lambda way: self.weights[way[0]])


class DimWar(Incremental):
    classes = 2

    def allows(self, j, wrong, astray, came_by):
        return j == wrong[0] and not (astray and came_by == 0)

    def group_of(self, astray, came_by):
        return 0 if astray else 1


class OmniWar(Incremental):
    def __init__(self, name, seed=0):
        self.classes = 2 * (name.count("x", len("hyperx")) + 1)
        super().__init__(name, seed)

    def allows(self, j, wrong, astray, came_by):
        made = came_by + 1
        return not astray or made + 1 + len(wrong) <= self.classes

    def group_of(self, astray, came_by):
        return came_by + 1


class Polarized(Wired):
    def __init__(self, name, seed=0):
        self.classes = 1
        super().__init__(name, seed)
        graph = nx.Graph()
        graph.add_edges_from((u, v) for (u, _), v in self.far.items())
        self.distance = dict(nx.all_pairs_shortest_path_length(graph))
        routers = range(self.edge, self.size)
        diameter = max(self.distance[u][v] for u in routers for v in routers)
        self.classes = self.escape = max(2, 4 * diameter - 3)

    def ways(self, node, lane, message, queue):
        source, target = self.distance[message["source"]], self.distance[message["target"]]
        found = []
        for port in self.ports:
            other = self.behind(node, port)
            if other is None or (other < self.edge and other != message["target"]):
                continue
            away, closer = source[other] - source[node], target[node] - target[other]
            half = 1 if source[node] < target[node] else -1
            if away + closer > 0 or (away == half and closer == -half):
                from_router = lane[0] >= 0 and self.behind(node, lane[0]) >= self.edge
                group = lane[1] + 1 if from_router else 0
                group = group if min(node, other) >= self.edge else 0
                found.append((-(away + closer), port, group))
        self.lengths = {port: queue(node, port) for _, port, _ in found}
        return [(port, group) for _, port, group in sorted(found)]

    def best(self, able):
        return min(able, key=lambda way: self.lengths[way[0]])


ROUTINGS = {
    "ugal-l": Ugal,
    "ugal-g": UgalG,
    "par": Par,
    "dimwar": DimWar,
    "omniwar": OmniWar,
    "polarized": Polarized,
}
