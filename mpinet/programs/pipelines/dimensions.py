"""Allreduce in few steps, along one dimension after the other, on all lines of a dimension at once.

A line is a ring, a path, a complete graph, or a single link (recursive doubling on a hypercube).
Before a dimension, each processor holds the sum over its lines in the previous dimensions. After
the dimension, all processors of a line hold the sum over the whole line.

With one port the exchange depends on the line. On an even ring or a path, every other link
exchanges in turn. On an odd ring each processor sends to the next one. In a complete graph the
distance of the sends is chosen so that sums about double in each step (Bar-Noy, Kipnis and Schieber
1993). With all ports each processor sends to all neighbours.

Only links between two processors count. A group such as a subcube, or a row of a torus, therefore
has its own dimensions, and other nodes between its processors are unused.

A processor sends the contributions received since some step, so no contribution is counted twice.
The step is found by tracking the contributors of every sum. If this search fails, no such schedule
exists.
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
"""Maximum number of messages examined."""

MOST_BITS = 2**31
"""Maximum number of bits stored in sets of contributors."""

Arc = tuple[int, int, int]
"""Sender, receiver, and the sender's port."""


@dataclass(frozen=True, eq=False)
class Exchanged:
    """Messages of an allreduce of one item."""

    rows: Ints
    """Step, sender, receiver, sender's port, and first step of the arrivals included in the message
    (0: include the sender's own contribution; `WHOLE`: everything). Shape (k, 5).
    """
    steps: int
    """Number of steps of the schedule."""

    @property
    def in_parts(self) -> bool:
        """True if some message carries only a part of the sender's sum."""
        return bool((self.rows[:, 4] != WHOLE).any())


def applies(topology: Topology) -> bool:
    """Return whether links connect each processor to others, and are few enough to search."""
    hosts = topology.hosts
    # Each processor sends at least once per port or per doubling. The product is a free lower bound
    # of the number of messages.
    messages = topology.size * max(topology.ports, topology.size.bit_length())
    if not topology.links or messages > MOST_SENT:
        return False
    if hosts == topology.size:
        return True
    ends = topology.neighbor(np.arange(hosts)[:, np.newaxis], np.arange(topology.ports))
    return bool(((ends >= 0) & (ends < hosts)).any(axis=1).all())


def _direct(arcs: Arcs) -> Arcs:
    """Return the arcs between processors: a group has the dimensions of its part."""
    if arcs.size == arcs.hosts:
        return arcs
    tail, head = arcs.ends.tail, arcs.ends.head
    kept, hosts = np.maximum(tail, head) < arcs.hosts, arcs.hosts
    ends = by_ends(tail[kept], head[kept], arcs.ends.takes[kept], hosts)
    return Arcs(hosts, hosts, arcs.links, ends, arcs.port[kept])


def exchanged(topology: Topology, arcs: Arcs, model: PortModel, bound: int) -> Exchanged | None:
    """Return an allreduce along dimensions; None if no choice of dimensions gives one.

    Parameters
    ----------
    topology, arcs
        The network and its arcs.
    model : PortModel
        One port or all.
    bound : int
        Lower bound of the steps. The search ends when a schedule meets the bound.

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
    """Return the number of dimensions of a search, and an estimate of the number of messages found.

    The first line of each dimension represents all lines. Each message along a line brings its
    receiver at least one new contribution. With all ports, sends last at most as many steps as the
    diameter.
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
    """Return the approximate number of messages along a line with a pattern."""
    size, arcs = len(line), sum(map(len, out.values()))
    if not one_port:
        return min(size * (size - 1), arcs * diameter)
    if arcs == size * (size - 1):
        return size * (size - 1).bit_length()
    alternating = arcs < 2 * size or size % 2 == 0  # paths and even rings
    return size * (size - 1) / (1 + alternating)


def _dimensions(topology: Topology, arcs: Arcs) -> Iterator[Ints]:
    """Yield several choices of the dimension of each arc.

    The choices are the link class, the factor of a product, the port number if equal at both ends,
    and a single dimension for all arcs.
    """
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
    """Combine along the dimensions in order; return the allreduce, or None if incomplete."""
    sums = Sums(arcs.size)
    every = np.unique(number)
    lines = [list(_lines(arcs, np.flatnonzero(number == each))) for each in every]
    for dimension in lines:
        # All lines of a dimension step together, so one line without a pattern ends the search.
        patterns = [_pattern(*line, one_port) for line in dimension]
        if None in patterns or not sums.combine(dimension, patterns):
            return None
        if sums.complete:
            return Exchanged(np.array(sums.rows, np.int64).reshape(-1, 5), sums.step)
    return None


Line = tuple[list[int], dict[int, list[Arc]]]
"""Processors of a line, and the arcs out of each."""

Pattern = Callable[[int], list[Arc]]
"""Function from k (0, 1 and so on) to the arcs that may send in step k of a line."""


def _lines(arcs: Arcs, index: Ints) -> Iterator[Line]:
    """Yield the connected components of some arcs, by first processor.

    Parallel arcs count as one.
    """
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
    """Return the arcs that may send in each step of a line; None for unknown shapes."""
    if not one_port:
        every = [arc for node in line for arc in out[node]]
        return lambda k: every
    # A line is connected, so degrees alone determine its shape: complete graph, path or ring.
    degrees = sorted(len(out[node]) for node in line)
    if degrees[0] == len(line) - 1:
        return _doubling(sorted(line), out)
    if degrees[-1] == 2:
        return _alternating(line, out)
    return None


def _doubling(line: list[int], out: dict[int, list[Arc]]) -> Pattern:
    """Return the pattern of a complete graph: each step sends as far as the sums reach."""
    size, place = len(line), {node: at for at, node in enumerate(line)}
    ahead = {(node, place[arc[1]]): arc for node in line for arc in out[node]}
    reaches, held = [], 0
    # The binary digits of size - 1 give the distance of each step. For any size, sums cover all
    # processors in as many steps as size - 1 has digits.
    for bit in bin(size - 1)[2:]:
        reaches.append(held + int(bit))
        held += reaches[-1]

    def pattern(k: int) -> list[Arc]:
        if k >= len(reaches):
            return []
        return [ahead[node, (at + reaches[k]) % size] for at, node in enumerate(line)]

    return pattern


def _alternating(line: list[int], out: dict[int, list[Arc]]) -> Pattern:
    """Return the pattern of a path or ring.

    On a path or even ring every other link exchanges in turn. On an odd ring every processor sends
    to the next one.
    """
    ends = [node for node in line if len(out[node]) == 1]
    order, before = [ends[0] if ends else line[0]], -1
    while len(order) < len(line):
        ahead = [v for _, v, _ in out[order[-1]] if v != before]
        before = order[-1]
        order.append(ahead[0])
    size = len(order)
    over = {(u, arc[1]): arc for u in line for arc in out[u]}
    # An odd ring has no two perfect matchings, so links cannot alternate.
    if size % 2 and not ends:
        onward = [over[u, v] for u, v in zip(order, order[1:] + order[:1], strict=True)]
        return lambda k: onward

    def pattern(k: int) -> list[Arc]:
        places = range(k % 2, size - bool(ends), 2)
        pairs = [(order[at], order[(at + 1) % size]) for at in places]
        return [over[way] for u, v in pairs for way in ((u, v), (v, u))]

    return pattern


class Sums:
    """State of the sums of all processors: their contributors and arrival steps.

    Parameters
    ----------
    size : int
        Number of processors.
    """

    def __init__(self, size: int):
        self._size, self._everybody = size, (1 << size) - 1
        # Sets are Python integers: union and intersection of thousands of processors are one
        # operation each.
        self._held = [1 << node for node in range(size)]
        self._came: list[list[tuple[int, int, int]]] = [[(0, u, 1 << u)] for u in range(size)]
        self._bits = 0
        self.rows: list[tuple[int, int, int, int, int]] = []
        """Rows of the schedule, as in `Exchanged`."""
        self.step: int = 0
        """Number of steps so far."""

    @property
    def complete(self) -> bool:
        """True if every sum contains the contributions of all processors."""
        return all(held == self._everybody for held in self._held)

    def combine(self, lines: list[Line], patterns: list[Pattern | None]) -> bool:
        """Send along lines until all processors of each line hold the sum of the line.

        Return False if the sums cannot be completed.
        """
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
        """Run a step with the arcs that bring a new contribution; return False if none does."""
        added: dict[int, int] = defaultdict(int)
        sent: list[tuple[Arc, int, int]] = []
        for arc in arcs:
            node, other, _ = arc
            # A receiver may get several messages in a step. Their contributions must be disjoint,
            # because a contribution cannot be subtracted from a sum.
            taken = self._held[other] | added[other]
            since, told = self._told(node, other, taken)
            if told:
                added[other] |= told
                sent.append((arc, since, told))
        self.step += 1
        self._bits += self._size * len(sent)
        # Nothing new although some line is incomplete: the pattern is stuck and would loop forever.
        if not sent or len(self.rows) + len(sent) > MOST_SENT or self._bits > MOST_BITS:
            return False
        for (node, other, port), since, told in sent:
            self.rows.append((self.step, node, other, port, since))
            self._came[other].append((self.step, node, told))
            self._held[other] |= told
        return True

    def _told(self, node: int, other: int, taken: int) -> tuple[int, int]:
        """Return the first step of `node`'s arrivals that are all new to `other`, and their set."""
        # The whole sum is new to the receiver. This message is the simplest: no part is cut out.
        if not self._held[node] & taken:
            return WHOLE, self._held[node]
        since, told, found = -1, 0, (0, 0)
        # Only the latest arrivals can be sent as a part: a row states the first step of the part.
        # The walk goes back to the first arrival already known to the receiver.
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
