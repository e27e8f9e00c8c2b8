"""Steps that no collective of many items beats, and rates that none reaches beyond.

Each adds to what holds for one item: the last item leaves its processor late, everybody has to get
all of them, and all have to go over the same links.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mpinet.base.arrays import Flags, Ints, Shorts
from mpinet.compiled import kernel
from mpinet.machine import Machine
from mpinet.networks.adjacency import Adjacency, spread
from mpinet.networks.topology import Topology
from mpinet.programs import bounds
from mpinet.programs.bounds import Bound
from mpinet.programs.cuts import Cut, best_cut
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.forwarding import forwarded_bound, forwarded_messages
from mpinet.programs.pipelines.rates import (
    MOST_LOOKS,
    fewest_steps,
    fewest_to_one,
    gossip_rate,
    looks_of_gossip,
    looks_of_one,
    looks_of_ways,
    ways_to_all,
)

Limits = tuple[Bound, Fraction | None]
"""Steps that nothing beats, and items per step that none exceeds in the long run, if known."""


def steps_and_rate(
    machine: Machine, collective: str, root: int, items: int, forwarded: bool = False
) -> Limits:
    """Bound the steps, and the items per step: what nothing beats (collective).

    Parameters
    ----------
    machine : Machine
        Of one port or all, of full duplex.
    collective : str
        ``"broadcast"``, ``"reduce"``, ``"gossip"``, ``"reducescatter"``, ``"allreduce"`` or
        ``"exchange"``; others have no such bounds. What brings each contribution to one processor
        is backwards a way from there to all, so that a reduce-scatter has those of a gossip.
    root : int
        Of the first two.
    items : int
        As of `broadcast_bound` or `gossip_bound`.
    forwarded : bool
        Whether switches send on each message, once, and do nothing else.
    """
    if machine.topology.hosts == 1 or collective not in _LIMITS:
        return Bound(0, "ends"), None
    arcs = Arcs.of(machine.topology)
    bound, rate = _LIMITS[collective](machine, arcs, root, items)
    if forwarded:
        one_port = machine.model.send == 1
        carried = most_messages(one_port, arcs)
        bound = max(bound, forwarded_bound(arcs, collective, items, one_port, carried))
        each = forwarded_messages(collective, arcs.hosts)
        rate = Fraction(carried, each) if rate is None else min(rate, Fraction(carried, each))
    return bound, rate


def _of_broadcast(machine: Machine, arcs: Arcs, root: int, items: int) -> Limits:
    return broadcast_bound(machine, arcs, root, items), broadcast_rate(machine, arcs, root)


def _of_gossip(machine: Machine, arcs: Arcs, root: int, items: int) -> Limits:
    rate, cut = gossip_rate_of(machine, arcs), best_cut(machine.topology, machine.model, "gossip")
    bound = gossip_bound(machine, rate, items, cut)
    if flows_to_one(machine.model.send == 1, arcs):
        bound = max(bound, Bound(fewest_to_one(arcs, items)[0], "flow"))
    if rate is None and cut is not None:
        rate = Fraction(cut.entering, cut.needed)
    return bound, rate


def _of_allreduce(machine: Machine, arcs: Arcs, root: int, items: int) -> Limits:
    rate = allreduce_rate(machine, arcs)
    return allreduce_bound(machine, arcs, rate, items), rate


def _of_exchange(machine: Machine, arcs: Arcs, root: int, items: int) -> Limits:
    bound = bounds.exchange_bound(machine, items=items)
    cut = best_cut(machine.topology, machine.model, EXCHANGE)
    if cut is None or not cut.needed:
        return bound, None
    steps = Bound(-(-items * cut.needed // cut.entering), "cut")
    return max(bound, steps), Fraction(cut.entering, cut.needed)


EXCHANGE = "exchange"

_LIMITS = {
    EXCHANGE: _of_exchange,
    "broadcast": _of_broadcast,
    "reduce": _of_broadcast,
    "gossip": _of_gossip,
    "reducescatter": _of_gossip,
    "allreduce": _of_allreduce,
}


def broadcast_bound(machine: Machine, arcs: Arcs, root: int, items: int) -> Bound:
    """Steps that no broadcast of so many items beats (collective); no reduction either.

    The last item leaves the root no earlier than all have left it, and is not everywhere before a
    broadcast of its own has ended. On all ports, every processor alone gets its items by ways that
    share no link or bus in a step (``"flow"``). With one port, a node without which others are cut
    off sends every item into each of their pieces (``"cut"``).
    """
    single = bounds.broadcast_bound(machine, root)
    if machine.model.send == 1:
        # One port lets one item out of the root per step, so the last item starts after items - 1
        # steps and still needs a whole broadcast.
        last = Bound(items - 1 + single, single.by)
        return max(last, Bound(Pieces.of(machine.topology, root).steps(items), "cut"))
    # All ports let one item out per arc of the root, so the last item leaves in step `leaves`.
    leaves = -(-items // int(arcs.out_degrees[root]))
    least = Bound(leaves - 1 + single, single.by)
    # A max-flow for each node costs too much on a large network; the weaker bound stays valid.
    if looks_of_ways(arcs, root) > MOST_LOOKS:
        return least
    return max(least, Bound(fewest_steps(arcs, root, items), "flow"))


def broadcast_rate(machine: Machine, arcs: Arcs, root: int) -> Fraction | None:
    """Items a step beyond which no long broadcast comes; None on too large a network."""
    if machine.model.send == 1:
        # A node that cuts off k pieces sends every item k times, one message per step.
        return Fraction(1, Pieces.of(machine.topology, root).most)
    if looks_of_ways(arcs, root) > MOST_LOOKS:
        return None
    # Edmonds (1973): trees from the root fill the smallest cut, so the max-flow to the worst
    # processor is the rate. The entry of the root itself is no flow.
    return Fraction(int(np.delete(ways_to_all(arcs, root)[: arcs.hosts], root).min()))


def gossip_bound(machine: Machine, rate: Fraction | None, items: int, cut: Cut | None) -> Bound:
    """Steps that no gossip of so many items each beats (collective).

    Parameters
    ----------
    rate : Fraction or None
        As of `gossip_rate_of`.
    cut : Cut or None
        The best cut that is known.
    """
    found = [bounds.gossip_bound(machine)]
    if machine.model.receive == 1:
        # Each processor lacks the items of all others, and accepts one message per step.
        found.append(Bound(items * (machine.topology.hosts - 1), "ends"))
    # The rate counts items per step in the long run. A finite run cannot exceed it, because a cut
    # carries the same amount in every step.
    if rate is not None:
        found.append(Bound(-(-items * rate.denominator // rate.numerator), "cut"))
    if cut is not None:
        found.append(Bound(-(-items * cut.needed // cut.entering), "cut"))
    return max(found)


def flows_to_one(one_port: bool, arcs: Arcs) -> bool:
    """Tell if what flows to one processor is looked at: through switches, which takes its time."""
    return not one_port and arcs.hosts < arcs.size and looks_of_one(arcs) <= MOST_LOOKS // 8


def gossip_rate_of(machine: Machine, arcs: Arcs) -> Fraction | None:
    """Items of everybody a step beyond which no gossip on all ports comes; None if too large."""
    if machine.model.receive == 1 or looks_of_gossip(arcs) > MOST_LOOKS:
        return None
    # `gossip_rate` gives steps per item.
    return 1 / gossip_rate(arcs)[0]


def allreduce_rate(machine: Machine, arcs: Arcs) -> Fraction | None:
    """Items a step beyond which no allreduce comes.

    An item takes so many messages until all know what all had (`messages_of_item`), and on all
    ports it crosses every cut, both ways. With one port, a node that leaves m pieces sends it into
    each of them.
    """
    # Total work per item, divided by the most messages of one step, bounds any schedule.
    carried = Fraction(most_messages(machine.model.send == 1, arcs), messages_of_item(arcs))
    if machine.model.send == 1:
        return min(carried, Fraction(1, Pieces.of(machine.topology, None).most))
    if looks_of_ways(arcs, 0) > MOST_LOOKS:
        # The degree is the trivial cut around one processor, and costs no search.
        return min(carried, Fraction(int(arcs.out_degrees[: arcs.hosts].min())))
    # Every cut between two processors separates one of them from processor 0, so that the flows
    # from processor 0 alone find the smallest cut.
    return min(carried, Fraction(int(ways_to_all(arcs, 0)[1 : arcs.hosts].min())))


def messages_of_item(arcs: Arcs) -> int:
    """Messages until all of N processors know what all had of an item.

    Of links 2N - 2 (Harary and Schwenk 1974), with switches N at least: each processor sends one.
    A transmission on a bus of s members tells s - 1: before anybody knows all, the N - 1 others
    have sent; then, and with the last of these, s - 1 a transmission get to know it.
    """
    hosts = arcs.hosts
    if hosts < arcs.size:
        # A combining switch may merge messages, so that only messages of processors can be counted.
        return hosts  # of processors' messages
    widest = 2
    if not arcs.links:
        widest = int(np.diff(arcs.ends.out_begin)[arcs.size :].max())
    return hosts - 2 + -(-hosts // (widest - 1))


def most_messages(one_port: bool, arcs: Arcs) -> int:
    """Messages that processors can send in a step: one each, or one on each arc, or bus."""
    carriers = int(arcs.out_degrees[: arcs.hosts].sum())
    if not arcs.links:
        carriers = int((arcs.ends.takes > 0).sum())
    return min(carriers, arcs.hosts) if one_port else carriers


def allreduce_bound(machine: Machine, arcs: Arcs, rate: Fraction | None, items: int) -> Bound:
    """Steps that no allreduce of so many items beats (collective).

    Those of all their messages (``"hops"``); those of a broadcast from any processor, for what it
    has of every item has to come everywhere: on all ports over the farthest pair, at least
    (``"flow"``); with one port also those of a node that leaves pieces (``"cut"``).
    """
    single = bounds.combining_gossip_bound(machine)
    one_port = machine.model.send == 1
    hops = -(-items * messages_of_item(arcs) // most_messages(one_port, arcs))
    found = [Bound(hops, "hops")]
    if rate is not None:
        found.append(Bound(-(-items * rate.denominator // rate.numerator), "cut"))
    if one_port:
        found.append(Bound(items - 1 + single, single.by))
        found.append(Bound(Pieces.of(machine.topology, None).steps(items), "cut"))
    else:
        ports = int(arcs.out_degrees[: arcs.hosts].max())
        found.append(Bound(-(-items // ports) - 1 + single, single.by))
        # Each processor's contribution has to reach all others, as in a broadcast from there. Roots
        # of low degree give the largest bounds, and every root costs a flow to each processor.
        for root in senders_of_most(arcs):
            if looks_of_ways(arcs, root) <= MOST_LOOKS // (8 * MOST_ROOTS):
                found.append(Bound(fewest_steps(arcs, root, items), "flow"))
    return max(found)


MOST_ROOTS = 4
"""Processors from which an allreduce's flows over time are looked at."""


def senders_of_most(arcs: Arcs) -> list[int]:
    """Processors from which what they have may come everywhere late: those of fewest arcs first."""
    first: list[int] = np.argsort(arcs.out_degrees[: arcs.hosts], kind="stable").tolist()
    return first[:MOST_ROOTS]


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces that single nodes cut off from a root, or from each other."""

    lists: Adjacency
    """Adjacency lists of the network."""
    hosts: int
    """Nodes from here on are switches."""
    root: int | None
    """The root; None: of an allreduce."""
    number: Ints
    """Pieces with processors that each node cuts off from the root; of an allreduce, all that are
    left without it, if these are several. Shape (N,)."""
    away: Ints
    """Hops from the root. Shape (N,)."""

    @classmethod
    def of(cls, topology: Topology, root: int | None) -> Pieces:
        """Look at the whole network."""
        lists, size, hosts = Adjacency.of(topology), topology.size, topology.hosts
        number, away = np.zeros(size, np.int64), np.full(size, -1)
        is_host = np.arange(size) < hosts
        count_cut_off(root or 0, is_host, lists.begin, lists.others, number, away)
        # The search in depth counts pieces below a node only. Without a root the piece above
        # counts, too, and the first node is a cut vertex only if two pieces hang on it.
        if root is None:  # and the piece with the processor where the search began
            number[1:] += number[1:] > 0
            number[0] *= number[0] > 1
        return cls(lists, hosts, root, number, away)

    @property
    def most(self) -> int:
        """Messages of an item that one node has to send."""
        return max(1, int(self.number.max()))

    def steps(self, items: int) -> int:
        """Steps that it takes at least, by the node for which they are most."""
        return max((steps for steps, _ in self._each(items)), default=0)

    def slowest(self, items: int) -> int:
        """That node; 0 where no node cuts anything off."""
        return max(self._each(items), key=lambda found: (found[0], -found[1]), default=(0, 0))[1]

    def _each(self, items: int) -> list[tuple[int, int]]:
        """Steps by single nodes, with these."""
        nodes = np.flatnonzero(self.number)
        looks = len(self.lists.others) + len(self.number)
        order = np.argsort(-self.number[nodes], kind="stable")
        # Every single node gives a valid bound. Nodes with many pieces are tried first, because
        # each trial costs a search of the whole network.
        nodes = nodes[order][: max(1, MOST_LOOKS // (64 * looks))]
        return [(self._by_node(node, items), node) for node in nodes.tolist()]

    def _by_node(self, node: int, items: int) -> int:
        """Steps that a node without which pieces are left needs for all messages into them.

        Such a message leaves the node when what it brings has come there, and has to go on to the
        farthest processor of its piece. See docs/how-to/pipelines.md.
        """
        depth = self._depths(node)
        if self.root is None:
            if len(depth) < 2:
                return 0
            # What enters a piece of an allreduce comes from the deepest other piece, and one
            # message per step from each of the other pieces has to come to the node before.
            others = [max(d for k, d in enumerate(depth) if k != i) for i in range(len(depth))]
            came = [max(each, len(depth) - 1) for each in others]
        else:
            came = [int(self.away[node])] * len(depth)
        steps = 0
        # Messages into deep pieces must leave early. For each depth the last message that leaves
        # the node, among those with at least so far to go, decides.
        for least in sorted(set(depth)):
            behind = [c for c, d in zip(came, depth, strict=True) if d >= least]
            steps = max(steps, min(behind) + len(behind) * items + least - 1)
        return steps

    def _depths(self, node: int) -> list[int]:
        """Hops from a node to the farthest processor of each piece that it cuts off."""
        size = len(self.number)
        distance, piece = np.full(size, -1), np.full(size, -1)
        # The piece with the root already has the items, so that nothing needs to enter it.
        first = -1 if self.root is None or self.root == node else self.root
        found = np.empty(size, np.int64)
        count = int(
            measure_pieces(
                node, first, self.hosts, self.lists.begin, self.lists.others, distance, piece, found
            )
        )
        depth: list[int] = found[:count].tolist()
        return [each for each in depth if each > 0]


@kernel
def measure_pieces(
    node: int,
    left_out: int,
    hosts: int,
    begin: Ints,
    others: Shorts,
    distance: Ints,
    piece: Ints,
    depth: Ints,
) -> int:
    """Write hops from a node, and to the farthest processor of each piece that is left without it.

    The piece with one node may be left out. Of a piece without processors it is 0. Returns how many
    pieces there are.
    """
    size, count = begin.size - 1, 0
    queue = np.empty(size, np.int64)
    for turn in range(begin[node], begin[node + 1] + 1):
        first = left_out if turn == begin[node] else others[turn - 1]
        if first < 0 or piece[first] >= 0:
            continue
        head, tail = 0, 1
        queue[0] = first
        piece[first] = count
        while head < tail:
            here = queue[head]
            head += 1
            for at in range(begin[here], begin[here + 1]):
                other = others[at]
                if other != node and piece[other] < 0:
                    piece[other] = count
                    queue[tail] = other
                    tail += 1
        depth[count] = 0
        count += 1
    for at in range(1, spread(begin, others, node, distance, queue)):
        other = queue[at]
        if other < hosts:
            depth[piece[other]] = max(depth[piece[other]], distance[other])
    if left_out >= 0:
        depth[piece[left_out]] = 0
    return count


@kernel
def count_cut_off(
    root: int, hosts: Flags, begin: Ints, others: Shorts, pieces: Ints, away: Ints
) -> None:
    """Write both, by one search in depth and one in breadth."""
    size = hosts.size
    found, low = np.full(size, -1), np.empty(size, np.int64)
    parent, at = np.full(size, -1), np.empty(size, np.int64)
    inside = np.zeros(size, np.bool_)  # whether a processor is in the part below
    node, count = root, 0
    found[root] = low[root] = 0
    at[root] = begin[root]
    inside[root] = hosts[root]
    while True:
        if at[node] < begin[node + 1]:
            other = others[at[node]]
            at[node] += 1
            if found[other] < 0:
                count += 1
                found[other] = low[other] = count
                parent[other], at[other] = node, begin[other]
                inside[other] = hosts[other]
                node = other
            elif other != parent[node]:
                low[node] = min(low[node], found[other])
            continue
        above = parent[node]
        if above < 0:
            break
        if low[node] >= found[above] and inside[node]:
            pieces[above] += 1
        low[above] = min(low[above], low[node])
        inside[above] = inside[above] or inside[node]
        node = above
    spread(begin, others, root, away, np.empty(size, np.int64))
