"""Certificates for several simultaneous groups: their combined demand into a set of nodes.

Each group runs the same collective. Items that start outside the set and are needed inside must
enter the set, with at most one message per incoming link and step. With one port, each node inside
accepts a single message per step, and each node outside sends a single message. The capacity is
therefore also limited by the number of nodes inside with an incoming link, and of nodes outside
with a link into the set.
"""

from __future__ import annotations

from typing import Any

from mpinet.certify.claims import BoundClaim
from mpinet.certify.integers import are_integers
from mpinet.certify.network import Network
from mpinet.errors import CertificateError


def require_joint_cut(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Raise `CertificateError` unless the set proves that the claimed steps are not enough."""
    if not network.links:
        raise CertificateError("several groups need a network of links.")
    groups, root = claim.groups or (), claim.root
    for group in groups:
        # A switch has no items. Counted as a member it would raise the demand without any message
        # behind it.
        if max(group) >= network.hosts or (root is not None and root >= len(group)):
            raise CertificateError(
                "a group has a member that is not a processor, or lacks the root."
            )
    given = document.get("inside")
    if not are_integers(given, 0, network.size - 1):
        raise CertificateError("inside is not a list of nodes.")
    inside = set(given)
    entering = (_entering(claim.collective, root, group, inside) for group in groups)
    needed = claim.items * sum(entering)
    links, heads, tails = 0, set[int](), set[int]()
    for node in inside:
        for other in network.neighbors[node]:
            if other not in inside:
                # Parallel links carry a message each. The cut's capacity counts cables, while heads
                # and tails count nodes.
                links += network.parallel.get((other, node), 1)
                heads.add(node)
                tails.add(other)
    # Each of the three is an upper bound on the messages into the set per step; the least bound
    # counts.
    room = min(links, len(heads), len(tails)) if claim.one_port else links
    if needed <= claim.more_than * room:
        raise CertificateError(
            f"{needed} messages must enter the set, at {room} per step: this takes no "
            f"more than {claim.more_than} steps."
        )


def _entering(collective: str, root: int | None, group: tuple[int, ...], inside: set[int]) -> int:
    """Return the least number of messages per item that must enter the set for a group."""
    within = sum(member in inside for member in group)
    outside = len(group) - within
    # A group on one side of the cut needs no message across it, for any collective.
    if within == 0 or outside == 0:
        return 0
    rooted = root is not None and group[root] in inside
    return {
        # The demand of one item, with as few messages as any algorithm can use: copying inside the
        # set and adding before the cut are free.
        "gossip": outside,
        "reducescatter": within,
        "exchange": within * outside,
        "allreduce": 1,
        "broadcast": int(not rooted),
        "reduce": int(rooted),
        "scatter": 0 if rooted else within,
        "gather": outside if rooted else 0,
    }[collective]
