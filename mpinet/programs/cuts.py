"""Cuts: parts of a network that items have to enter, and how few can enter them in a step.

An item enters a part when a node inside accepts it from a node outside. In a gossip every other
item has to enter each part that has processors; in a total exchange an item enters at least as many
parts as there are on its shortest way. In a step of one port no more items enter than the arcs into
parts have in a matching, which a cover of these arcs by senders and receivers shows; on all ports,
no more than there are arcs. A transmission on a bus brings an item into several parts in a gossip,
and into one in an exchange, whose items are somewhere only once. The quotient is a number of steps
that nothing beats (docs/how-to/optimum.md). `mpinet.certify` checks it from parts and cover alone.

With every processor a part of its own this is the bound by degrees; with the pieces that are left
without one node, what that node has to send.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mpinet.base.arrays import Flags, Ints, Shorts, Table
from mpinet.compiled import kernel
from mpinet.machine.beep import wired
from mpinet.machine.model import PortModel
from mpinet.networks.adjacency import Adjacency
from mpinet.networks.topology import Topology
from mpinet.programs.buspasses import BusMembers
from mpinet.programs.matching import cover

MOST_NODES, MOST_SINGLE = 2**10, 2**16
"""Nodes of the largest network whose cuts are searched, and whose processors alone are looked at.
"""

MOST_LOOKS = 2**28
"""Looks at nodes and arcs that may be taken for nodes to be left out beyond the first."""

OUTSIDE = -1
"""Stand-in for a part: the node is in none."""

NOBODY = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Cut:
    """Parts, and what enters them."""

    parts: Ints
    """The part of every node, or `OUTSIDE`. Shape (N,)."""
    senders: Ints
    """Senders in a cover of the arcs into parts, for one port; arcs over counted busses need no
    cover. Empty for all ports."""
    receivers: Ints
    """Receivers in the cover of `senders`, for one port; empty for all ports."""
    needed: int
    """Total number of times that items have to enter a part."""
    entering: int
    """Most items that can enter parts in one step."""

    @property
    def steps(self) -> int:
        """Steps that it takes."""
        return -(-self.needed // self.entering) if self.needed else 0


def best_cut(topology: Topology, model: PortModel, collective: str) -> Cut | None:
    """The best cut that is found for a ``"gossip"`` or an ``"exchange"``.

    Parameters
    ----------
    topology : Topology
        A connected network.
    model : PortModel
        ``"one"`` or ``"all"``.
    collective : str
        What is done.

    Returns
    -------
    Cut or None
        None where none is searched: on half-duplex links, and large networks.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> best_cut(open("shuffleexchange:3"), PortModel(1, 1), "gossip").steps
    9
    """
    known = (model.send, model.receive) in ((1, 1), (None, None)) and not model.half_duplex
    # The count of what enters in a step holds for these two port models only.
    if not known or not 1 < topology.size <= MOST_SINGLE:
        return None
    kind = _CutSearch if topology.links else _OverBusses
    search = kind(topology, model.send == 1, collective == "exchange")
    cuts = [search.cut(parts) for parts in search.candidates()]
    # Of cuts that show the same bound, the one with fewer parts makes the smaller certificate.
    return max(cuts, key=lambda cut: (cut.steps, -int(cut.parts.max())))


class _CutSearch:
    """A network, its arcs, and how often items have to enter parts of it."""

    def __init__(self, topology: Topology, one_port: bool, exchange: bool):
        self.hosts, self.size = topology.hosts, topology.size
        self.one_port, self.exchange = one_port, exchange
        self.lists = Adjacency.of(topology)
        self.receivers = np.repeat(np.arange(self.size), self.lists.degrees)
        self.widths = np.ones(len(self.receivers), np.int64)
        if not one_port:
            senders, ports = wired(topology, np.arange(self.size))
            ends = topology.neighbor(senders, ports)
            # A loop carries nothing into another part.
            apart = ends != senders
            _, self.widths = np.unique((senders * self.size + ends)[apart], return_counts=True)

    def candidates(self) -> Iterator[Ints]:
        """Parts that may be good: single processors, pieces, what is near a node."""
        nodes = np.arange(self.size)
        yield np.where(nodes < self.hosts, nodes, OUTSIDE)
        # Items of pairs pass the switches, so that a part around each node counts every hop.
        if self.exchange and self.hosts < self.size:
            yield nodes
        yield from self._joined()
        # The searches below are at least quadratic.
        if self.size > MOST_NODES:
            return
        if self.one_port:
            yield self._pieces()
        yield from self._sweep()

    def cut(self, parts: Ints) -> Cut:
        """Return the cut that these parts show."""
        inside = np.bincount(parts[: self.hosts] + 1, minlength=self.size + 1)[1:]
        if not self.exchange:  # nothing has to get to switches alone
            parts = np.where((parts >= 0) & (inside[parts] > 0), parts, OUTSIDE)
        into = parts[self.receivers]
        entering = (into >= 0) & (into != parts[self.lists.others])
        if self.exchange:
            lists = self.lists.begin, self.lists.others
            needed = int(count_entries(*lists, entering, self.hosts))
        else:
            needed = int((self.hosts - inside[inside > 0]).sum()) if (parts >= 0).any() else 0
        return Cut(parts, *self._gates(parts, entering, needed))

    def _gates(self, parts: Ints, entering: Flags, needed: int) -> tuple[Ints, Ints, int, int]:
        """The other numbers of a cut."""
        if not self.one_port:
            return NOBODY, NOBODY, needed, int(self.widths[entering].sum())
        # König: with one port the most messages of a step are a largest matching, as many as a
        # smallest cover has nodes. The cover is what a certificate can show.
        senders, receivers = cover(self.lists, entering)
        return senders, receivers, needed, len(senders) + len(receivers)

    def _joined(self) -> Iterator[Ints]:
        """Yield what parallel links join, of any number and more than are between others."""
        # Fat links join nodes that belong together, as in a hierarchy; thin ones between them are
        # cuts.
        for least in np.unique(self.widths)[:-1]:
            parts, before = np.arange(self.size), np.empty(0, np.int64)
            wide = self.widths > least
            # Labels fall until all joined nodes bear the lowest number among them.
            while not np.array_equal(parts, before):
                before = parts.copy()
                np.minimum.at(parts, self.receivers[wide], parts[self.lists.others[wide]])
            yield parts

    def _pieces(self) -> Ints:
        """Return what is left without some nodes: those are added while the bound grows."""
        removed = np.zeros(self.size, bool)
        parts, trial = np.empty(self.size, np.int64), np.empty(self.size, np.int64)
        work = np.empty((2, self.size), np.int64)
        best, gone = 0.0, 0
        looks = self.size * (self.size + len(self.receivers))
        while gone < min(self.size - 1, 1 + MOST_LOOKS // looks):
            found, which = best, -1
            for node in range(self.size):
                if removed[node]:
                    continue
                removed[node] = True
                # With one port each removed node lets in one message per step, so that needed
                # entries per removed node are the bound.
                ratio = self._needed(removed, trial, work) / (gone + 1)
                if ratio > found:
                    found, which = ratio, node
                removed[node] = False
            if which < 0:
                break
            best, gone = found, gone + 1
            removed[which] = True
        self._needed(removed, parts, work)
        return parts

    def _needed(self, removed: np.ndarray, parts: Ints, work: Ints) -> int:
        """Times that items enter the pieces that are left."""
        lists = self.lists.begin, self.lists.others
        return int(separate(*lists, removed, self.hosts, self.exchange, parts, work))

    def _sweep(self) -> Iterator[Ints]:
        """The nodes nearest to one, as many as make the best cut; and all the others."""
        # Removing the rim of a ball leaves the ball as a piece, so that `_pieces` covers these cuts
        # for a gossip.
        if self.one_port and not self.exchange:
            return
        order = np.empty(self.size, np.int64)
        lists = self.lists.begin, self.lists.others, self.widths
        # A ball and its complement have the same links, but need different items.
        for others in (False, True):
            near = int(sweep(*lists, self.hosts, self.one_port, self.exchange, others, order))
            parts = np.full(self.size, 0 if others else OUTSIDE)
            parts[order[:near]] = OUTSIDE if others else 0
            if near:
                yield parts


class _OverBusses(_CutSearch):
    """The same of a bus network."""

    def __init__(self, topology: Topology, one_port: bool, exchange: bool):
        super().__init__(topology, one_port, exchange)
        lists = BusMembers.of(topology)
        ends = lists.bus_begin.tolist()
        self._members = [lists.members[begin:end] for begin, end in pairwise(ends)]

    def _gates(self, parts: Ints, entering: Flags, needed: int) -> tuple[Ints, Ints, int, int]:
        """By senders and receivers, by one of the two, or by busses alone, whichever lets in least.

        The arcs between the same two over several busses are looked at as one.
        """
        heads = np.unique(self.receivers[entering])
        tails = np.unique(self.lists.others[entering].astype(np.int64))
        # Any set of senders and receivers gives a valid count, so that the least of several counts
        # holds.
        choices = [(NOBODY, NOBODY)]
        if self.one_port:
            choices += [(NOBODY, heads), (tails, NOBODY), cover(self.lists, entering)]
        worths = [self._worth(parts, *gates) for gates in choices]
        least = int(np.argmin(worths))
        return *choices[least], needed, worths[least]

    def _worth(self, parts: Ints, senders: Ints, receivers: Ints) -> int:
        """Count how often items can enter parts in a step."""
        closed = np.isin(np.arange(self.size), receivers)
        by_sender, worth = dict.fromkeys(senders.tolist(), 0), len(receivers)
        for members in self._members:
            there = set(parts[members[~closed[members]]].tolist()) - {OUTSIDE}
            over = 0
            for node in members.tolist():
                entered = len(there - {int(parts[node])})
                entered = min(entered, 1) if self.exchange else entered
                if node in by_sender:
                    by_sender[node] = max(by_sender[node], entered)
                else:
                    over = max(over, entered)
            worth += over
        return worth + sum(by_sender.values())


@kernel
def separate(
    begin: Ints,
    others: Shorts,
    removed: Flags,
    hosts: int,
    exchange: bool,
    parts: Ints,
    work: Table,
) -> int:
    """Number the pieces that are left without some nodes; how often items have to enter them."""
    queue, count = work[0], 0
    parts[:] = -1
    needed = 0
    for first in range(parts.size):
        if removed[first] or parts[first] >= 0:
            continue
        head, tail, inside = 0, 1, 0
        queue[0] = first
        parts[first] = count
        while head < tail:
            node = queue[head]
            head += 1
            inside += node < hosts
            for at in range(begin[node], begin[node + 1]):
                other = others[at]
                if not removed[other] and parts[other] < 0:
                    parts[other] = count
                    queue[tail] = other
                    tail += 1
        if inside > 0:
            needed += (hosts - inside) * (inside if exchange else 1)
        count += 1
    return needed


@kernel
def count_entries(begin: Ints, others: Shorts, entering: Flags, hosts: int) -> int:
    """Sum over ordered pairs of processors of the fewest entries on a way; arcs run inwards."""
    size, total = begin.size - 1, 0
    distance, queue = np.empty(size, np.int64), np.empty(2 * others.size + 2, np.int64)
    left = np.empty(size, np.bool_)
    for target in range(hosts):
        left[:] = False
        distance[:] = 2**30
        distance[target] = 0
        middle = others.size
        head, tail = middle, middle + 1
        queue[head] = target
        while head < tail:
            node = queue[head]
            head += 1
            if left[node]:
                continue
            left[node] = True
            for at in range(begin[node], begin[node + 1]):
                other = others[at]
                reached = distance[node] + entering[at]
                if reached < distance[other]:
                    distance[other] = reached
                    if entering[at]:
                        queue[tail] = other
                        tail += 1
                    else:
                        # 0-1 search: a step of no cost goes to the front of the queue, which begins
                        # in the middle.
                        head -= 1
                        queue[head] = other
        for source in range(hosts):
            total += distance[source]
    return total


@kernel
def sweep(
    begin: Ints,
    others: Shorts,
    widths: Ints,
    hosts: int,
    one_port: bool,
    exchange: bool,
    outside: bool,
    order: Ints,
) -> int:
    """Take the nodes nearest to each node one after the other; how many make the best cut.

    Writes the order in which they were taken. What is to be entered is what was taken, or all else.
    """
    size = begin.size - 1
    queue, inner = np.empty(size, np.int64), np.empty(size, np.int64)
    known, taken = np.empty(size, np.bool_), np.empty(size, np.bool_)
    best, best_needed, best_entering = 0, 0, 1
    for source in range(size):
        known[:] = False
        taken[:] = False
        inner[:] = 0
        head, tail = 0, 1
        queue[0] = source
        known[source] = True
        inside, edge, rim, crossing = 0, 0, 0, 0
        while head < tail:
            node = queue[head]
            head += 1
            inside += node < hosts
            rim -= inner[node] > 0
            taken[node] = True
            edge += inner[node] < begin[node + 1] - begin[node]
            for at in range(begin[node], begin[node + 1]):
                other = others[at]
                crossing += -widths[at] if taken[other] else widths[at]
                rim += not taken[other] and inner[other] == 0
                inner[other] += 1
                edge -= taken[other] and inner[other] == begin[other + 1] - begin[other]
                if not known[other]:
                    known[other] = True
                    queue[tail] = other
                    tail += 1
            # With one port, nodes at the edge send or accept one message each; both sides limit
            # what enters.
            entering = min(edge, rim) if one_port else crossing
            away = hosts - inside
            needed = inside * away if exchange else (inside if outside else away)
            if inside == 0 or away == 0 or entering == 0:
                continue
            # Ratios are compared by products of whole numbers, since rounding could differ between
            # hosts.
            if needed * best_entering > best_needed * entering:
                best, best_needed, best_entering = head, needed, entering
                for place in range(tail):
                    order[place] = queue[place]
    return best
