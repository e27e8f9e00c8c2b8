"""Lower bounds for several concurrent groups: all messages that enter a part of a fabric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.networks.adjacency import Adjacency, measure_all
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound

MOST_NODES = 2**9
"""Maximum number of nodes of a fabric whose parts are examined."""


@dataclass(frozen=True, eq=False)
class Demand:
    """A collective of a group."""

    collective: str
    """Name of the collective."""
    members: Ints
    """Processors of the group on the fabric, the root first if there is one. Shape (k,)."""
    items: int
    """Number of items, as in `move_items`; 1 for a collective without items."""

    def entering(self, inside: Ints, root_inside: Flags) -> Ints:
        """Return the minimum number of messages that enter each part.

        Parameters
        ----------
        inside : ndarray of int64, shape (p,)
            Number of members in each part.
        root_inside : ndarray of bool, shape (p,)
            True if the part contains the root.
        """
        outside = len(self.members) - inside
        # A group completely on one side needs nothing from the other side.
        split = (inside > 0) & (outside > 0)
        one = np.ones_like(inside)
        needed = {
            # Each outside item must enter once: inside, copies are free for the bound.
            "gossip": outside,
            "reducescatter": inside,
            # Combining lets one message carry all outside contributions of an item.
            "allreduce": one,
            "broadcast": one * ~root_inside,
            "reduce": one * root_inside,
            "scatter": np.where(root_inside, 0, inside),
            "gather": np.where(root_inside, outside, 0),
            # Items of pairs are all different, so neither copies nor sums help.
            "exchange": inside * outside,
        }[self.collective]
        found: Ints = np.where(split, needed, 0) * self.items
        return found


def joint_cut(
    fabric: Topology, one_port: bool, demands: Sequence[Demand]
) -> tuple[Bound, list[int]]:
    """Return a lower bound from messages that enter the nodes nearest to a node, or all others.

    Each link into a part carries one message per step. With one port, each node inside such a link
    receives one message per step, and each node outside sends one. Busses are not considered.

    Parameters
    ----------
    fabric : Topology
        Network of all groups.
    one_port : bool
        If True, a node sends and receives at most one message per step.
    demands : sequence of Demand
        Concurrent collectives of the groups.

    Returns
    -------
    bound : Bound
        Lower bound of the steps.
    inside : list of int
        Nodes of the part.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> pairs = [Demand("exchange", np.array([u, u + 4]), 1) for u in range(4)]
    >>> joint_cut(open("mesh:2x4"), False, pairs)[0]
    1
    >>> joint_cut(open("ring:8"), False, pairs)
    (2, [0, 1, 7])
    """
    best, cut = 0, list[int]()
    if not fabric.links or fabric.size > MOST_NODES:
        return Bound(best, "joint"), cut
    size, lists = fabric.size, Adjacency.of(fabric, parallel=True)
    hops = np.full((size, size), -1, np.int64)
    measure_all(lists.begin, lists.others, hops)
    tails, heads = np.repeat(np.arange(size), lists.degrees), lists.others.astype(np.int64)
    # Balls around a node are cuts with few entries. Prefix sums evaluate all balls around one
    # centre at once, because a search over all sets would be exponential.
    for source in range(size):
        place = np.empty(size, np.int64)
        place[np.argsort(hops[source], kind="stable")] = np.arange(size)
        room = _room(place, tails, heads, one_port)
        near, far = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
        for one in demands:
            inside = np.cumsum(np.bincount(place[one.members] + 1, minlength=size + 1))
            # A ball of c nodes holds the places below c.
            root_inside = np.arange(size + 1) > place[one.members[0]]
            near += one.entering(inside, root_inside)
            far += one.entering(len(one.members) - inside, ~root_inside)
        # Each ball and its complement are both evaluated as the inside; the number of links is
        # equal in both directions.
        needed = np.maximum(near, far)[1:size]
        steps = -(-needed // np.maximum(room[1:size], 1))
        if steps.max(initial=0) > best:
            count = 1 + int(steps.argmax())
            best, first = int(steps.max()), near[count] >= far[count]
            cut = np.flatnonzero((place < count) == first).tolist()
    return Bound(best, "joint"), cut


def _room(place: Ints, tails: Ints, heads: Ints, one_port: bool) -> Ints:
    """Return for each k the number of messages per step that can enter the first k nodes."""
    size = len(place)
    # A link enters exactly the balls that contain its head and not yet its tail: a range of sizes.
    inwards = place[heads] < place[tails]
    inner, outer = place[heads[inwards]], place[tails[inwards]]
    begins = [(inner, outer)]
    if one_port:
        last, first = np.zeros(size, np.int64), np.full(size, size)
        np.maximum.at(last, inner, outer)
        np.minimum.at(first, outer, inner)
        every = np.arange(size)
        begins += [(every[last > every], last[last > every])]
        begins += [(first[first < every], every[first < every])]
    found = []
    for since, until in begins:
        # Ranges are summed by their ends, so all balls together cost one pass.
        change = np.bincount(since + 1, minlength=size + 2) - np.bincount(
            until + 1, minlength=size + 2
        )
        found.append(np.cumsum(change)[: size + 1])
    least: Ints = np.minimum.reduce(found)
    return least
