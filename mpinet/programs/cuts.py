"""Lower bounds from cuts: items that must enter parts of a network, and entries possible per step.

An item enters a part if a node inside accepts the item from a node outside. In a gossip every
outside item has to enter each part with processors. In a total exchange an item enters at least as
many parts as lie on its shortest path.

With one port, a largest matching of the arcs into parts limits the entries per step. A cover of
these arcs by senders and receivers proves the limit. With all ports the limit is the number of
arcs. A bus transmission brings an item into several parts in a gossip. In an exchange it brings an
item into one part, because each item is at a single place.

The quotient of entries and limit is a lower bound of the steps (docs/reference/bounds.md).
`mpinet.certify` checks the bound from parts and cover alone.

Two examples: if every processor is a part, the bound is the degree bound. If the parts are the
pieces left without one node, the bound is the number of this node's sends.
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
"""Maximum number of nodes for a search of cuts, and for cuts around single processors."""

MOST_LOOKS = 2**28
"""Maximum number of nodes and arcs examined to remove further nodes after the first."""

OUTSIDE = -1
"""Marker in place of a part: the node is in no part."""

NOBODY = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Cut:
    """Parts of a network, and the items that enter them."""

    parts: Ints
    """Part of every node, or `OUTSIDE`. Shape (N,)."""
    senders: Ints
    """Senders in a cover of the arcs into parts, for one port; arcs over counted busses need no
    cover. Empty for all ports.
    """
    receivers: Ints
    """Receivers in the cover of `senders`, for one port; empty for all ports."""
    needed: int
    """Total number of entries of items into parts."""
    entering: int
    """Maximum number of entries of items into parts per step."""

    @property
    def steps(self) -> int:
        """Lower bound of the steps."""
        return -(-self.needed // self.entering) if self.needed else 0


def best_cut(topology: Topology, model: PortModel, collective: str) -> Cut | None:
    """Return the best cut found for a ``"gossip"`` or an ``"exchange"``.

    Parameters
    ----------
    topology : Topology
        A connected network.
    model : PortModel
        ``"one"`` or ``"all"``.
    collective : str
        Name of the collective.

    Returns
    -------
    Cut or None
        None if no search is made: on half-duplex links, and on large networks.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> best_cut(open("shuffleexchange:3"), PortModel(1, 1), "gossip").steps
    9
    """
    known = (model.send, model.receive) in ((1, 1), (None, None)) and not model.half_duplex
    # The count of entries per step holds for these two port models only.
    if not known or not 1 < topology.size <= MOST_SINGLE:
        return None
    kind = _CutSearch if topology.links else _OverBusses
    search = kind(topology, model.send == 1, collective == "exchange")
    cuts = [search.cut(parts) for parts in search.candidates()]
    # Among cuts with the same bound, the one with fewer parts gives the smaller certificate.
    return max(cuts, key=lambda cut: (cut.steps, -int(cut.parts.max())))


class _CutSearch:
    """Search for cuts of a network of links."""

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
        """Yield promising parts: single processors, pieces, and neighbourhoods of a node."""
        nodes = np.arange(self.size)
        yield np.where(nodes < self.hosts, nodes, OUTSIDE)
        # Items of pairs pass the switches, so a part around each node counts every hop.
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
        """Return the cut for the given parts: entries needed, and entries per step."""
        inside = np.bincount(parts[: self.hosts] + 1, minlength=self.size + 1)[1:]
        if not self.exchange:  # parts of switches alone need no item
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
        """Return senders, receivers, `needed`, and the maximum number of entries per step."""
        if not self.one_port:
            return NOBODY, NOBODY, needed, int(self.widths[entering].sum())
        # König: with one port the maximum number of messages per step is the size of a largest
        # matching and of a smallest cover. A certificate states the cover.
        senders, receivers = cover(self.lists, entering)
        return senders, receivers, needed, len(senders) + len(receivers)

    def _joined(self) -> Iterator[Ints]:
        """Yield the components joined by parallel links, for each minimum number of links."""
        # In a hierarchy many parallel links join the nodes of one level; few links between levels
        # are cuts.
        for least in np.unique(self.widths)[:-1]:
            parts, before = np.arange(self.size), np.empty(0, np.int64)
            wide = self.widths > least
            # Labels decrease until all joined nodes have the lowest number among them.
            while not np.array_equal(parts, before):
                before = parts.copy()
                np.minimum.at(parts, self.receivers[wide], parts[self.lists.others[wide]])
            yield parts

    def _pieces(self) -> Ints:
        """Return the pieces left without some nodes; nodes are removed while the bound grows."""
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
                # With one port each removed node lets in one message per step. Needed entries per
                # removed node are therefore a bound.
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
        """Return the number of entries of items into the remaining pieces."""
        lists = self.lists.begin, self.lists.others
        return int(separate(*lists, removed, self.hosts, self.exchange, parts, work))

    def _sweep(self) -> Iterator[Ints]:
        """Yield the ball with the best bound as a part, then the best complement of a ball.

        Each is the best over the balls around all nodes. The bound is the number of items that
        must enter the part, divided by the possible entries per step.
        """
        # Removing the rim of a ball leaves the ball as a piece. For a gossip `_pieces` already
        # covers these cuts.
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
    """Search for cuts of a network of busses."""

    def __init__(self, topology: Topology, one_port: bool, exchange: bool):
        super().__init__(topology, one_port, exchange)
        lists = BusMembers.of(topology)
        ends = lists.bus_begin.tolist()
        self._members = [lists.members[begin:end] for begin, end in pairwise(ends)]

    def _gates(self, parts: Ints, entering: Flags, needed: int) -> tuple[Ints, Ints, int, int]:
        """Return the smallest limit: by senders, by receivers, by both, or by busses alone.

        Arcs between the same two nodes over several busses count as one arc.
        """
        heads = np.unique(self.receivers[entering])
        tails = np.unique(self.lists.others[entering].astype(np.int64))
        # Any set of senders and receivers gives a valid limit, so the smallest of several is valid.
        choices = [(NOBODY, NOBODY)]
        if self.one_port:
            choices += [(NOBODY, heads), (tails, NOBODY), cover(self.lists, entering)]
        worths = [self._worth(parts, *gates) for gates in choices]
        least = int(np.argmin(worths))
        return *choices[least], needed, worths[least]

    def _worth(self, parts: Ints, senders: Ints, receivers: Ints) -> int:
        """Return the maximum number of entries of items into parts per step."""
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
    """Number the pieces left without the removed nodes; return how often items must enter.

    `parts` gets each node's piece, or -1. In a gossip every outside processor's item enters each
    piece with processors; in an exchange, one item for each processor inside.
    """
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
    """Return the sum over ordered pairs of processors of the fewest entries on a path.

    Arcs are stored at their receivers.
    """
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
                        # 0-1 search: a step of cost 0 goes to the front of the queue, which begins
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
    """Grow a ball around each node; write the nodes of the best ball and return their number.

    Items enter the ball, or with `outside` the rest of the network.
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
            # With one port, each node at the edge sends or accepts one message. Both sides limit
            # the entries.
            entering = min(edge, rim) if one_port else crossing
            away = hosts - inside
            needed = inside * away if exchange else (inside if outside else away)
            if inside == 0 or away == 0 or entering == 0:
                continue
            # Ratios are compared by integer products, since rounding could differ between
            # computers.
            if needed * best_entering > best_needed * entering:
                best, best_needed, best_entering = head, needed, entering
                for place in range(tail):
                    order[place] = queue[place]
    return best
