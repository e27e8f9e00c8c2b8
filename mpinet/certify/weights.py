"""Certificates by several weighted cuts: the demand of a one-port gossip into each set.

The items of all processors outside must enter every set of nodes that has processors. A message
over the link from u to v brings an item into each set with v but without u. The value of the
message is the sum of the weights of these sets. The certificate gives each node a charge for
sending a message, and a charge for accepting a message. Both ends together charge at least the
value of the message. In a step a node sends and accepts a single message. A step therefore moves at
most the sum of all charges. A single cut with parts is the case with all weights 1 and disjoint
sets (`mpinet.certify.cuts`).

A reduce-scatter is a gossip backwards. With the directions of all messages reversed, the same
numbers hold, with the charges for sending and for accepting exchanged.
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
    """Raise `CertificateError` unless weighted cuts prove that the claimed steps are not enough."""
    # Weighted sets rely on every item being needed everywhere. This is true of a gossip, and
    # backwards of a reduce-scatter.
    spread = claim.collective in ("gossip", "reducescatter")
    if not spread or not claim.one_port or not network.links:
        raise CertificateError("weighted cuts are for one-port gossips on links.")
    cuts = document.get("cuts")
    if not isinstance(cuts, list) or not cuts:
        raise CertificateError("the cuts are not a list.")
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
                    # A message enters all sets with the receiver but without the sender. Its value
                    # is the sum of their weights.
                    worth[other, node] = worth.get((other, node), 0) + weight
    for (sender, receiver), value in worth.items():
        # This is dual feasibility: no schedule moves more value in a step than the sum of all
        # charges.
        if value > charges[0][sender] + charges[1][receiver]:
            raise CertificateError(
                f"a message from {sender} to {receiver} has value {value}, more than the "
                "charges of both ends."
            )
    # A node sends and accepts a single message, and each charge is paid at most once per step.
    charged = sum(map(sum, charges))
    if needed * claim.items <= claim.more_than * charged:
        raise CertificateError(
            f"items of value {needed * claim.items} must enter the sets, at most {charged} per "
            f"step: this takes no more than {claim.more_than} steps."
        )


def _cut(cut: object, size: int) -> tuple[set[int], int]:
    """Parse a set of nodes and its weight."""
    nodes = cut.get("nodes") if isinstance(cut, dict) else None
    weight = cut.get("weight") if isinstance(cut, dict) else None
    if not are_integers(nodes, 0, size - 1):
        raise CertificateError("a cut has no list of nodes.")
    if not is_integer(weight, 0, MOST):
        raise CertificateError("a cut's weight is not a whole number.")
    return set(nodes), weight
