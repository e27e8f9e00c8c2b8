"""Certificates of many items: a cut in time, a cut vertex, or the messages of an allreduce.

Cut in time: A broadcast of M items brings M items from the root to every processor. The certificate
gives, for each node, the step after which it belongs to a set: the root from the beginning, some
processor never. All M items must leave the set through the links, busses and steps counted in
`mpinet.certify.cuts`. A reduction is a broadcast backwards. An allreduce brings the contribution of
any processor to all other processors, and any processor may take the place of the root.

Cut vertex: Without this node the network falls into pieces. With one port, the node sends all items
into each piece without the root, one item per step, and only after receiving the items. The last
item must still travel to the farthest processor of its piece. In an allreduce, the last message
into a piece leaves the node only after the contributions of all other pieces have arrived there.
These contributions come from the farthest processor of the pieces, with at least one message per
piece. The node accepts one message per step.

Messages: An item of an allreduce takes a minimum number of messages. Before any processor knows the
result, N - 1 processors have sent a message. Afterwards each message informs one processor (on a
bus all members but one). With switches, each of N processors sends one message.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mpinet.certify.claims import BoundClaim
from mpinet.certify.cuts import NEVER, read_flow_cut, require_few_exits
from mpinet.certify.integers import is_integer
from mpinet.certify.network import Network
from mpinet.errors import CertificateError


def require_pipeline_cut(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Raise `CertificateError` unless a cut proves that the claimed steps are not enough."""
    # A cut vertex alone bounds a one-port pipeline: all items pass through the node once for each
    # piece behind it.
    if "node" in document:
        _require_node(claim, network, document["node"])
        return
    if "since" not in document:
        raise CertificateError(f"a cut of {claim.collective} needs a field node or since.")
    since, *gates = read_flow_cut(claim, network, document)
    # Items start at the root. If the root joined the set later, the items would not have to leave
    # the set.
    sources = [at for at, begin in enumerate(since[: network.hosts]) if begin == 0]
    if not sources or (claim.root is not None and claim.root not in sources):
        raise CertificateError("the root does not belong to the set from the beginning.")
    if NEVER not in since[: network.hosts]:
        raise CertificateError("every processor belongs to the set: no item must leave it.")
    require_few_exits(claim, network, since, claim.items, *gates)


def _require_node(claim: BoundClaim, network: Network, node: object) -> None:
    if not claim.one_port:
        raise CertificateError("a node is no limit if all ports may be used.")
    if not is_integer(node, 0, network.size - 1):
        raise CertificateError("the named node is not in the network.")
    away, bounds = network.distances(node), list[tuple[int, int]]()
    pieces = list(_pieces(network, node))
    depths = [max((away[at] for at in piece if at < network.hosts), default=0) for piece in pieces]
    if claim.root is None:
        # A piece of switches alone has depth 0. It has no processor to inform, and needs nothing
        # from the node.
        depths = [depth for depth in depths if depth > 0]
        ready = [
            max(len(depths) - 1, max(depths[:which] + depths[which + 1 :], default=0))
            for which in range(len(depths))
        ]
        bounds = list(zip(ready, depths, strict=True)) if len(depths) > 1 else []
    else:
        behind = [
            depth for depth, piece in zip(depths, pieces, strict=True) if claim.root not in piece
        ]
        bounds = [(away[claim.root], depth) for depth in behind if depth > 0]
    needed = _last_arrival(bounds, claim.items)
    if needed <= claim.more_than:
        raise CertificateError(
            f"node {node} can send all items to the ends of its pieces in {needed} steps: "
            f"this takes no more than {claim.more_than}."
        )


def _last_arrival(pieces: list[tuple[int, int]], items: int) -> int:
    """Return the least number of steps until all items have reached the ends of all pieces.

    Parameters
    ----------
    pieces : list of (int, int)
        For each piece: steps before the first item can leave the node for it, and hops from the
        node to its end.
    items : int
        Number of items for each piece.
    """
    needed = 0
    # The one-machine bound with heads and tails (Carlier 1982): for each tail, all pieces with at
    # least this tail share the node's one port.
    for _, least in pieces:
        deep = [ready for ready, depth in pieces if depth >= least]
        needed = max(needed, min(deep) + items * len(deep) + least - 1)
    return needed


def _pieces(network: Network, node: int) -> Iterator[set[int]]:
    """Yield the connected pieces of the network without a node."""
    left = set(range(network.size)) - {node}
    # The pieces are found by flooding: the certificate names only the node, and the checker does
    # not trust it.
    while left:
        piece, wave = set(), {left.pop()}
        while wave:
            piece |= wave
            wave = {v for u in wave for v in network.neighbors[u]} - piece - {node}
        left -= piece
        yield piece


def require_many_hops(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Raise `CertificateError` unless an allreduce's messages take more than the claimed steps."""
    if claim.collective != "allreduce":
        raise CertificateError("the kind hops is only for allreduce.")
    hosts, steps = network.hosts, claim.more_than
    if network.links:
        # With switches, only messages sent by processors are counted as needed. Therefore only the
        # processors' channels count as capacity.
        told, room = 1, sum(network.channels(node) for node in range(hosts))
    else:
        seats = [len(bus) for bus in network.busses if len(bus) > 1]
        told, room = max(seats, default=2) - 1, len(seats)
    # When the first node knows the sum, all others have sent. From the last of these messages on,
    # each message completes at most `told` nodes.
    messages = hosts if network.size > hosts else hosts - 2 + -(-hosts // told)
    room = min(room, hosts) if claim.one_port else room
    if hosts == 1 or messages * claim.items <= steps * room:
        raise CertificateError(
            f"{claim.items} items take {messages} messages each, at {room} messages per "
            f"step: this takes no more than {steps} steps."
        )
