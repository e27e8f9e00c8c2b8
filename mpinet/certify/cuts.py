"""Cut certificates: what has to get through, and how little does.

Scatter and gather. A gather in T steps is a scatter backwards, so that gathers alone are looked at.
The certificate says since when each node belongs to a set (after step 0: from the beginning). What
processors of the set have at the beginning has to leave it, for the root never belongs to it. It
leaves in a step by a link from a node that belonged before to one that does not belong after. Each
such link and step is worth one item, and so is each bus and step; with one port so is each sender
and each receiver of a step that the certificate names, with all its links and busses. If all are
worth less than there are items, T steps are too few.

A reduce-scatter is a gossip backwards: of each processor follow the last message with which it goes
into an item's sum. Turned round, they bring the item from where it is combined to all, and as many
as before go over a link or bus, out of a node or into one, in a step. A gossip brings what each
processor has to all others, so that the items of all who are in such a set from the beginning have
to leave it, if some processor never belongs to it.

Gossip and exchange. The certificate puts nodes into parts (-1: none). An item enters a part when a
node inside accepts it from a node that is not. In a gossip all items from elsewhere enter every
part that has processors; in an exchange an item enters at least as many parts as on its best way.
With one port each entering link needs its sender or its receiver among those that are named, and no
more items than these enter in a step; else no more than there are such links. A transmission on a
bus enters no more parts than it has members in, in an exchange one: its item is needed in one place
alone. It is counted for its sender, if that is named, else for its bus, but not what receivers who
are named let in, one each.
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
"""Stand-ins for a step of a node that never joins the set, and for the part of a node in none."""


def require_cut(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Raise `CertificateError` unless the cut shows that so many steps are not enough."""
    spread = claim.collective in ("gossip", "reducescatter")
    # Items of an exchange differ by target, so a set that grows in time counts none of them. Parts
    # count each item by its own way.
    if claim.root is None and not (spread and "since" in document):
        _require_parts(claim, network, document)
        return
    since, *gates = read_flow_cut(claim, network, document)
    # The root is the sink of the gather. If it joined the set, items could arrive without leaving
    # the set.
    if claim.root is not None and since[claim.root] != NEVER:
        raise CertificateError("the root belongs to the set that items have to leave.")
    # An item of a gossip may stay in the set for ever, unless some processor outside needs it.
    if NEVER not in since[: network.hosts]:
        raise CertificateError("every processor belongs to the set: no item has to leave it.")
    # Switches have no items. Only a processor that is inside from the beginning counts an item that
    # must leave.
    sources = sum(at == 0 for at in since[: network.hosts])
    require_few_exits(claim, network, since, claim.items * sources, *gates)


def read_flow_cut(
    claim: BoundClaim, network: Network, document: dict[str, Any]
) -> tuple[list[int], Moments, Moments]:
    """Read the step after which each node joins the set, and the named senders and receivers."""
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
    """Raise `CertificateError` unless fewer items can leave the set than have to."""
    # A named node with one port moves one item in its step, over whichever of its links. This
    # covers all exits of the node at once.
    worth, steps = len(senders) + len(receivers), claim.more_than
    for exit_worth in _exits(network, since, steps, senders, receivers):
        worth += exit_worth
        # The check stops as soon as the cut fails: a wrong certificate costs no more than a right
        # one.
        if worth >= items:
            break
    if worth >= items:
        raise CertificateError(
            f"{items} items have to leave the set, and {worth} or more can in {steps} steps: the "
            "cut proves nothing."
        )


Moments = set[tuple[int, int]]
"""Pairs (node, step)."""


def _exits(
    network: Network, since: list[int], steps: int, senders: Moments, receivers: Moments
) -> Iterator[int]:
    """Yield how many items a link or bus lets out of the set in a step, beside the named nodes."""
    # A step beyond the last orders "never" behind every step. The comparisons below then need no
    # special case.
    after = [steps + 1 if at == NEVER else at for at in since]
    for members in filter(None, network.busses):
        # A bus has one transmission a step, however many pairs of its members cross the boundary.
        for step in range(min(after[u] for u in members) + 1, max(after[v] for v in members)):
            left = any(after[u] < step and (u, step) not in senders for u in members)
            yield int(left and any(after[v] > step and (v, step) not in receivers for v in members))
    if network.busses:
        return
    for node, others in enumerate(network.neighbors):
        for other in others:
            # An item that is inside before step s and outside after it has left. The sender joined
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
    # The bound is demand over capacity. Both count entries into parts, so one message that enters
    # two parts is counted twice on both sides.
    needed = claim.items * (_into_parts if spread else _over_ways)(network, parts)
    if needed <= steps * entering:
        raise CertificateError(
            f"items have to enter parts {needed} times, and {entering} can in a step: that takes "
            f"no more than {steps} steps."
        )


def _over_links(
    network: Network, parts: list[int], one_port: bool, senders: set[int], receivers: set[int]
) -> int:
    """Number of items that can enter parts in a step over links."""
    entering = 0
    for node, others in enumerate(network.neighbors):
        for other in others:
            if parts[node] == NOWHERE or parts[node] == parts[other]:
                continue
            entering += network.parallel.get((other, node), 1)
            # With one port the named nodes are a vertex cover of the entering links. Each cover
            # node passes one item a step (weak duality).
            if one_port and other not in senders and node not in receivers:
                raise CertificateError(
                    f"the link from {other} to {node} enters a part, and neither is named as "
                    "sender or receiver."
                )
    return len(senders) + len(receivers) if one_port else entering


def _over_busses(
    network: Network, parts: list[int], single: bool, senders: set[int], receivers: set[int]
) -> int:
    """Number of items that can enter parts in a step over busses; `single`: per transmission."""
    most = {("sender", node): 0 for node in senders}
    for bus, members in enumerate(network.busses):
        # A named receiver pays for what it accepts. Its part is left out here, or the item would be
        # paid for twice.
        inside = {parts[node] for node in members if node not in receivers} - {NOWHERE}
        for node in members:
            entered = len(inside - {parts[node]})
            # A node on several busses sends on one of them in a step. Naming it lets all its busses
            # share one charge.
            gate = ("sender", node) if node in senders else ("bus", bus)
            # A gate makes one transmission a step. The largest effect of any of them bounds the
            # effect of the chosen one.
            most[gate] = max(most.get(gate, 0), min(entered, 1) if single else entered)
    return len(receivers) + sum(most.values())


def _into_parts(network: Network, parts: list[int]) -> int:
    """Number of times that items have to enter parts in a gossip."""
    # Each part with processors needs the items of all other processors, once each, wherever they
    # enter it.
    inside: dict[int, int] = {}
    for part in parts[: network.hosts]:
        inside[part] = inside.get(part, 0) + 1
    return sum(network.hosts - many for part, many in inside.items() if part != NOWHERE)


def _over_ways(network: Network, parts: list[int]) -> int:
    """Number of times that items have to enter parts in an exchange, each on its best path."""
    total = 0
    for source in range(network.hosts):
        fewest = entered(network, parts, source)
        # In a network in pieces an exchange is impossible. A bound for the targets that can be
        # reached would be misleading.
        if len(fewest) < network.size:
            raise CertificateError("the network is not connected: nothing can be said of it.")
        total += sum(fewest[target] for target in range(network.hosts))
    return total


def entered(network: Network, parts: list[int], source: int) -> dict[int, int]:
    """Return how many parts are entered, at least, on a way from a node to each other one."""
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
    # With all ports a node passes many items a step. A gate that counts one would make the bound
    # too large.
    if named and not one_port:
        raise CertificateError("senders and receivers limit nothing where all ports may be used.")


def _nodes(given: object, name: str, size: int) -> set[int]:
    if not are_integers(given, 0, size - 1):
        raise CertificateError(f"its {name} are no list of nodes.")
    return set(given)


def _moments(given: object, name: str, size: int, steps: int) -> Moments:
    if not isinstance(given, list):
        raise CertificateError(f"its {name} are no list of nodes and steps.")
    for each in given:
        pair = isinstance(each, list) and len(each) == 2
        if not pair or not is_integer(each[0], 0, size - 1) or not is_integer(each[1], 1, steps):
            raise CertificateError(f"its {name} are no list of nodes and steps.")
    return {(node, step) for node, step in given}
