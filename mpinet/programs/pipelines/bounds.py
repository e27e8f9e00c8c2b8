"""Lower bounds of the steps of collectives with many items, and upper bounds of their throughput.

The bounds extend those for one item by three facts. The last item leaves its source late. Every
processor receives all items. All items share the same links.
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
"""Lower bound of the steps, and upper bound of the items per step in the long run, if known."""


def steps_and_rate(
    machine: Machine, collective: str, root: int, items: int, forwarded: bool = False
) -> Limits:
    """Return a lower bound of the steps and an upper bound of the items per step (collective).

    Parameters
    ----------
    machine : Machine
        Machine of full duplex, with one port or all ports.
    collective : str
        ``"broadcast"``, ``"reduce"``, ``"gossip"``, ``"reducescatter"``, ``"allreduce"`` or
        ``"exchange"``; other collectives have no such bounds. A reversed schedule of contributions
        to one processor is a schedule from this processor to all. A reduce-scatter therefore has
        the bounds of a gossip.
    root : int
        Root of a broadcast or reduction.
    items : int
        As in `broadcast_bound` or `gossip_bound`.
    forwarded : bool
        If True, switches only forward each message, exactly once.
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
    """Return a lower bound of the steps of a broadcast or reduction of many items (collective).

    The last item leaves the root after all others, and then needs a broadcast of its own. With all
    ports, the items of every single processor arrive over paths that share no link or bus in a step
    (``"flow"``). With one port, a cut vertex sends every item into each piece cut off by the vertex
    (``"cut"``).
    """
    single = bounds.broadcast_bound(machine, root)
    if machine.model.send == 1:
        # With one port, one item leaves the root per step. The last item starts after items - 1
        # steps and still needs a whole broadcast.
        last = Bound(items - 1 + single, single.by)
        return max(last, Bound(Pieces.of(machine.topology, root).steps(items), "cut"))
    # With all ports, one item leaves per arc of the root, so the last item leaves in step `leaves`.
    leaves = -(-items // int(arcs.out_degrees[root]))
    least = Bound(leaves - 1 + single, single.by)
    # On a large network a max-flow for each node is too expensive; the weaker bound stays valid.
    if looks_of_ways(arcs, root) > MOST_LOOKS:
        return least
    return max(least, Bound(fewest_steps(arcs, root, items), "flow"))


def broadcast_rate(machine: Machine, arcs: Arcs, root: int) -> Fraction | None:
    """Return an upper bound of a long broadcast's items per step; None on too large networks."""
    if machine.model.send == 1:
        # A node that cuts off k pieces sends every item k times, one message per step.
        return Fraction(1, Pieces.of(machine.topology, root).most)
    if looks_of_ways(arcs, root) > MOST_LOOKS:
        return None
    # Edmonds (1973): trees from the root fill the smallest cut, so the max-flow to the worst
    # processor is the rate. The root's own entry is not a flow.
    return Fraction(int(np.delete(ways_to_all(arcs, root)[: arcs.hosts], root).min()))


def gossip_bound(machine: Machine, rate: Fraction | None, items: int, cut: Cut | None) -> Bound:
    """Return a lower bound of the steps of a gossip with `items` items per processor (collective).

    Parameters
    ----------
    rate : Fraction or None
        Rate from `gossip_rate_of`.
    cut : Cut or None
        The best known cut.
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
    """Return whether to compute flows to one processor through switches, which is expensive."""
    return not one_port and arcs.hosts < arcs.size and looks_of_one(arcs) <= MOST_LOOKS // 8


def gossip_rate_of(machine: Machine, arcs: Arcs) -> Fraction | None:
    """Return an upper bound of the items per processor and step in an all-port gossip.

    Return None for one port or if the network is too large.
    """
    if machine.model.receive == 1 or looks_of_gossip(arcs) > MOST_LOOKS:
        return None
    # `gossip_rate` returns steps per item.
    return 1 / gossip_rate(arcs)[0]


def allreduce_rate(machine: Machine, arcs: Arcs) -> Fraction | None:
    """Return an upper bound of the items per step of an allreduce.

    Each item needs at least `messages_of_item` messages. With all ports an item crosses every cut
    in both directions. With one port, a cut vertex sends the item into each of its pieces.
    """
    # Total work per item, divided by the maximum number of messages per step, bounds any schedule.
    carried = Fraction(most_messages(machine.model.send == 1, arcs), messages_of_item(arcs))
    if machine.model.send == 1:
        return min(carried, Fraction(1, Pieces.of(machine.topology, None).most))
    if looks_of_ways(arcs, 0) > MOST_LOOKS:
        # The degree is the trivial cut around one processor, and needs no search.
        return min(carried, Fraction(int(arcs.out_degrees[: arcs.hosts].min())))
    # Every cut between two processors separates one of them from processor 0. The flows from
    # processor 0 alone therefore find the smallest cut.
    return min(carried, Fraction(int(ways_to_all(arcs, 0)[1 : arcs.hosts].min())))


def messages_of_item(arcs: Arcs) -> int:
    """Return the minimum number of messages of one item until all N processors know its full sum.

    On links the number is 2N - 2 (Harary and Schwenk 1974). With switches it is at least N: each
    processor sends once. On busses of s members: before any processor knows the full sum, the N - 1
    others have sent. The last of these and each later transmission complete at most s - 1
    processors.
    """
    hosts = arcs.hosts
    if hosts < arcs.size:
        # A combining switch may merge messages, so only messages of processors can be counted.
        return hosts  # messages of processors
    widest = 2
    if not arcs.links:
        widest = int(np.diff(arcs.ends.out_begin)[arcs.size :].max())
    return hosts - 2 + -(-hosts // (widest - 1))


def most_messages(one_port: bool, arcs: Arcs) -> int:
    """Return the maximum messages of processors per step: one each, or one per arc or bus."""
    carriers = int(arcs.out_degrees[: arcs.hosts].sum())
    if not arcs.links:
        carriers = int((arcs.ends.takes > 0).sum())
    return min(carriers, arcs.hosts) if one_port else carriers


def allreduce_bound(machine: Machine, arcs: Arcs, rate: Fraction | None, items: int) -> Bound:
    """Return a lower bound of the steps of an allreduce of many items (collective).

    The bound is the maximum of three bounds. ``"hops"``: the total number of messages, divided by
    the messages per step. ``"flow"`` (all ports): each processor's contribution has to reach all
    others, as in a broadcast. ``"cut"`` (one port): messages of a cut vertex into its pieces.
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
        # Each processor's contribution has to reach all others, as in a broadcast. Roots of low
        # degree give the largest bounds. Every root costs a flow to each processor.
        for root in senders_of_most(arcs):
            if looks_of_ways(arcs, root) <= MOST_LOOKS // (8 * MOST_ROOTS):
                found.append(Bound(fewest_steps(arcs, root, items), "flow"))
    return max(found)


MOST_ROOTS = 4
"""Number of processors whose flows over time bound an allreduce."""


def senders_of_most(arcs: Arcs) -> list[int]:
    """Return the processors with the fewest arcs, whose items may take longest to spread."""
    first: list[int] = np.argsort(arcs.out_degrees[: arcs.hosts], kind="stable").tolist()
    return first[:MOST_ROOTS]


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces that single nodes cut off from a root, or from each other."""

    lists: Adjacency
    """Adjacency lists of the network."""
    hosts: int
    """Number of processors; nodes from this number on are switches."""
    root: int | None
    """The root; None for an allreduce."""
    number: Ints
    """Number of pieces with processors that each node cuts off from the root. For an allreduce:
    number of pieces left without the node, or 0 for a single piece. Shape (N,).
    """
    away: Ints
    """Distance of each node from the root, in hops. Shape (N,)."""

    @classmethod
    def of(cls, topology: Topology, root: int | None) -> Pieces:
        """Return the pieces of a network for a root, or for an allreduce if `root` is None."""
        lists, size, hosts = Adjacency.of(topology), topology.size, topology.hosts
        number, away = np.zeros(size, np.int64), np.full(size, -1)
        is_host = np.arange(size) < hosts
        count_cut_off(root or 0, is_host, lists.begin, lists.others, number, away)
        # The depth-first search counts only pieces below a node. Without a root the piece above
        # counts as well, and the first node is a cut vertex only if two pieces hang below it.
        if root is None:  # add the piece with the search's first processor
            number[1:] += number[1:] > 0
            number[0] *= number[0] > 1
        return cls(lists, hosts, root, number, away)

    @property
    def most(self) -> int:
        """Largest number of messages per item that one node has to send."""
        return max(1, int(self.number.max()))

    def steps(self, items: int) -> int:
        """Return the largest lower bound of the steps from a single node."""
        return max((steps for steps, _ in self._each(items)), default=0)

    def slowest(self, items: int) -> int:
        """Return the node with the largest lower bound; 0 if no node cuts anything off."""
        return max(self._each(items), key=lambda found: (found[0], -found[1]), default=(0, 0))[1]

    def _each(self, items: int) -> list[tuple[int, int]]:
        """Return pairs of lower bound and node."""
        nodes = np.flatnonzero(self.number)
        looks = len(self.lists.others) + len(self.number)
        order = np.argsort(-self.number[nodes], kind="stable")
        # Every single node gives a valid bound. Nodes with many pieces are tried first, because
        # each trial costs a search of the whole network.
        nodes = nodes[order][: max(1, MOST_LOOKS // (64 * looks))]
        return [(self._by_node(node, items), node) for node in nodes.tolist()]

    def _by_node(self, node: int, items: int) -> int:
        """Return the lower bound from the messages that a cut vertex sends into its pieces.

        A message leaves the node after its content has arrived there, and then travels to the
        farthest processor of its piece. See docs/reference/bounds.md.
        """
        depth = self._depths(node)
        if self.root is None:
            if len(depth) < 2:
                return 0
            # In an allreduce, contents for a piece come from the deepest other piece. Before the
            # first send, the node receives one message per step from each of the other pieces.
            others = [max(d for k, d in enumerate(depth) if k != i) for i in range(len(depth))]
            came = [max(each, len(depth) - 1) for each in others]
        else:
            came = [int(self.away[node])] * len(depth)
        steps = 0
        # Messages into deep pieces must leave early. For each depth, the bound follows from the
        # last message into a piece of at least this depth.
        for least in sorted(set(depth)):
            behind = [c for c, d in zip(came, depth, strict=True) if d >= least]
            steps = max(steps, min(behind) + len(behind) * items + least - 1)
        return steps

    def _depths(self, node: int) -> list[int]:
        """Return the hops from a node to the farthest processor of each piece that it cuts off."""
        size = len(self.number)
        distance, piece = np.full(size, -1), np.full(size, -1)
        # The piece with the root already has the items, so nothing needs to enter it.
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
    """Write hops from a node, and to the farthest processor of each piece left without the node.

    The piece with node `left_out` is left out (-1: none). The value of a piece without processors
    is 0. Return the number of pieces.
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
    """Write `pieces` by a depth-first search and `away` by a breadth-first search from the root."""
    size = hosts.size
    found, low = np.full(size, -1), np.empty(size, np.int64)
    parent, at = np.full(size, -1), np.empty(size, np.int64)
    inside = np.zeros(size, np.bool_)  # whether the part below contains a processor
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
