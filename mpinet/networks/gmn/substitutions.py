"""The paper's substitutions around a dead node (section 5; docs/papers/gmn, 5.3).

A path meets the dead node between two of its links. The kinds of the links determine the case, and
the case determines the hops of the detour. Between hops the detour follows the ring.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import inlined
from mpinet.networks.gmn.online import (
    CUT,
    DEAD,
    DETOUR,
    LISTED,
    NODES,
    PORTS,
    TOKENS,
    decide_online,
    faults_at,
    has_met,
    is_dead,
    mend_all,
    no_detour,
)
from mpinet.networks.gmn.parameters import (
    BACKWARD,
    DOWN,
    FIRST_HOP,
    MINUS_C,
    NO_TOKEN,
    PLUS_C,
    SECTOR,
    behind,
    inverse,
    positions_of,
    token_at,
)
from mpinet.networks.gmn.routing import decide, port_of
from mpinet.networks.topology import Topology

Moves = list[tuple[int, int]]
"""Hop types of a detour, each with its number of hops; a negative number goes backwards."""


def substitutions(topology: Topology, dead: tuple[int, ...]) -> Ints:
    """Return the table of detours: the length of a row, and a row for each pair of ports.

    A row is the number of tokens, followed by the tokens; 0 without a substitution.
    """
    rows = [
        substitution(topology, node, before, after)
        for node in dead
        for before in range(PORTS)
        for after in range(PORTS)
    ]
    width = 1 + max(map(len, rows), default=0)
    table = np.zeros((len(rows), width), np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: 1 + len(row)] = [len(row), *row]
    return np.concatenate([[width], table.ravel()])


def substitution(topology: Topology, dead: int, before: int, after: int) -> list[int]:
    """Return the tokens between the nodes behind two ports of a dead node; empty if none."""
    source, target = topology.neighbor(dead, [before, after]).tolist()
    if min(source, target) < 0 or source == target:
        return []
    for moves in cases(int(topology.params[SECTOR]), dead, before, after):
        tokens, nodes = walked(topology, source, moves, target)
        if nodes[-1] == target and dead not in nodes:
            return tokens
    return []


def cases(m: int, dead: int, before: int, after: int) -> list[Moves]:
    """Return the moves of a case, also backwards and in reverse order, if their types exist."""
    places, place = positions_of(m), dead % m
    kind = min((t for t, other in enumerate(places) if abs(other - place) <= 1), default=0)
    if max(before, after) <= BACKWARD:  # 3b at a hop node, 3a between two
        through = [(kind - 2, -4), (kind, -3), (kind + 2, 1)]
        found = [through if place in places else [(kind, -4), (kind + 2, 1)]]
    elif min(before, after) > BACKWARD:  # 2, with two hops
        found = [[(kind, -6), (kind + 2, 2)]]
    else:  # 1 and 2
        found = [[(kind - 2, 4)], [(kind, -3), (kind + 2, 1)]]
    return [
        [(t, sign * times) for t, times in moves[::way]]
        for moves in found
        if all(0 <= t < len(places) for t, _ in moves)
        for way in (1, -1)
        for sign in (1, -1)
    ]


def walked(
    topology: Topology, source: int, moves: Moves, target: int
) -> tuple[list[int], list[int]]:
    """Return the tokens and nodes of a walk: along the ring to each hop, and to the target."""
    params, m = topology.params, int(topology.params[SECTOR])
    places, tokens, nodes = positions_of(m), list[int](), [source]

    def go(token: int, times: int) -> None:
        for _ in range(times):
            tokens.append(token)
            nodes.append(int(behind(nodes[-1], token, params)))

    def along(steps: int) -> None:
        go(PLUS_C if steps > 0 else MINUS_C, abs(steps))

    for kind, times in moves:
        along(places[kind] - nodes[-1] % m)
        go(FIRST_HOP + 2 * kind + (times < 0), abs(times))
    steps = (target - nodes[-1] + topology.size // 2) % topology.size - topology.size // 2
    if abs(steps) < m:
        along(steps)
    return tokens, nodes


@inlined
def token_at_port(node, port, params):
    """Return the token of a port of a node of the loops, `NO_TOKEN` if the port is not wired."""
    if port <= BACKWARD:
        return port
    token = token_at(node % params[SECTOR], params)
    if port != DOWN or token == NO_TOKEN:
        return token
    return token + 1 if token >= FIRST_HOP else NO_TOKEN


@inlined
def listed_detour(node, count, scratch, header, params):
    """Write the substitution around the next node, if it avoids all met faults; return its length.

    Without such a substitution the result is -1.
    """
    dead, at = scratch[NODES, 0], faults_at(params)
    if count < 2 or not is_dead(dead, params):
        return -1
    which = 0
    while params[at + LISTED + which] != dead:
        which += 1
    before = port_of(dead, inverse(scratch[TOKENS, 0]), params)
    row = (which * PORTS + before) * PORTS + port_of(dead, scratch[TOKENS, 1], params)
    at += LISTED + params[at + DEAD] + 2 * params[at + CUT]
    at += 1 + row * params[at]
    here, length = node, params[at]
    for i in range(length):
        token = params[at + 1 + i]
        other = behind(here, token, params)
        if has_met(here, other, header, params):
            return -1
        scratch[DETOUR, i], here = token, other
    return length if length > 0 else -1


LOOPS = {"node_behind": behind, "token_at_port": token_at_port}
"""Open parts of the rules on G(m,N)."""

decide_searched = decide_online.bind(
    "gmn.online", listed_decide=decide, listed_detour=no_detour, **LOOPS
)
decide_discovered = decide_online.bind(
    "gmn.discovered", listed_decide=decide, listed_detour=listed_detour, **LOOPS
)
mend_searched = mend_all.bind("gmn.mend_searched", listed_detour=no_detour, **LOOPS)
mend_substituted = mend_all.bind("gmn.mend_substituted", listed_detour=listed_detour, **LOOPS)
