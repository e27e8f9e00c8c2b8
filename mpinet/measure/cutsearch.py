"""Search for narrow bisections by exchanging nodes: an upper bound on the bisection width."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.compiled import inlined, kernel

ROUNDS_PER_NODE = 8
"""Number of exchanges per node in a search."""

RANDOM_STARTS = 8
"""Number of random initial cuts in addition to the given cuts."""

LOTTERY_MASK = (1 << 31) - 1
"""Mask of the pseudo-random numbers that break ties between moves (ANSI C's generator)."""

OPERATIONS = 1 << 28
"""Approximate limit on the operations of all searches together."""


class CutHypergraph:
    """The hypergraph to cut: channels with their members.

    Parameters
    ----------
    nodes, hosts : int
        Number of nodes, and number of nodes to be halved (these have the lowest numbers).
    channels, members : ndarray of int64, shape (m,)
        Rows (channel, node), ascending by channel.
    """

    def __init__(self, nodes: int, hosts: int, channels: Ints, members: Ints):
        self.nodes, self.hosts = nodes, hosts
        self.channels, self.members = channels, members
        self.count = int(channels.max(initial=-1)) + 1

    @cached_property
    def of_node(self) -> tuple[Ints, Ints]:
        """Channels of each node, as offsets, shape (nodes + 1,), and channels."""
        order = np.argsort(self.members, kind="stable")
        offsets = np.searchsorted(self.members[order], np.arange(self.nodes + 1))
        return offsets, self.channels[order]

    def by_channel(self) -> list[Ints]:
        """Return the members of each channel."""
        starts = np.searchsorted(self.channels, np.arange(1, self.count))
        return np.split(self.members, starts)

    def width(self, inside: Flags) -> int:
        """Return the number of channels with members both inside and outside."""
        within = np.bincount(self.channels, weights=inside[self.members], minlength=self.count)
        members = np.bincount(self.channels, minlength=self.count)
        return int(((within > 0) & (within < members)).sum())


def best_cut(cuts: CutHypergraph, starts: Sequence[Flags], enough: int = 0) -> Flags:
    """Return the narrowest bisection found by a tabu search from several initial cuts.

    Parameters
    ----------
    cuts : CutHypergraph
        The network.
    starts : sequence of ndarray of bool, shape (nodes,)
        Cuts with half of the hosts (rounded down) inside.
    enough : int
        A lower bound on the width; the search ends at a cut of this width.
    """
    # A search by exchanges ends in a local optimum. Structured starts find regular cuts, random
    # starts find irregular cuts.
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
    """Return cuts with random halves of the hosts and random switches inside; always the same."""
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
    """Return the reduction of the cut's width if the node moves to the other side."""
    total = 0
    for e in range(offsets[node], offsets[node + 1]):
        c = channels[e]
        same = within[c] if here else members[c] - within[c]
        # All members of the channel are on this side: the move cuts the channel, unless the node is
        # its only member.
        if same == members[c]:
            total -= members[c] > 1
        elif same == 1:
            # The last member on this side: the channel is no longer cut.
            total += 1
    return total


@inlined
def move(node, offsets, channels, within, inside):
    """Move a node to the other side."""
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
    """Repeatedly exchange a host inside for a host outside; return and leave the narrowest cut.

    The best host among those not moved recently is exchanged, even if the cut gets wider.
    Afterwards every switch moves if this makes the cut narrower.

    Parameters
    ----------
    within : ndarray of int64, shape (channels,)
        Number of members inside, updated with each move.

    Returns
    -------
    int
        Width of the narrowest cut.
    """
    nodes = offsets.size - 1
    width = 0
    for c in range(members.size):
        width += 0 < within[c] < members[c]
    best, narrowest = width, inside.copy()
    rests_until = np.zeros(nodes, np.int64)
    state = np.int64(seed)
    for turn in range(rounds):
        # One host goes out, one comes in; widths count only after both moves, when the halves are
        # equal.
        for side in range(2):
            chosen, most = -1, -(1 << 60)
            for u in range(hosts):
                if inside[u] != (side == 0) or rests_until[u] > turn:
                    continue
                worth = gain(u, offsets, channels, members, within, inside[u]) << 20
                state = (state * 1103515245 + 12345) & LOTTERY_MASK
                # 20 bits below the gain, which only decide between equal gains. The upper bits are
                # used, because the lower bits of such a generator repeat soon.
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
    """Copy the narrowest cut to `inside`, and return its width."""
    for u in range(inside.size):
        inside[u] = narrowest[u]
    return best
