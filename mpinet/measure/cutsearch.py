"""Narrow cuts into halves, found by exchanging nodes: an upper bound of the bisection width."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.compiled import inlined, kernel

ROUNDS_PER_NODE = 8
"""Exchanges that a search makes for each node before it ends."""

RANDOM_STARTS = 8
"""Random halves that a search begins with beside those that are given."""

LOTTERY_MASK = (1 << 31) - 1
"""Mask of the numbers by which equally good moves are drawn (ANSI C's generator)."""

OPERATIONS = 1 << 28
"""About how many operations the searches may take together."""


class CutHypergraph:
    """The hypergraph to cut: channels, each with its members.

    Parameters
    ----------
    nodes, hosts : int
        Nodes, and those of them (numbered first) that are to be halved.
    channels, members : ndarray of int64, shape (m,)
        Rows (channel, node), ascending by channel.
    """

    def __init__(self, nodes: int, hosts: int, channels: Ints, members: Ints):
        self.nodes, self.hosts = nodes, hosts
        self.channels, self.members = channels, members
        self.count = int(channels.max(initial=-1)) + 1

    @cached_property
    def of_node(self) -> tuple[Ints, Ints]:
        """Each node's channels, as offsets, shape (nodes + 1,), and channels."""
        order = np.argsort(self.members, kind="stable")
        offsets = np.searchsorted(self.members[order], np.arange(self.nodes + 1))
        return offsets, self.channels[order]

    def by_channel(self) -> list[Ints]:
        """The members of each channel."""
        starts = np.searchsorted(self.channels, np.arange(1, self.count))
        return np.split(self.members, starts)

    def width(self, inside: Flags) -> int:
        """Channels with members both inside and outside."""
        within = np.bincount(self.channels, weights=inside[self.members], minlength=self.count)
        members = np.bincount(self.channels, minlength=self.count)
        return int(((within > 0) & (within < members)).sum())


def best_cut(cuts: CutHypergraph, starts: Sequence[Flags], enough: int = 0) -> Flags:
    """The narrowest cut into halves that a tabu search finds from each of some.

    Parameters
    ----------
    cuts : CutHypergraph
        The network.
    starts : sequence of ndarray of bool, shape (nodes,)
        Cuts with half of the hosts (rounded down) inside.
    enough : int
        No cut is narrower: the search ends where it has come to this width.
    """
    # A search by exchanges ends in a local optimum. Structured starts find regular cuts, random
    # ones the others.
    halves = [start.copy() for start in starts] + random_cuts(cuts)
    widths = [cuts.width(inside) for inside in halves]
    offsets, channels = cuts.of_node
    members = np.bincount(cuts.channels, minlength=cuts.count)
    work = (2 * len(channels) + cuts.nodes) * len(halves)
    rounds = min(ROUNDS_PER_NODE * cuts.nodes + 50, max(1, OPERATIONS // max(work, 1)))
    for i, inside in enumerate(halves):
        if min(widths) <= enough:
            break
        within = np.bincount(cuts.channels, weights=inside[cuts.members], minlength=cuts.count)
        counts = within.astype(np.int64)
        widths[i] = exchange(offsets, channels, members, cuts.hosts, rounds, i + 1, counts, inside)
    return halves[int(np.argmin(widths))]


def random_cuts(cuts: CutHypergraph) -> list[Flags]:
    """Cuts with random halves of the hosts inside, switches on random sides; always the same."""
    # The seed is fixed: every rank and every run must find the same cut.
    rng = np.random.Generator(np.random.PCG64(0))
    halves = []
    for _ in range(RANDOM_STARTS):
        inside = rng.integers(0, 2, cuts.nodes).astype(bool)
        inside[: cuts.hosts] = False
        inside[rng.permutation(cuts.hosts)[: cuts.hosts // 2]] = True
        halves.append(inside)
    return halves


@inlined
def gain(node, offsets, channels, members, within, here):
    """Return by how much moving the node to the other side narrows the cut."""
    total = 0
    for e in range(offsets[node], offsets[node + 1]):
        c = channels[e]
        same = within[c] if here else members[c] - within[c]
        # Nobody of the channel is on the other side: the move parts it, unless the node is alone on
        # it.
        if same == members[c]:
            total -= members[c] > 1
        elif same == 1:
            # The last member on this side: the channel is parted no longer.
            total += 1
    return total


@inlined
def move(node, offsets, channels, within, inside):
    """Bring a node to the other side."""
    inside[node] = not inside[node]
    for e in range(offsets[node], offsets[node + 1]):
        within[channels[e]] += 1 if inside[node] else -1


@kernel
def exchange(
    offsets: Ints,
    channels: Ints,
    members: Ints,
    hosts: int,
    rounds: int,
    seed: int,
    within: Ints,
    inside: Flags,
) -> int:
    """Exchange a host inside for one outside, again and again; leave the narrowest cut seen.

    The best of the hosts that have not moved lately goes, also if the cut gets wider; after it
    every switch whose move makes the cut narrower.

    Parameters
    ----------
    within : ndarray of int64, shape (channels,)
        Members inside; follows the moves.

    Returns
    -------
    int
        The narrowest cut's width.
    """
    nodes = offsets.size - 1
    width = 0
    for c in range(members.size):
        width += 0 < within[c] < members[c]
    best, narrowest = width, inside.copy()
    rests_until = np.zeros(nodes, np.int64)
    state = np.int64(seed)
    for turn in range(rounds):
        # One host goes out, one comes in; widths count only after both, when the halves are equal.
        for side in range(2):
            chosen, most = -1, -(1 << 60)
            for u in range(hosts):
                if inside[u] != (side == 0) or rests_until[u] > turn:
                    continue
                worth = gain(u, offsets, channels, members, within, inside[u]) << 20
                state = (state * 1103515245 + 12345) & LOTTERY_MASK
                # 20 bits below the gain, which only decide between equal gains: the upper ones,
                # since the lower bits of such a generator repeat soon.
                worth += state >> 11
                if worth > most:
                    chosen, most = u, worth
            if chosen < 0:
                return finish(inside, narrowest, best)
            width -= gain(chosen, offsets, channels, members, within, inside[chosen])
            move(chosen, offsets, channels, within, inside)
            # 3 to 10 turns, longer in large networks; the random part keeps searches from going in
            # circles.
            rests_until[chosen] = turn + 3 + (state >> 28) + hosts // 32
        for u in range(hosts, nodes):
            worth = gain(u, offsets, channels, members, within, inside[u])
            if worth > 0:
                move(u, offsets, channels, within, inside)
                width -= worth
        if width < best:
            best = width
            for u in range(nodes):
                narrowest[u] = inside[u]
    return finish(inside, narrowest, best)


@inlined
def finish(inside, narrowest, best):
    """Leave the narrowest cut."""
    for u in range(inside.size):
        inside[u] = narrowest[u]
    return best
