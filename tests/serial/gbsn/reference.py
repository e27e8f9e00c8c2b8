"""BSN and GBSN once more, in plain Python, from the definitions: words as texts, sets of links.

Nothing here uses mpinet. A network is a list of nodes, each a list of neighbours by port, None
where a port is not wired.
"""

from collections.abc import Sequence
from functools import cached_property

import networkx

Wiring = list[list[int | None]]


def ceil_lg(x: int) -> int:
    return next(e for e in range(70) if 2**e >= x)


def rotl(word: int, s: int, n: int) -> int:
    text = format(word, f"0{n}b")
    s %= n
    return int(text[s:] + text[:s], 2)


def rotr(word: int, s: int, n: int) -> int:
    return rotl(word, -s, n)


def bsn(a: int, b: int, n: int) -> Wiring:
    """Section 1, port by port."""
    wiring: Wiring = []
    for u in range(2**n):
        ports: list[int | None] = []
        for s in range(b // a):
            ports += [u ^ (d << s * a) for d in range(1, 2**a)]
        if b < n:
            ports += [v if v != u else None for v in (rotl(u, b, n), rotr(u, b, n))]
        wiring.append(ports)
    return wiring


def twsr(a: int, b: int, n: int, source: int, target: int) -> list[int]:
    """The nodes on the way of two-way shift routing: section after section, then all the way back.

    Written as a walk of the whole message, in the words that lie unrotated.
    """
    sections = -(-n // b)
    difference = source ^ target
    places = [range(t * b, min((t + 1) * b, n)) for t in range(sections)]
    wrong = [[i for i in bits if difference >> i & 1] for bits in places]
    last = max((t for t in range(sections) if wrong[t]), default=0)
    x, way = source, [source]
    for t in range(last + 1):
        for s in range(b // a):
            here = [i for i in wrong[t] if s * a <= i - t * b < (s + 1) * a]
            if here:
                x ^= sum(1 << i for i in here)
                way.append(rotr(x, t * b, n))
        if t < last:
            way.append(rotr(x, (t + 1) * b, n))
    way += [rotr(x, t * b, n) for t in range(last - 1, -1, -1)]
    return [u for i, u in enumerate(way) if i == 0 or u != way[i - 1]]


class Gbsn:
    """A GBSN (section 2), with its routing (3.3) by trying all addresses of a block."""

    def __init__(self, b: int, m: Sequence[int], a: int | Sequence[int], completed: bool = True):
        self.b, self.m, self.k = b, list(m), len(m)
        self.a = [a] * self.k if isinstance(a, int) else list(a)
        self.c = ceil_lg(self.k)
        self.w_of = [ceil_lg(size) for size in m]
        self.w = max(self.w_of)
        self.n = self.c + self.w
        self.completed = completed
        self.base = [sum(self.m[:block]) for block in range(self.k)]
        self.nodes = [(block, i) for block in range(self.k) for i in range(self.m[block])]
        self.number = {node: u for u, node in enumerate(self.nodes)}
        self.ways: dict[tuple[int, int], list[int]] = {}

    def shifted(self, node: tuple[int, int], by: int) -> tuple[int, int]:
        return divmod(rotl(node[0] * 2**self.w + node[1], by, self.n), 2**self.w)

    def needy(self, block: int) -> bool:
        upper = self.shifted((block, 0), -self.b)
        if upper not in self.number:
            return True
        return self.b >= 2 and block % 2**self.b == 0 and self.needy(2 * (block >> self.b))

    @cached_property
    def any_needy(self) -> bool:
        return any(self.needy(block) for block in range(1, self.k))

    @cached_property
    def shift_ends(self) -> dict[tuple[int, int, str], tuple[int, int, str]]:
        """(block, place, side) of a shift port -> that of the port at the link's other end."""
        ends: dict[tuple[int, int, str], tuple[int, int, str]] = {}
        for block in range(1, self.k) if self.completed else ():
            if self.needy(block):
                mine = (block, 0, "right")
                its = (block // 2, 1, "right") if block % 2 else (block // 2, 0, "left")
                assert mine not in ends and its not in ends
                ends[mine], ends[its] = its, mine
        completion = set(ends)
        for u in self.nodes:
            v = self.shifted(u, self.b)
            mine, its = (*u, "left"), (*v, "right")
            if v in self.number and v != u and not completion & {mine, its}:
                ends[mine], ends[its] = its, mine
        return ends

    def partial_ports(self, block: int) -> list[int]:
        """What the partial ports of a block flip."""
        a, width = self.a[block], self.w_of[block]
        lows = range(0, width, a)
        return [d << low for low in lows for d in range(1, 2 ** min(a, width - low))]

    @cached_property
    def wiring(self) -> Wiring:
        wiring: Wiring = []
        for block, i in self.nodes:
            ports = [self.number.get((block, i ^ flip)) for flip in self.partial_ports(block)]
            if self.n > self.b:
                for side in ("left", "right"):
                    end = self.shift_ends.get((block, i, side))
                    ports.append(self.number[end[:2]] if end else None)
            wiring.append(ports)
        return wiring

    def uplink(self, block: int) -> tuple[int, int, str]:
        """The upper end of a block's link in the block tree, and its port."""
        if self.needy(block):
            return (block // 2, 1, "right") if block % 2 else (block // 2, 0, "left")
        return (*self.shifted((block, 0), -self.b), "left")

    def digits(self, block: int, place: int) -> list[int]:
        """The subsections' values, from the right."""
        a = self.a[block]
        return [place >> low & (2**a - 1) for low in range(0, self.w_of[block], a)]

    def distance(self, block: int, place: int, other: int) -> int:
        pairs = zip(self.digits(block, place), self.digits(block, other), strict=True)
        return sum(x != y for x, y in pairs)

    def inside(self, block: int, place: int, goal: int) -> int:
        """The next place from `place` towards `goal` (3.2)."""
        mine, its = self.digits(block, place), self.digits(block, goal)
        lower = [s for s in range(len(mine)) if mine[s] > its[s]]
        s = lower[0] if lower else next(s for s in range(len(mine)) if mine[s] < its[s])
        return place + ((its[s] - mine[s]) << s * self.a[block])

    def shifts(self, block: int, goal: int) -> int:
        """j(B, D)."""
        j = 0
        while j * self.b < self.c and block >> j * self.b != goal % 2 ** (self.c - j * self.b):
            j += 1
        return j

    def exits(self, block: int, goal: int) -> list[int]:
        if (block, goal) not in self.ways:
            self.ways[block, goal] = [
                e for e in range(self.m[block]) if self.is_exit(block, e, goal)
            ]
        return self.ways[block, goal]

    def is_exit(self, block: int, e: int, goal: int) -> bool:
        j, b, c = self.shifts(block, goal), self.b, self.c
        lo, start = max(0, j * b - c), max(0, c - j * b)
        if any((e >> lo + i ^ goal >> start + i) & 1 for i in range(b - lo)):
            return False
        reached = self.shifted((block, e), -b)
        end = self.shift_ends.get((block, e, "right"))
        if end is None or end != (*reached, "left"):
            return False
        return reached[0] == goal or bool(self.exits(reached[0], goal))

    def next_hop(self, node: int, target: int) -> tuple[int, int] | None:
        """The next node and the port, None at the target; `last_plan` says which plan it was."""
        (block, place), (goal, goal_place) = self.nodes[node], self.nodes[target]
        side = "right"
        self.last_plan = "inside"
        if block == goal:
            if place == goal_place:
                return None
            way_out, side = goal_place, ""
        elif exits := self.exits(block, goal):
            self.last_plan = "shift"
            way_out = min(exits, key=lambda e: (self.distance(block, place, e), e))
        else:
            self.last_plan = "tree"
            way_out, side = self.tree_exit(block, goal)
        if place != way_out:
            following = self.inside(block, place, way_out)
            return self.base[block] + following, self.partial_ports(block).index(place ^ following)
        port = len(self.partial_ports(block)) + (side == "right")
        return self.number[self.shift_ends[block, place, side][:2]], port

    def tree_exit(self, block: int, goal: int) -> tuple[int, str]:
        child, above = -1, goal
        while above > block:
            child, above = above, self.uplink(above)[0]
        if above == block:
            return self.uplink(child)[1:]
        return 0, "right"

    def way(self, source: int, target: int) -> list[int]:
        """The nodes of the whole way."""
        nodes = [source]
        while (following := self.next_hop(nodes[-1], target)) is not None:
            nodes.append(following[0])
            assert len(nodes) <= len(self.nodes)
        return nodes


def graph(wiring: Wiring) -> networkx.Graph:
    """The wiring as an undirected simple graph."""
    made = networkx.Graph()
    made.add_nodes_from(range(len(wiring)))
    made.add_edges_from((u, v) for u, ports in enumerate(wiring) for v in ports if v is not None)
    return made


def distances(wiring: Wiring) -> dict[int, dict[int, int]]:
    return dict(networkx.all_pairs_shortest_path_length(graph(wiring)))
