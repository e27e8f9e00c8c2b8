"""What the points have in common at which claims fail; where nothing is named, nothing is known."""

from __future__ import annotations

from itertools import pairwise
from math import prod

from mpinet.claims.paper import Failing
from mpinet.papers.grids import numbers
from mpinet.papers.hdn.bisection import width_in_cluster
from mpinet.papers.hdn.diameter import is_doubled
from mpinet.papers.hdn.grids import Net, covers_base, is_not_nested, net, read_members
from mpinet.papers.hdn.ratio import covers_at_last

FIRST_IS_BASE = ("SN^1 = B", covers_base)


def has_inner_supernode(topology: str) -> bool:
    """Whether a level below the highest has a super-node of more than one node."""
    found = net(topology)
    return any(found.s(level) > 1 for level in range(1, found.k))


def grows(topology: str) -> bool:
    """Whether some level's super-node is not contained in that of the level below."""
    return any(set(high) - set(low) for low, high in pairwise(net(topology).members))


def is_outside(topology: str, members: str) -> bool:
    """Whether a super-node is not contained in that of every level."""
    inner = set(read_members(members))
    return any(inner - set(below) for below in net(topology).members)


def is_bracketed_otherwise(topology: str) -> bool:
    """Whether super-nodes have other nodes, but for two copies of a complete graph."""
    found = net(topology)
    doubled = found.k == 1 and covers_base(topology) and found.diameter(found.all) == 1
    return any(found.s(level) > 1 for level in range(1, found.k + 1)) and not doubled


def lands_far(topology: str) -> bool:
    """Whether k = 2, and SN^2 has two nodes two hops apart outside SN^1."""
    found = net(topology)
    if found.k != 2:
        return False
    return found.diameter(tuple(sorted(set(found.members[1]) - set(found.members[0])))) >= 2


def outweighs_first(topology: str) -> bool:
    """Whether k = 2 and what SN^2 has beyond SN^1 takes no less time than the other way round."""
    found = net(topology)
    if found.k != 2:
        return False
    first, second = map(set, found.members)
    beyond, lacking = (found.broadcast(tuple(part)) for part in (second - first, first - second))
    return bool(second - first) and beyond >= lacking


def leaves_odd_ring(topology: str) -> bool:
    """Whether SN^1 is the whole base, or lacks a ring of an odd number of nodes."""
    found = net(topology)
    outside = found.parts(tuple(set(found.all) - set(found.members[0])))
    return not outside or any(kind == "C" and size % 2 == 1 for kind, size in outside)


def exceeds_in_recurrence(topology: str) -> bool:
    """Whether 2 T(SN^k) + 3 T(SN^{k-1}) + .. exceeds what the bound has left, for k = 2, 3."""
    found = net(topology)
    times = [found.broadcast(members) for members in found.members]
    if found.k == 2:
        return 2 * times[1] > times[0]
    return 2 * times[2] + 3 * times[1] > 2 * times[0]


def is_narrow_in_cluster(topology: str) -> bool:
    """Whether half of a cluster's super-nodes hang on fewer links than N_{k-1}/2."""
    found = net(topology)
    return 2 * width_in_cluster(topology) < found.nodes(found.k - 1)


def has_two_odd_rings(topology: str) -> bool:
    """Whether two factors are rings of an odd number of nodes."""
    return sum(kind == "C" and size % 2 == 1 for kind, size in net(topology).base) > 1


def times_multiply(topology: str) -> bool:
    """Whether the sum of the factors' times is their product."""
    found: Net = net(topology)
    times = [found.broadcast((j,)) for j in found.all]
    return sum(times) == prod(times)


FAILING: Failing = {
    "HDN-S1-symmetric": ("some SN^(i+1) is not contained in SN^i", grows),
    "HDN-Th1-nodes": ("some SN^i, i < k, has more than one node", has_inner_supernode),
    "HDN-S3-quotient-diameter": ("the super-node is not contained in every SN^j", is_outside),
    "HDN-S3-diameter-recurrence": ("k = 1 and SN^1 = B", is_doubled),
    "HDN-Th1-diameter": FIRST_IS_BASE,
    "HDN-S3-cr-monotone": ("s_1 grows to 30, so that SN^1 = B", covers_at_last),
    "HDN-Tab2-hdn-diameter": (
        "some SN^i has more than one node, and it is not two copies of a complete graph",
        is_bracketed_otherwise,
    ),
    "HDN-Tab2-torus3d": (
        "some side is odd, or has two nodes",
        lambda topology: any(side % 2 or side == 2 for side in sides(topology)),
    ),
    "HDN-Tab2-ccc": ("n > 5", lambda topology: numbers(topology)[0] > 5),
    "HDN-S3-bisection": (
        "fewer than N_{k-1}/2 links part half of the SN^k of a cluster from the others: as many "
        "times n_k part the network",
        is_narrow_in_cluster,
    ),
    "HDN-B-product": ("two factors are odd rings", has_two_odd_rings),
    "HDN-S4-snid-range": ("SN^1 is not the whole base", lambda topology: not covers_base(topology)),
    "HDN-Th2-bound": ("k = 2 and SN^2 has two nodes two hops apart outside SN^1", lands_far),
    "HDN-Th2-recursive-call": ("SN^2 has two nodes two hops apart outside SN^1", lands_far),
    "HDN-S5-T-product": (
        "the sum of the factors' times is not their product",
        lambda topology: not times_multiply(topology),
    ),
    "HDN-A2-complete": ("some SN^i is not contained in SN^(i+1)", is_not_nested),
    "HDN-A2-steps": (
        "k = 2, SN^2 is not contained in SN^1, and T(SN^2 - SN^1) >= T(SN^1 - SN^2)",
        outweighs_first,
    ),
    "HDN-B-broadcast": ("SN^1 = B, or an odd ring is outside SN^1", leaves_odd_ring),
    "HDN-Th3-recurrence": (
        "k = 2 and 2 T(SN^2) > T(SN^1), or k = 3 and 2 T(SN^3) + 3 T(SN^2) > 2 T(SN^1)",
        exceeds_in_recurrence,
    ),
}
"""By id: in words, and as a predicate of a point."""


def sides(topology: str) -> list[int]:
    """The sides of a torus."""
    return [int(side) for side in topology.partition(":")[2].split("x")]
