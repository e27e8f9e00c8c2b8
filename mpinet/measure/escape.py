"""Deadlock freedom of adaptive routings: the dependencies of their escape (Duato 1993).

A message under an adaptive routing may wait for any of several channels. It never waits forever if
some of the channels, the *escape*, are available everywhere, lead to the target, and have no cycle
of dependencies. An escape channel depends on another escape channel if a message holding the first
may take the second next, at once or after hops over other channels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arguments import CandidatesRule, PortRule, StartRule
from mpinet.base.arrays import FlagRows, Ints, Table
from mpinet.base.memory import require_memory
from mpinet.compiled import kernel
from mpinet.errors import RoutingError, UsageError
from mpinet.measure.pairs import Pairs
from mpinet.networks.adaptive import CLASS, PORT
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology

NODE, IN_PORT, IN_CLASS, HEADER = range(4)
"""Columns of a state: the node of a message's head, the port and class of its arrival, and the
first column of its header.
"""

MOST_STATES = 2**22
"""Largest number of examined states: seconds of work, and a hundred bytes per state."""

AT_ONCE = 2**16
"""Number of states whose candidates are computed at a time."""


def escape_dependencies(topology: Topology, routing: Routing, pairs: Any = "all") -> Table:
    """Return the dependency arcs of an adaptive routing's escape.

    If the escape is not available everywhere, all classes are treated as escape channels.

    Parameters
    ----------
    topology : Topology
        A network of links.
    routing : Routing
        An adaptive routing, with `candidates`.
    pairs : str or array-like of int, shape (k, 2)
        Pairs that exchange messages.

    Returns
    -------
    ndarray of int64, shape (k, 2)
        Arcs without repetition, ascending: the held channel and the awaited channel, as numbers
        ``(node * ports + port) * classes + class``.

    Raises
    ------
    RoutingError
        A candidate has an unwired port, or an invalid class.
    UsageError
        There are too many states.
    """
    ports, classes = topology.ports, routing.classes
    states, origins, moves, behind = _explored(topology, routing, pairs)
    held = np.full(len(states), -1, np.int64)
    came = np.flatnonzero(states[:, IN_PORT] >= 0)
    nodes, by = states[came, NODE], states[came, IN_PORT]
    senders = np.atleast_1d(topology.neighbor(nodes, by))
    out = np.atleast_1d(topology.reverse_port(nodes, by))
    held[came] = (senders * ports + out) * classes + states[came, IN_CLASS]
    escape = routing.escape_classes
    offered = np.zeros(len(states), bool)
    offered[origins[moves[:, CLASS] < escape]] = True
    # A message in a state without an escape could wait forever. Then all classes must be free of
    # cycles.
    if not offered[origins].all():
        escape = classes
    wanted = (states[origins, NODE] * ports + moves[:, PORT]) * classes + moves[:, CLASS]
    channels = topology.size * ports * classes
    require_memory(channels**2, f"The dependencies of {topology.name}")
    follows = np.zeros((channels, channels), np.bool_)
    offsets = np.searchsorted(origins, np.arange(len(states) + 1))
    escaping = (moves[:, CLASS] < escape).astype(np.int64)
    # With bubbles, messages wait as a whole. A message that has moved on by another class has left
    # its earlier channel. Only its immediate requests depend on the held channel.
    then = origins if routing.bubble else behind
    note_waits(offsets, wanted, then, escaping, held, classes, escape, follows)
    return np.argwhere(follows)


def _explored(topology: Topology, routing: Routing, pairs: Any) -> tuple[Table, Ints, Table, Ints]:
    """Return all reachable states, ascending, and their moves.

    The moves are ascending by state: the state, the row (port, class), and the state after the
    move.
    """
    known = np.empty((0, HEADER + routing.words), np.int64)
    fresh = _starts(topology, routing, pairs)
    # States are explored from the initial states, because most headers never occur at most nodes. A
    # table of all states would not fit into memory.
    while len(fresh):
        known = np.unique(np.concatenate([known, fresh]), axis=0)
        if len(known) > MOST_STATES:
            raise UsageError(
                f"The messages of {topology.name} reach more than {MOST_STATES} states with "
                f"routing {routing.name}: too many to examine."
            )
        behind = _moved(topology, routing, fresh)[2]
        fresh = _without(np.unique(behind, axis=0), known)
    origins, moves, behind = _moved(topology, routing, known)
    _, places = np.unique(np.concatenate([known, behind]), axis=0, return_inverse=True)
    return known, origins, moves, places.ravel()[len(known) :]


def _without(rows: Table, known: Table) -> Table:
    """Return the rows of one sorted table without the rows of another."""
    _, first, counts = np.unique(
        np.concatenate([rows, known]), axis=0, return_index=True, return_counts=True
    )
    # Both lists have no repeated rows. A row counted once and found in the first list is therefore
    # new.
    return rows[first[(counts == 1) & (first < len(rows))]]


def _starts(topology: Topology, routing: Routing, pairs: Any) -> Table:
    """Return the initial states of messages, for all outcomes of a draw if these are known."""
    parts = []
    for sources, targets in Pairs(topology, pairs).parts():
        # A drawn intermediate node must not hide a dependency. Every outcome of the draw gives a
        # separate initial state.
        for outcome in range(max(1, routing.outcomes)):
            states = np.full((len(sources), HEADER + routing.words), -1, np.int64)
            states[:, HEADER:] = 0
            if routing.outcomes:
                states[:, -1] = -1 - outcome
            begin(routing.start.native, routing.params, sources, targets, states)
            parts.append(np.unique(states, axis=0))
    return np.unique(np.concatenate(parts), axis=0)


def _moved(topology: Topology, routing: Routing, states: Table) -> tuple[Ints, Table, Table]:
    """Return the moves from states: index of the state, (port, class), and the state afterwards."""
    most, ports = topology.ports * routing.classes, topology.ports
    assert routing.candidates is not None
    found: list[tuple[Ints, Table, Table]] = []
    for first in range(0, len(states), AT_ONCE):
        some = np.ascontiguousarray(states[first : first + AT_ONCE])
        origins = np.empty(len(some) * most, np.int64)
        moves = np.empty((len(some) * most, 2), np.int64)
        behind = np.empty((len(some) * most, states.shape[1]), np.int64)
        count = follow(
            topology.neighbor.native, topology.reverse_port.native, topology.params,
            routing.candidates.native, routing.params, routing.classes, some, origins, moves,
            behind,
        )  # fmt: skip
        if count < 0:
            node, (port, group) = int(some[-count - 1, NODE]), moves[0].tolist()
            wrong = f"class {group}" if 0 <= port < ports else f"port {port}"
            raise RoutingError(
                f"Routing {routing.name} on {topology.name} has the candidate ({port}, {group}) at "
                f"processor {node}: the {wrong.split()[0]} does not exist, or is not wired."
            )
        found.append((origins[:count] + first, moves[:count].copy(), behind[:count].copy()))
    origins, moves, behind = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return origins, moves, behind


@kernel
def begin(start_rule: StartRule, params: Ints, sources: Ints, targets: Ints, states: Table) -> None:
    """Write the initial states of messages, with their headers."""
    start = start_rule.call
    header = np.empty(states.shape[1] - HEADER, np.int64)
    for i in range(sources.size):
        header[:] = 0
        start(sources[i], targets[i], header, params)
        states[i, NODE] = sources[i]
        for j in range(header.size):
            states[i, HEADER + j] = header[j]


@kernel
def follow(
    neighbor_rule: PortRule,
    back_rule: PortRule,
    wiring: Ints,
    candidates_rule: CandidatesRule,
    params: Ints,
    classes: int,
    states: Table,
    origins: Ints,
    moves: Table,
    behind: Table,
) -> int:
    """Write all moves from some states; return their number, or -1 - the state of a wrong move."""
    neighbor, back, candidates = neighbor_rule.call, back_rule.call, candidates_rule.call
    ways = np.empty((wiring[1] * classes, 2), np.int64)
    header = np.empty(states.shape[1] - HEADER, np.int64)
    count = 0
    for i in range(states.shape[0]):
        node = states[i, NODE]
        for j in range(header.size):
            header[j] = states[i, HEADER + j]
        several = candidates(node, states[i, IN_PORT], states[i, IN_CLASS], header, ways, params)
        for k in range(several):
            port, group = ways[k, PORT], ways[k, CLASS]
            other = neighbor(node, port, wiring) if 0 <= port < wiring[1] else np.int64(-1)
            if other < 0 or group < 0 or group >= classes:
                moves[0, PORT], moves[0, CLASS] = port, group
                return -1 - i
            origins[count], moves[count, PORT], moves[count, CLASS] = i, port, group
            behind[count, NODE], behind[count, IN_CLASS] = other, group
            behind[count, IN_PORT] = back(node, port, wiring)
            for j in range(header.size):
                behind[count, HEADER + j] = header[j]
            count += 1
    return count


@kernel
def note_waits(
    offsets: Ints,
    wanted: Ints,
    behind: Ints,
    escaping: Ints,
    held: Ints,
    classes: int,
    escape: int,
    follows: FlagRows,
) -> None:
    """Mark, for each held escape channel, the channels that its message may request next."""
    count = offsets.size - 1
    seen = np.full(count, -1, np.int64)
    stack = np.empty(count, np.int64)
    for origin in range(count):
        if held[origin] < 0 or held[origin] % classes >= escape:
            continue
        seen[origin], stack[0], depth = origin, origin, 1
        while depth > 0:
            depth -= 1
            state = stack[depth]
            for move in range(offsets[state], offsets[state + 1]):
                # A message waits for an escape channel, so the search ends there. Hops over other
                # channels only lead the message to further waits.
                if escaping[move]:
                    follows[held[origin], wanted[move]] = True
                elif seen[behind[move]] != origin:
                    seen[behind[move]] = origin
                    stack[depth] = behind[move]
                    depth += 1
