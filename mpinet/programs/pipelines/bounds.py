"""Steps that no collective of many items beats, and rates that none reaches beyond.

Each adds to what holds for one item: the last item leaves its processor late, everybody has to get
all of them, and all have to go over the same links.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from mpinet.arrays import Flags, Ints
from mpinet.compiled import kernel
from mpinet.machine import Machine
from mpinet.programs import bounds
from mpinet.programs.bounds import Bound
from mpinet.programs.cuts import best_cut
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.rates import (
    MOST_LOOKS,
    fewest_steps,
    gossip_rate,
    looks_of_gossip,
    looks_of_ways,
    ways_to_all,
)


def broadcast_bound(machine: Machine, arcs: Arcs, root: int, items: int) -> Bound:
    """Steps that no broadcast of so many items beats (collective); no reduction either.

    The last item leaves the root no earlier than all have left it, and is not everywhere before a
    broadcast of its own has ended. On all ports, every processor alone gets its items by ways that
    share no link in a step (``"flow"``). With one port, a node without which others are cut off
    sends every item into each of their pieces (``"cut"``).
    """
    single = bounds.broadcast_bound(machine, root)
    if machine.model.send == 1:
        pieces, away = cut_off(arcs, root)
        cut = int(np.where(pieces > 0, away + items * pieces, 0).max())
        return max(Bound(items - 1 + single, single.by), Bound(cut, "cut"))
    leaves = -(-items // int(arcs.out_degrees[root]))
    least = Bound(leaves - 1 + single, single.by)
    if looks_of_ways(arcs, root) > MOST_LOOKS:
        return least
    return max(least, Bound(fewest_steps(arcs, root, items), "flow"))


def broadcast_rate(machine: Machine, arcs: Arcs, root: int) -> Fraction | None:
    """Items a step beyond which no long broadcast comes; None on too large a network."""
    if machine.model.send == 1:
        return Fraction(1, max(1, int(cut_off(arcs, root)[0].max())))
    if looks_of_ways(arcs, root) > MOST_LOOKS:
        return None
    return Fraction(int(np.delete(ways_to_all(arcs, root)[: arcs.hosts], root).min()))


def gossip_bound(
    machine: Machine, rate: Fraction | None, items: int, cut: tuple[int, int] | None
) -> Bound:
    """Steps that no gossip of so many items each beats (collective).

    Parameters
    ----------
    rate : Fraction or None
        As of `gossip_rate_of`.
    cut : tuple of int or None
        As of `entering`.
    """
    found = [bounds.gossip_bound(machine)]
    if machine.model.receive == 1:
        found.append(Bound(items * (machine.topology.hosts - 1), "ends"))
    if rate is not None:
        found.append(Bound(-(-items * rate.denominator // rate.numerator), "cut"))
    if cut is not None:
        needed, entering = cut
        found.append(Bound(-(-items * needed // entering), "cut"))
    return max(found)


def gossip_rate_of(machine: Machine, arcs: Arcs) -> Fraction | None:
    """Items of everybody a step beyond which no gossip on all ports comes; None if too large."""
    if machine.model.receive == 1 or looks_of_gossip(arcs) > MOST_LOOKS:
        return None
    return 1 / gossip_rate(arcs)


def entering(machine: Machine) -> tuple[int, int] | None:
    """How often items of a gossip enter the parts of a cut, and how many can in a step."""
    cut = best_cut(machine.topology, machine.model, "gossip")
    return None if cut is None else (cut.needed, cut.entering)


def allreduce_rate(machine: Machine, arcs: Arcs) -> Fraction | None:
    """Items a step beyond which no allreduce comes.

    An item takes at least 2N - 2 messages until all N processors know what all had (Harary and
    Schwenk 1974), and with switches each processor sends and accepts one at least. On all ports it
    crosses every cut, both ways.
    """
    hosts = arcs.hosts
    if machine.model.send == 1:
        return Fraction(hosts, 2 * hosts - 2) if hosts == arcs.size else Fraction(1)
    carried = Fraction(len(arcs), 2 * hosts - 2) if hosts == arcs.size else Fraction(len(arcs), 2)
    if looks_of_ways(arcs, 0) > MOST_LOOKS:
        return min(carried, Fraction(int(arcs.out_degrees[:hosts].min())))
    return min(carried, Fraction(int(ways_to_all(arcs, 0)[1:hosts].min())))


def allreduce_bound(machine: Machine, arcs: Arcs, rate: Fraction | None, items: int) -> Bound:
    """Steps that no allreduce of so many items beats (collective): `allreduce_rate`, and the last.

    Some item leaves a processor no earlier than it has sent a message for each; from there it has
    to come everywhere.
    """
    single = bounds.combining_gossip_bound(machine)
    ports = 1 if machine.model.send == 1 else int(arcs.out_degrees[: arcs.hosts].max())
    found = [Bound(-(-items // ports) - 1 + single, single.by)]
    if rate is not None:
        found.append(Bound(-(-items * rate.denominator // rate.numerator), "hops"))
    return max(found)


def cut_off(arcs: Arcs, root: int) -> tuple[Ints, Ints]:
    """Pieces with processors that each node alone cuts off from the root, and hops to it.

    Returns
    -------
    pieces, away : ndarray of int64, shape (N,)
        Of the root: the pieces that are left without it.
    """
    pieces, away = np.zeros(arcs.size, np.int64), np.full(arcs.size, -1)
    hosts = np.arange(arcs.size) < arcs.hosts
    count_cut_off(root, hosts, arcs.head, arcs.out_begin, arcs.out, pieces, away)
    return pieces, away


@kernel
def count_cut_off(
    root: int, hosts: Flags, head: Ints, out_begin: Ints, out: Ints, pieces: Ints, away: Ints
) -> None:
    """Write both, by one search in depth and one in breadth."""
    size = hosts.size
    found, low = np.full(size, -1), np.empty(size, np.int64)
    parent, at = np.full(size, -1), np.empty(size, np.int64)
    inside = np.zeros(size, np.bool_)  # whether a processor is in the part below
    node, count = root, 0
    found[root] = low[root] = 0
    at[root] = out_begin[root]
    inside[root] = hosts[root]
    while True:
        if at[node] < out_begin[node + 1]:
            other = head[out[at[node]]]
            at[node] += 1
            if found[other] < 0:
                count += 1
                found[other] = low[other] = count
                parent[other], at[other] = node, out_begin[other]
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
    queue = np.empty(size, np.int64)
    queue[0] = root
    away[root] = 0
    first, last = 0, 1
    while first < last:
        node = queue[first]
        first += 1
        for place in range(out_begin[node], out_begin[node + 1]):
            other = head[out[place]]
            if away[other] < 0:
                away[other] = away[node] + 1
                queue[last] = other
                last += 1
