"""Allreduce in few steps: along one dimension after the other, all lines of it at once.

A line is a ring, a path, a complete graph, or a single link: recursive doubling on a hypercube. All
processors of a line learn the sum of all its processors, each of which has brought the sum of its
lines in the dimensions before. With one port an even ring or a path exchanges over every other link
in turn, round an odd ring everybody tells the next one, and in a complete graph everybody tells the
one so far away that its sum is of twice as many in the end (Bar-Noy, Kipnis and Schieber 1993). On
all ports everybody tells all neighbours.

Links alone count that join two processors: so a group that is a subcube, or a row of a torus, has
its dimensions, and other nodes between the processors do nothing.

A processor sends what came to it since a step, so that nobody is counted twice; from when on, is
found by following who is in which sum. Where that gets stuck, there is no such schedule.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine.model import PortModel
from mpinet.networks.product import Product
from mpinet.networks.topology import Topology
from mpinet.programs.pipelines.arcs import Arcs, by_ends
from mpinet.programs.schedules.timetable import WHOLE

MOST_SENT = 2**20
"""Most messages that are looked at."""

MOST_BITS = 2**31
"""Most bits of the sets of contributors that are held."""

Arc = tuple[int, int, int]
"""Sender, receiver, and the sender's port."""


@dataclass(frozen=True, eq=False)
class Exchanged:
    """Messages of an allreduce of one item: who tells whom when what."""

    rows: Ints
    """Step, sender, receiver, the sender's port, and since which step what is sent has come to the
    sender (0: with its own; `WHOLE`: all). Shape (k, 5)."""
    steps: int
    """Steps that it takes."""

    @property
    def in_parts(self) -> bool:
        """Tell if anybody sends less than all that it has."""
        return bool((self.rows[:, 4] != WHOLE).any())


def applies(topology: Topology) -> bool:
    """Tell if links join each processor to others, and there are not too many of them."""
    hosts = topology.hosts
    # Each processor sends at least once per port or per doubling, so that this is a lower bound of
    # the messages, and costs nothing.
    messages = topology.size * max(topology.ports, topology.size.bit_length())
    if not topology.links or messages > MOST_SENT:
        return False
    if hosts == topology.size:
        return True
    ends = topology.neighbor(np.arange(hosts)[:, np.newaxis], np.arange(topology.ports))
    return bool(((ends >= 0) & (ends < hosts)).any(axis=1).all())


def _direct(arcs: Arcs) -> Arcs:
    """Return the arcs between processors: a group keeps the dimensions of the part that it is."""
    if arcs.size == arcs.hosts:
        return arcs
    tail, head = arcs.ends.tail, arcs.ends.head
    kept, hosts = np.maximum(tail, head) < arcs.hosts, arcs.hosts
    ends = by_ends(tail[kept], head[kept], arcs.ends.takes[kept], hosts)
    return Arcs(hosts, hosts, arcs.links, ends, arcs.port[kept])


def exchanged(topology: Topology, arcs: Arcs, model: PortModel, bound: int) -> Exchanged | None:
    """Find an allreduce along dimensions; None if no choice of dimensions makes one.

    Parameters
    ----------
    topology, arcs
        The network and its arcs.
    model : PortModel
        One port or all.
    bound : int
        Steps that nothing beats: there the search ends.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> torus, one = open("torus:8x8"), PortModel(1, 1)
    >>> exchanged(torus, Arcs.of(torus), one, 8).steps
    8
    """
    best: Exchanged | None = None
    if not applies(topology):
        return None
    arcs = _direct(arcs)
    for number in _dimensions(topology, arcs):
        found = _through(arcs, number, model.send == 1)
        if found is not None and (best is None or found.steps < best.steps):
            best = found
        if best is not None and best.steps <= bound:
            break
    return best


@lru_cache(maxsize=4)
def extent(topology: Topology, one_port: bool, diameter: float) -> tuple[int, int]:
    """Return how many dimensions a search goes through, and about how many messages it finds.

    The first line of each dimension stands for all: each message along it tells its receiver of
    one more processor at least, and all ports send in as many steps as the diameter at most.
    """
    if not applies(topology):
        return 0, 0
    arcs, most = _direct(Arcs.of(topology)), 0
    for number in _dimensions(topology, arcs):
        dimensions = [np.flatnonzero(number == each) for each in np.unique(number)]
        lines = [next(_lines(arcs, index)) for index in dimensions]
        if all(_pattern(*line, one_port) for line in lines):
            sent = sum(_messages(*line, one_port, diameter) / len(line[0]) for line in lines)
            return len(lines), min(round(topology.size * sent), MOST_SENT)
        most = max(most, len(lines))
    return most, 0


def _messages(line: list[int], out: dict[int, list[Arc]], one_port: bool, diameter: float) -> float:
    """Return about how many messages go along a line that has a pattern."""
    size, arcs = len(line), sum(map(len, out.values()))
    if not one_port:
        return min(size * (size - 1), arcs * diameter)
    if arcs == size * (size - 1):
        return size * (size - 1).bit_length()
    alternating = arcs < 2 * size or size % 2 == 0  # paths and even rings
    return size * (size - 1) / (1 + alternating)


def _dimensions(topology: Topology, arcs: Arcs) -> Iterator[Ints]:
    """Yield each arc's dimension: class, factor, port that both ends call so, or the only one."""
    tail, port = arcs.ends.tail, arcs.port
    if len(topology.link_classes) > 1:
        yield topology.link_class(tail, port)
    if isinstance(topology, Product) and len(topology.factors) < len(topology.link_classes):
        beyond = np.cumsum([factor.ports for factor in topology.factors])
        yield np.searchsorted(beyond, port, side="right")
    if topology.ports > 1 and (topology.reverse_port(tail, port) == port).all():
        yield port
    yield np.zeros_like(tail)


def _through(arcs: Arcs, number: Ints, one_port: bool) -> Exchanged | None:
    """Go through the dimensions in order until everybody has everything, or nothing is new."""
    sums = Sums(arcs.size)
    every = np.unique(number)
    lines = [list(_lines(arcs, np.flatnonzero(number == each))) for each in every]
    for dimension in lines:
        # All lines of a dimension step together, so that one line without a pattern ends the
        # search.
        patterns = [_pattern(*line, one_port) for line in dimension]
        if None in patterns or not sums.combine(dimension, patterns):
            return None
        if sums.complete:
            return Exchanged(np.array(sums.rows, np.int64).reshape(-1, 5), sums.step)
    return None


Line = tuple[list[int], dict[int, list[Arc]]]
"""Processors of the network, and the arcs out of each."""

Pattern = Callable[[int], list[Arc]]
"""Function that gives those who may send in the k-th step of a line, k = 0, 1, .."""


def _lines(arcs: Arcs, index: Ints) -> Iterator[Line]:
    """Yield the connected pieces of some arcs, by first processors; parallel arcs are one."""
    out: dict[int, dict[int, Arc]] = defaultdict(dict)
    columns = arcs.ends.tail[index], arcs.ends.head[index], arcs.port[index]
    for tail, head, port in zip(*(column.tolist() for column in columns), strict=True):
        out[tail].setdefault(head, (tail, head, port))
    seen = set[int]()
    for first in sorted(out):
        if first in seen:
            continue
        line, wave = [first], [first]
        seen.add(first)
        while wave:
            wave = list(dict.fromkeys(v for u in wave for v in out[u] if v not in seen))
            seen.update(wave)
            line += wave
        yield line, {u: list(out[u].values()) for u in line}


def _pattern(line: list[int], out: dict[int, list[Arc]], one_port: bool) -> Pattern | None:
    """Return who may send in each step of a line; None where it has no pattern for one port."""
    if not one_port:
        every = [arc for node in line for arc in out[node]]
        return lambda k: every
    # Degrees alone decide the shape, because a line is connected: complete, or a path or ring.
    degrees = sorted(len(out[node]) for node in line)
    if degrees[0] == len(line) - 1:
        return _doubling(sorted(line), out)
    if degrees[-1] == 2:
        return _alternating(line, out)
    return None


def _doubling(line: list[int], out: dict[int, list[Arc]]) -> Pattern:
    """Take turns in a complete graph: the next is told so far away as sums reach."""
    size, place = len(line), {node: at for at, node in enumerate(line)}
    ahead = {(node, place[arc[1]]): arc for node in line for arc in out[node]}
    reaches, held = [], 0
    # The binary digits of size - 1 say how far each step reaches. Sums then grow to all processors
    # in as many steps as there are digits, whatever the size.
    for bit in bin(size - 1)[2:]:
        reaches.append(held + int(bit))
        held += reaches[-1]

    def pattern(k: int) -> list[Arc]:
        if k >= len(reaches):
            return []
        return [ahead[node, (at + reaches[k]) % size] for at, node in enumerate(line)]

    return pattern


def _alternating(line: list[int], out: dict[int, list[Arc]]) -> Pattern:
    """Take every other link in turn on a path or even ring, all the next one round an odd ring."""
    ends = [node for node in line if len(out[node]) == 1]
    order, before = [ends[0] if ends else line[0]], -1
    while len(order) < len(line):
        ahead = [v for _, v, _ in out[order[-1]] if v != before]
        before = order[-1]
        order.append(ahead[0])
    size = len(order)
    over = {(u, arc[1]): arc for u in line for arc in out[u]}
    # An odd ring has no two perfect matchings, so that links cannot alternate.
    if size % 2 and not ends:
        onward = [over[u, v] for u, v in zip(order, order[1:] + order[:1], strict=True)]
        return lambda k: onward

    def pattern(k: int) -> list[Arc]:
        places = range(k % 2, size - bool(ends), 2)
        pairs = [(order[at], order[(at + 1) % size]) for at in places]
        return [over[way] for u, v in pairs for way in ((u, v), (v, u))]

    return pattern


class Sums:
    """State of all sums: who is in whose, and since when.

    Parameters
    ----------
    size : int
        Processors.
    """

    def __init__(self, size: int):
        self._size, self._everybody = size, (1 << size) - 1
        # Sets are Python's whole numbers: union and intersection of thousands of processors are one
        # operation each.
        self._held = [1 << node for node in range(size)]
        self._came: list[list[tuple[int, int, int]]] = [[(0, u, 1 << u)] for u in range(size)]
        self._bits = 0
        self.rows: list[tuple[int, int, int, int, int]] = []
        """Rows of the schedule, as in `Exchanged`."""
        self.step: int = 0
        """Steps so far."""

    @property
    def complete(self) -> bool:
        """Tell if everybody is in every sum."""
        return all(held == self._everybody for held in self._held)

    def combine(self, lines: list[Line], patterns: list[Pattern | None]) -> bool:
        """Send along lines until all on each have what one has; whether that came about."""
        goals = []
        for line, _ in lines:
            goal = 0
            for node in line:
                goal |= self._held[node]
            goals.append(goal)
        first = self.step
        while True:
            arcs: list[Arc] = []
            for (line, _), goal, pattern in zip(lines, goals, patterns, strict=True):
                assert pattern is not None
                # A finished line stays silent, while longer lines of the dimension go on.
                if any(self._held[node] != goal for node in line):
                    arcs += pattern(self.step - first)
            if not arcs:
                return all(
                    self._held[node] == goal
                    for (line, _), goal in zip(lines, goals, strict=True)
                    for node in line
                )
            if not self._send(arcs):
                return False

    def _send(self, arcs: list[Arc]) -> bool:
        """Make a step of those arcs that tell something new; whether there are any."""
        added: dict[int, int] = defaultdict(int)
        sent: list[tuple[Arc, int, int]] = []
        for arc in arcs:
            node, other, _ = arc
            # A receiver may get several messages in a step. Contributions that another one brings
            # must not come twice, since sums cannot be subtracted.
            taken = self._held[other] | added[other]
            since, told = self._told(node, other, taken)
            if told:
                added[other] |= told
                sent.append((arc, since, told))
        self.step += 1
        self._bits += self._size * len(sent)
        # Nothing new although some line lacks something: the pattern is stuck, and would loop for
        # ever.
        if not sent or len(self.rows) + len(sent) > MOST_SENT or self._bits > MOST_BITS:
            return False
        for (node, other, port), since, told in sent:
            self.rows.append((self.step, node, other, port, since))
            self._came[other].append((self.step, node, told))
            self._held[other] |= told
        return True

    def _told(self, node: int, other: int, taken: int) -> tuple[int, int]:
        """Since when what has come to a node is all new to another one, and who is in that."""
        # The whole sum is new to the receiver, which is the simplest message: no part has to be cut
        # out.
        if not self._held[node] & taken:
            return WHOLE, self._held[node]
        since, told, found = -1, 0, (0, 0)
        # Only the latest arrivals can be sent as a part: a row names the first step of the part.
        # The walk goes back until something comes that the receiver already has.
        for step, giver, who in reversed(self._came[node]):
            if step != since and told:
                found = since, told
            since = step
            if giver == other:
                continue
            if who & taken:
                break
            told |= who
        else:
            found = since, told
        return found if found[1] else (0, 0)
