"""Deadlock reports: the blocked processors and the program line at which each is blocked.

The search starts at a blocked processor and moves to the processor whose message is awaited. If
several are awaited, the search prefers the first that is blocked itself. The result is a cycle of
mutually waiting processors, or a chain to a processor whose program has ended.
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
"""Largest number of processors of a cycle that a report describes."""

PORTS_SHOWN = 6
"""Largest number of ports that a report lists for a processor."""

NOBODY = -1

ChainOf = Callable[[dict[int, Any]], tuple[list[int], bool]]


def explain(machine: Machine, hosting: Hosting, nodes: Sequence[Node | None]) -> NoReturn:
    """Raise an error that explains a deadlock (collective, called when no message is in flight).

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
    """Find the cycle or chain of processors that explains a deadlock (collective).

    Parameters
    ----------
    transport : Local
        The ranks.
    waits : mapping
        Awaited processor (or another description of the wait) of each blocked processor of this
        rank.
    chain_of : callable, optional
        Finds the cycle or chain in the merged mapping of all ranks. Default: `cycle_or_chain`.

    Returns
    -------
    (list of int, bool, int)
        The processors, True if they form a cycle, and the number of blocked processors.
    """
    whole = gathered_of(transport, waits)
    found = (chain_of or cycle_or_chain)(whole) if whole else ([], False)
    chain, closed, total = agreed(transport, (*found, len(whole)))
    return chain, closed, total


def described(transport: Local, heading: str, chain: Sequence[int], own: Mapping[int, str]) -> str:
    """Return a heading and a line for each processor of a chain, from all ranks (collective)."""
    lines = gathered_of(transport, own)
    rest = [f"  .. and {len(chain) - SHOWN} more"] if len(chain) > SHOWN else []
    parts = [lines[number] for number in chain[:SHOWN] if number in lines]
    return str(agreed(transport, "\n".join([heading, *parts, *rest])))


def first_stuck(others: Iterable[int], stuck: Flags) -> int:
    """Return the first awaited processor that is blocked; the first of all if none is blocked."""
    some = list(others)
    return next((other for other in some if stuck[other]), some[0] if some else NOBODY)


def cycle_or_chain(following: Mapping[int, int]) -> tuple[list[int], bool]:
    """Find a cycle or a chain in the mapping from blocked processors to awaited processors.

    Returns
    -------
    list of int
        A cycle, starting at its lowest processor. It is the first cycle found by searches from the
        processors in ascending order. Without a cycle: the chain from the lowest processor to its
        end.
    bool
        True if the list is a cycle.
    """
    seen: dict[int, int] = {}
    for first in sorted(following):
        way, node = [], first
        # Each processor is visited only once in all searches, because a search stops at a visited
        # processor.
        while node in following and node not in seen:
            seen[node] = first
            way.append(node)
            node = following[node]
        if node in following and seen[node] == first:
            cycle = way[way.index(node) :]
            # A cycle has no first member. The report starts at the lowest processor, so the text
            # does not depend on the starting point of the search.
            lowest = cycle.index(min(cycle))
            return cycle[lowest:] + cycle[:lowest], True
    way, node = [], min(following)
    while node in following:
        way.append(node)
        node = following[node]
    return way, False


def all_waiting(machine: Machine, own: list[int]) -> Flags:
    """Return for each processor of the machine whether it is blocked (collective)."""
    size = machine.topology.size
    bits = np.zeros(size, bool)
    bits[own] = True
    # One bit per processor. The sum acts as an "or", because each processor is hosted by one rank.
    # Gathering processor numbers would take a hundred times more memory.
    everyone = machine.transport.sum(np.packbits(bits))
    return np.unpackbits(everyone, count=size).astype(bool)


def _awaited(hosting: Hosting, node: Node) -> list[tuple[int, int]]:
    """List the ports on which a processor awaits messages, each with the neighbour on that port."""
    action: Any = node._action
    ports = node.ports if action.missing is None else action.missing
    wired = set(node.ports)
    return [
        (port, hosting.neighbor(node._slot, port) if port in wired else NOBODY) for port in ports
    ]


def _next(hosting: Hosting, node: Node, stuck: Flags) -> int:
    """Return the processor awaited by `node`: the first blocked one, otherwise the first."""
    return first_stuck((one for _, one in _awaited(hosting, node) if one != NOBODY), stuck)


def _line(hosting: Hosting, node: Node, stuck: Flags) -> str:
    """Describe a blocked processor in one line: program line, awaited ports, neighbours."""
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
    """Describe a port and the neighbour on that port."""
    if port == ROUTED:
        return "from the router"
    if other == NOBODY:
        return f"on port {port}, which is not wired"
    return f"on port {port} from processor {other}{'' if stuck[other] else ' (which has ended)'}"


def _heading(step: int, total: int, cycle: int) -> str:
    """Return the first line of a deadlock report: the step and the number of blocked processors."""
    many = "1 processor waits" if total == 1 else f"{total} processors wait"
    heading = f"Deadlock after step {step}: {many} for messages, and no message is in flight."
    return f"{heading} {cycle} wait for one another in a cycle:" if cycle else heading
