"""Explanation of a deadlock: who waits for whom, and where in the program.

Of the processors that a processor waits for, the first that waits, too, is looked at next; what
comes out is a cycle of processors that wait for one another, or a chain that ends at a processor
which has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from mpinet.base.arrays import Flags
from mpinet.errors import Deadlock
from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.process.actions import ROUTED, ReceiveEach
from mpinet.process.hosting import Hosting
from mpinet.process.node import Node
from mpinet.process.telling import agreed, gathered_of
from mpinet.process.where import suspended_at

SHOWN = 12
"""Most processors of a cycle that are described."""

PORTS_SHOWN = 6
"""Most ports that are listed."""

NOBODY = -1

ChainOf = Callable[[dict[int, Any]], tuple[list[int], bool]]


def explain(machine: Machine, hosting: Hosting, nodes: Sequence[Node | None]) -> NoReturn:
    """Explain why processors wait in vain (collective, when no message is in flight).

    Raises
    ------
    Deadlock
        The same text on every rank.
    """
    waiting = {node.id: node for node in nodes if node is not None}
    stuck = all_waiting(machine, list(waiting))
    transport = machine.transport
    others = {number: _next(hosting, node, stuck) for number, node in waiting.items()}
    chain, closed, total = found_chain(transport, others)
    heading = _heading(hosting.step, total, len(chain) if closed else 0)
    own = {one: _line(hosting, waiting[one], stuck) for one in chain[:SHOWN] if one in waiting}
    raise Deadlock(described(transport, heading, chain, own))


def found_chain(
    transport: Local, waits: Mapping[int, Any], chain_of: ChainOf | None = None
) -> tuple[list[int], bool, int]:
    """Find the processors that explain why none goes on, the same on every rank (collective).

    Parameters
    ----------
    transport : Local
        The ranks.
    waits : mapping
        What each of this rank's waiting processors waits for.
    chain_of : callable, optional
        Finds the processors in what those of all ranks wait for (default: `cycle_or_chain`).

    Returns
    -------
    (list of int, bool, int)
        The processors, whether they are a cycle, and the number of those that wait.
    """
    whole = gathered_of(transport, waits)
    found = (chain_of or cycle_or_chain)(whole) if whole else ([], False)
    chain, closed, total = agreed(transport, (*found, len(whole)))
    return chain, closed, total


def described(transport: Local, heading: str, chain: Sequence[int], own: Mapping[int, str]) -> str:
    """Return a heading with a line for each processor of a chain, of all ranks (collective)."""
    lines = gathered_of(transport, own)
    rest = [f"  .. and {len(chain) - SHOWN} more"] if len(chain) > SHOWN else []
    parts = [lines[number] for number in chain[:SHOWN] if number in lines]
    return str(agreed(transport, "\n".join([heading, *parts, *rest])))


def first_stuck(others: Iterable[int], stuck: Flags) -> int:
    """The first of those that a processor waits for who waits, too, otherwise the first."""
    some = list(others)
    return next((other for other in some if stuck[other]), some[0] if some else NOBODY)


def cycle_or_chain(following: Mapping[int, int]) -> tuple[list[int], bool]:
    """Find a cycle, from its lowest member on, or a chain, in the map from each to its awaited one.

    Returns
    -------
    list of int
        The cycle that the lowest processor leads to whose way ends in one, or, without any cycle,
        the way from the lowest processor to its end.
    bool
        Whether it is a cycle.
    """
    seen: dict[int, int] = {}
    for first in sorted(following):
        way, node = [], first
        # Every processor is visited once in all, because a way that meets an earlier one ends
        # there.
        while node in following and node not in seen:
            seen[node] = first
            way.append(node)
            node = following[node]
        if node in following and seen[node] == first:
            cycle = way[way.index(node) :]
            # A cycle has no first member. It is told from its lowest on, so that the text does not
            # depend on where the search entered it.
            lowest = cycle.index(min(cycle))
            return cycle[lowest:] + cycle[:lowest], True
    way, node = [], min(following)
    while node in following:
        way.append(node)
        node = following[node]
    return way, False


def all_waiting(machine: Machine, own: list[int]) -> Flags:
    """Tell if each processor waits (collective)."""
    size = machine.topology.size
    bits = np.zeros(size, bool)
    bits[own] = True
    # A bit per processor; the sum is an or, since each processor is hosted once. Gathering names
    # would take a hundred times more.
    everyone = machine.transport.sum(np.packbits(bits))
    return np.unpackbits(everyone, count=size).astype(bool)


def _awaited(hosting: Hosting, node: Node) -> list[tuple[int, int]]:
    """List the ports from which a processor awaits messages, each with the processor behind it."""
    action: Any = node._action
    ports = node.ports if action.missing is None else action.missing
    wired = set(node.ports)
    return [
        (port, hosting.neighbor(node._slot, port) if port in wired else NOBODY) for port in ports
    ]


def _next(hosting: Hosting, node: Node, stuck: Flags) -> int:
    """Processor that `node` waits for: the first that waits, too, otherwise the first."""
    return first_stuck((one for _, one in _awaited(hosting, node) if one != NOBODY), stuck)


def _line(hosting: Hosting, node: Node, stuck: Flags) -> str:
    """Describe in a line what one processor waits for, and where."""
    each = isinstance(node._action, ReceiveEach)
    awaited = _awaited(hosting, node)
    parts = [_source(port, other, stuck) for port, other in awaited[:PORTS_SHOWN]]
    if len(awaited) > PORTS_SHOWN:
        parts.append(f"on {len(awaited) - PORTS_SHOWN} more ports")
    sources = (" and " if each else " or ").join(parts) or "on no port"
    address = "" if node.address == str(node.id) else f" {node.address}"
    has = f"; {len(node._mail)} other message(s) have come" if node._mail else ""
    return (
        f"  processor {node.id}{address}, {suspended_at(node._thread)}: waits since step "
        f"{node._since} for a message {sources}{has}"
    )


def _source(port: int, other: int, stuck: Flags) -> str:
    """Describe a port and the processor behind it."""
    if port == ROUTED:
        return "that is routed to it"
    if other == NOBODY:
        return f"on port {port}, which is not wired"
    return f"on port {port} from processor {other}{'' if stuck[other] else ' (which has ended)'}"


def _heading(step: int, total: int, cycle: int) -> str:
    """Say what has happened."""
    many = "1 processor waits" if total == 1 else f"{total} processors wait"
    heading = f"Deadlock after step {step}: {many} for messages, and none is under way."
    return f"{heading} {cycle} wait for one another in a cycle:" if cycle else heading
