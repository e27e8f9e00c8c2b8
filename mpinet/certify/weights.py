"""Certificates by several cuts with weights: what a gossip of one port has to bring into each.

Into every set of nodes that has processors, the items of all others have to come. A message over
the link from u to v brings an item into those of the sets that have v and not u: it is worth their
weights. The certificate gives each node what it charges for a message that it sends, and for one
that it accepts; both ends together charge no less than what the message is worth. In a step a node
sends one message and accepts one, so that no more worth goes than all nodes charge. One cut with
parts is the case in which all weights are 1, and no two sets share a node (`mpinet.certify.cuts`).

A reduce-scatter is a gossip backwards: with the directions of all messages turned round, the same
numbers hold, what a node charges for sending being what it charged for accepting.
"""

from __future__ import annotations

from typing import Any

from mpinet.certify.claims import BoundClaim
from mpinet.certify.integers import are_integers, is_integer, one_a_node
from mpinet.certify.network import Network
from mpinet.errors import CertificateError

MOST = 2**40 - 1
"""Largest weight or charge."""


def require_weighted_cuts(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Raise `CertificateError` unless weighted cuts show that so many steps are not enough."""
    # Weighted sets use that every item is needed everywhere. That is true of a gossip, and
    # backwards of a reduce-scatter.
    spread = claim.collective in ("gossip", "reducescatter")
    if not spread or not claim.one_port or not network.links:
        raise CertificateError("cuts with weights are for gossips of one port over links.")
    cuts = document.get("cuts")
    if not isinstance(cuts, list) or not cuts:
        raise CertificateError("its cuts are no list.")
    charges = [
        one_a_node(document.get(name), name, network.size, 0, MOST) for name in ("sends", "accepts")
    ]
    worth, needed = dict[tuple[int, int], int](), 0
    for cut in cuts:
        inside, weight = _cut(cut, network.size)
        members = sum(node < network.hosts for node in inside)
        # A set of switches alone needs no item, so its weight must not add demand.
        needed += weight * (network.hosts - members) * (members > 0)
        for node in inside:
            for other in network.neighbors[node]:
                if other not in inside:
                    # One message enters all sets that have the receiver but not the sender. It is
                    # worth the sum of their weights.
                    worth[other, node] = worth.get((other, node), 0) + weight
    for (sender, receiver), value in worth.items():
        # This is dual feasibility. With it no schedule moves more worth in a step than all charges
        # together.
        if value > charges[0][sender] + charges[1][receiver]:
            raise CertificateError(
                f"a message from {sender} to {receiver} is worth {value}, more than both charge."
            )
    # A node sends one message and accepts one, so each charge is paid at most once a step.
    charged = sum(map(sum, charges))
    if needed * claim.items <= claim.more_than * charged:
        raise CertificateError(
            f"items worth {needed * claim.items} have to enter the sets, and {charged} can in a "
            f"step: that takes no more than {claim.more_than} steps."
        )


def _cut(cut: object, size: int) -> tuple[set[int], int]:
    """Read a set of nodes and its weight."""
    nodes = cut.get("nodes") if isinstance(cut, dict) else None
    weight = cut.get("weight") if isinstance(cut, dict) else None
    if not are_integers(nodes, 0, size - 1):
        raise CertificateError("a cut has no list of nodes.")
    if not is_integer(weight, 0, MOST):
        raise CertificateError("a cut's weight is no whole number.")
    return set(nodes), weight
