"""Cut certificates: lower bounds from the demand across a cut and the cut's capacity.

Scatter and gather: A gather in T steps is a scatter backwards, so only gathers are checked. The
certificate gives the step after which each node belongs to a set (0: from the beginning). The root
never belongs to the set. Items of the set's initial processors must therefore leave the set. An
item leaves in a step over a link. The sender of the link belongs to the set before the step; the
receiver does not belong to the set after the step. Each of these pairs of link and step has a
capacity of one item. The same holds for each pair of bus and step. With one port, the certificate
may name senders and receivers with a step: a named node has a capacity of one item, over all its
links and busses. If the total capacity is below the number of items, T steps are too few.

Reduce-scatter: This is a gossip backwards. For each processor, follow the last message with which
its contribution enters an item's sum. Reversed, these messages bring the item from the place of its
sum to all processors. Per step, the load on each link, bus and node is unchanged. In a gossip, all
items of the set's initial processors must leave the set, provided that some processor never belongs
to it.

Gossip and exchange: The certificate divides nodes into parts (-1: no part). An item enters a part
when a node inside accepts it from a node outside. In a gossip, all items from elsewhere enter every
part with processors. In an exchange, an item enters at least as many parts as on its best path.
With one port, each link into a part needs a named sender or receiver, and per step one item enters
per named node. With all ports, the capacity is the number of links into parts.

Bus transmissions: Per transmission, a gossip item enters at most the parts of the bus's members. An
exchange item enters at most one part, because a single processor needs the item. A transmission is
charged to its sender if the certificate names the sender, otherwise to the bus. A named receiver is
charged once per step. An item accepted by a named receiver is not charged again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from mpinet.certify.claims import BoundClaim
from mpinet.certify.integers import are_integers, is_integer, one_a_node
from mpinet.certify.network import Network
from mpinet.errors import CertificateError

NEVER, NOWHERE = -1, -1
"""Markers: the step of a node that never joins the set, and the part of a node outside all parts.
"""


def require_cut(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Raise `CertificateError` unless the cut proves that the claimed steps are not enough."""
    spread = claim.collective in ("gossip", "reducescatter")
    # Items of an exchange differ by target: a set that grows in time counts none of them. Parts
    # count each item by its own path.
    if claim.root is None and not (spread and "since" in document):
        _require_parts(claim, network, document)
        return
    since, *gates = read_flow_cut(claim, network, document)
    # The root is the sink of the gather. If it joined the set, items could arrive without leaving
    # the set.
    if claim.root is not None and since[claim.root] != NEVER:
        raise CertificateError("the root belongs to the set, which items must leave.")
    # An item of a gossip may stay in the set for ever, unless some processor outside needs it.
    if NEVER not in since[: network.hosts]:
        raise CertificateError("every processor belongs to the set: no item must leave it.")
    # Switches have no items. Only a processor inside from the beginning contributes items that must
    # leave.
    sources = sum(at == 0 for at in since[: network.hosts])
    require_few_exits(claim, network, since, claim.items * sources, *gates)


def read_flow_cut(
    claim: BoundClaim, network: Network, document: dict[str, Any]
) -> tuple[list[int], Moments, Moments]:
    """Parse the step after which each node joins the set, and the named senders and receivers."""
    steps = claim.more_than
    since = one_a_node(document.get("since"), "since", network.size, NEVER, steps)
    senders = _moments(document.get("senders"), "senders", network.size, steps)
    receivers = _moments(document.get("receivers"), "receivers", network.size, steps)
    _require_no_gates(claim.one_port, senders | receivers)
    return since, senders, receivers


def require_few_exits(
    claim: BoundClaim,
    network: Network,
    since: list[int],
    items: int,
    senders: Moments,
    receivers: Moments,
) -> None:
    """Raise `CertificateError` unless fewer items can leave the set than must leave it."""
    # A named node with one port moves one item in its step, over any of its links. This covers all
    # exits of the node at once.
    worth, steps = len(senders) + len(receivers), claim.more_than
    for exit_worth in _exits(network, since, steps, senders, receivers):
        worth += exit_worth
        # The check stops as soon as the cut fails: a wrong certificate costs no more than a right
        # one.
        if worth >= items:
            break
    if worth >= items:
        raise CertificateError(
            f"{items} items must leave the set, but {worth} or more can leave in {steps} steps: "
            "the cut proves nothing."
        )


Moments = set[tuple[int, int]]
"""Pairs (node, step)."""


def _exits(
    network: Network, since: list[int], steps: int, senders: Moments, receivers: Moments
) -> Iterator[int]:
    """Yield the capacity, in items, of each exit of the set in a step, without named nodes."""
    # A step beyond the last orders "never" behind every step. The comparisons below then need no
    # special case.
    after = [steps + 1 if at == NEVER else at for at in since]
    for members in filter(None, network.busses):
        # A bus has one transmission per step, however many pairs of its members cross the boundary.
        for step in range(min(after[u] for u in members) + 1, max(after[v] for v in members)):
            left = any(after[u] < step and (u, step) not in senders for u in members)
            yield int(left and any(after[v] > step and (v, step) not in receivers for v in members))
    if network.busses:
        return
    for node, others in enumerate(network.neighbors):
        for other in others:
            # An item inside before step s and outside after step s has left. The sender joined
            # before s, the receiver joins after s.
            for step in range(after[node] + 1, after[other]):
                if (node, step) not in senders and (other, step) not in receivers:
                    yield network.parallel.get((node, other), 1)


def _require_parts(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    one_port, collective, steps = claim.one_port, claim.collective, claim.more_than
    parts = one_a_node(document.get("parts"), "parts", network.size, NOWHERE, network.size)
    senders = _nodes(document.get("senders"), "senders", network.size)
    receivers = _nodes(document.get("receivers"), "receivers", network.size)
    _require_no_gates(one_port, senders | receivers)
    if network.links:
        entering = _over_links(network, parts, one_port, senders, receivers)
    else:
        entering = _over_busses(network, parts, collective == "exchange", senders, receivers)
    spread = collective in ("gossip", "reducescatter")
    # The bound is demand over capacity. Both count entries into parts: a message that enters two
    # parts counts twice on both sides.
    needed = claim.items * (_into_parts if spread else _over_ways)(network, parts)
    if needed <= steps * entering:
        raise CertificateError(
            f"items must enter parts {needed} times, with {entering} entries per step: this takes "
            f"no more than {steps} steps."
        )


def _over_links(
    network: Network, parts: list[int], one_port: bool, senders: set[int], receivers: set[int]
) -> int:
    """Return the number of items that can enter parts over links in a step."""
    entering = 0
    for node, others in enumerate(network.neighbors):
        for other in others:
            if parts[node] == NOWHERE or parts[node] == parts[other]:
                continue
            entering += network.parallel.get((other, node), 1)
            # With one port the named nodes are a vertex cover of the links into parts. Each cover
            # node passes one item per step (weak duality).
            if one_port and other not in senders and node not in receivers:
                raise CertificateError(
                    f"the link from {other} to {node} enters a part, but neither end is a named "
                    "sender or receiver."
                )
    return len(senders) + len(receivers) if one_port else entering


def _over_busses(
    network: Network, parts: list[int], single: bool, senders: set[int], receivers: set[int]
) -> int:
    """Return the number of items that can enter parts over busses in a step.

    Parameters
    ----------
    single : bool
        True if a transmission enters at most one part (exchange).
    """
    most = {("sender", node): 0 for node in senders}
    for bus, members in enumerate(network.busses):
        # A named receiver pays for the items it accepts. Its part is left out here, or the item
        # would be paid for twice.
        inside = {parts[node] for node in members if node not in receivers} - {NOWHERE}
        for node in members:
            entered = len(inside - {parts[node]})
            # A node on several busses sends on a single bus in a step. All busses of a named node
            # share one charge.
            gate = ("sender", node) if node in senders else ("bus", bus)
            # A gate makes one transmission per step. The largest effect over all its transmissions
            # bounds the effect of the chosen one.
            most[gate] = max(most.get(gate, 0), min(entered, 1) if single else entered)
    return len(receivers) + sum(most.values())


def _into_parts(network: Network, parts: list[int]) -> int:
    """Return the number of entries of items into parts that a gossip requires."""
    # Each part with processors needs the items of all other processors, once each, at any place.
    inside: dict[int, int] = {}
    for part in parts[: network.hosts]:
        inside[part] = inside.get(part, 0) + 1
    return sum(network.hosts - many for part, many in inside.items() if part != NOWHERE)


def _over_ways(network: Network, parts: list[int]) -> int:
    """Return the number of entries of items into parts that an exchange requires, on best paths."""
    total = 0
    for source in range(network.hosts):
        fewest = entered(network, parts, source)
        # In a disconnected network an exchange is impossible. A bound for the reachable targets
        # would be misleading.
        if len(fewest) < network.size:
            raise CertificateError("the network is not connected, so there is no bound.")
        total += sum(fewest[target] for target in range(network.hosts))
    return total


def entered(network: Network, parts: list[int], source: int) -> dict[int, int]:
    """Return the least number of parts entered on a path from `source` to each node."""
    fewest: dict[int, int] = {}
    # Breadth-first search with weights 0 and 1: a hop within a part costs nothing and goes to the
    # front of the queue.
    waiting = deque([(0, source)])
    while waiting:
        entries, node = waiting.popleft()
        if node in fewest:
            continue
        fewest[node] = entries
        for other in network.neighbors[node]:
            if other in fewest:
                continue
            if parts[other] != NOWHERE and parts[other] != parts[node]:
                waiting.append((entries + 1, other))
            else:
                waiting.appendleft((entries, other))
    return fewest


def _require_no_gates(one_port: bool, named: set[Any]) -> None:
    # With all ports a node passes many items per step. A gate for a single item would make the
    # bound too large.
    if named and not one_port:
        raise CertificateError("senders and receivers are no limit if all ports may be used.")


def _nodes(given: object, name: str, size: int) -> set[int]:
    if not are_integers(given, 0, size - 1):
        raise CertificateError(f"the {name} are not a list of nodes.")
    return set(given)


def _moments(given: object, name: str, size: int, steps: int) -> Moments:
    if not isinstance(given, list):
        raise CertificateError(f"the {name} are not a list of nodes and steps.")
    for each in given:
        pair = isinstance(each, list) and len(each) == 2
        if not pair or not is_integer(each[0], 0, size - 1) or not is_integer(each[1], 1, steps):
            raise CertificateError(f"the {name} are not a list of nodes and steps.")
    return {(node, step) for node, step in given}
