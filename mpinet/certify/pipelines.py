"""Certificates of many items: a cut in time, a node that leaves pieces, messages of an allreduce.

A broadcast of M items brings M items from the root to every processor. The certificate of a flow
says since when each node belongs to a set: the root from the beginning, some processor never. All M
items have to leave the set, by as few links, busses and steps as `mpinet.certify.cuts` counts. A
reduction is that backwards. An allreduce brings what any one processor has of each item to all
others: any may be in place of the root.

With one port, a node without which the network falls into pieces sends all items into each piece
that it cuts off from the root, one a step, and not before it has them. What it sends last has to go
on to the farthest processor of its piece. In an allreduce the message that brings a piece the last
of what is outside leaves the node when all of that has come to it: from the farthest processor of
the other pieces, and by a message of each of them, of which it accepts one a step.

An item of an allreduce takes so many messages: before anybody knows all, N - 1 others have sent,
and each message then tells one (on a bus all members but one). With switches: each of N sends one.
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
    """Raise `CertificateError` unless a cut shows that so many steps are not enough."""
    # A cut vertex bounds a one-port pipeline by itself: all items pass through the node once for
    # each piece behind it.
    if "node" in document:
        _require_node(claim, network, document["node"])
        return
    if "since" not in document:
        raise CertificateError(
            f"a cut of {claim.collective} names a node, or since when nodes belong."
        )
    since, *gates = read_flow_cut(claim, network, document)
    # Items start at the root. If the root joined the set later, the items would not have to leave
    # the set.
    sources = [at for at, begin in enumerate(since[: network.hosts]) if begin == 0]
    if not sources or (claim.root is not None and claim.root not in sources):
        raise CertificateError("the root does not belong to the set from the beginning.")
    if NEVER not in since[: network.hosts]:
        raise CertificateError("every processor belongs to the set: no item has to leave it.")
    require_few_exits(claim, network, since, claim.items, *gates)


def _require_node(claim: BoundClaim, network: Network, node: object) -> None:
    if not claim.one_port:
        raise CertificateError("a node limits nothing where all ports may be used.")
    if not is_integer(node, 0, network.size - 1):
        raise CertificateError("the node that it names is none of the network's.")
    away, bounds = network.distances(node), list[tuple[int, int]]()
    pieces = list(_pieces(network, node))
    depths = [max((away[at] for at in piece if at < network.hosts), default=0) for piece in pieces]
    if claim.root is None:
        # A piece of switches alone has depth 0. It has no processor to inform, so it asks nothing
        # of the node.
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
            f"node {node} can send all items into its pieces so that they are everywhere after "
            f"{needed} steps: that takes no more than {claim.more_than}."
        )


def _last_arrival(pieces: list[tuple[int, int]], items: int) -> int:
    """Least sum of steps before an item can leave for a piece and hops to the end of the piece."""
    needed = 0
    # The one-machine bound with heads and tails (Carlier 1982): for each tail, all pieces with at
    # least that tail share the node's one port.
    for _, least in pieces:
        deep = [ready for ready, depth in pieces if depth >= least]
        needed = max(needed, min(deep) + items * len(deep) + least - 1)
    return needed


def _pieces(network: Network, node: int) -> Iterator[set[int]]:
    """Yield the connected pieces that remain without a node."""
    left = set(range(network.size)) - {node}
    # The pieces are found by flooding, since the certificate names the node alone and its pieces
    # are not trusted.
    while left:
        piece, wave = set(), {left.pop()}
        while wave:
            piece |= wave
            wave = {v for u in wave for v in network.neighbors[u]} - piece - {node}
        left -= piece
        yield piece


def require_many_hops(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Raise `CertificateError` unless an allreduce's messages take more than so many steps."""
    if claim.collective != "allreduce":
        raise CertificateError("hops of items are counted for allreduce.")
    hosts, steps = network.hosts, claim.more_than
    if network.links:
        # With switches, only messages that processors send are counted as needed. So only the
        # processors' channels count as room.
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
            f"{claim.items} items take {messages} messages each, and there can be {room} in a "
            f"step: that takes no more than {steps} steps."
        )
