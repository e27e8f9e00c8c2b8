"""The paper's substitutions around a dead node (section 5; docs/papers/gmn, 5.3).

A path meets the dead node between two of its links. The kinds of the links determine the case, and
the case determines the hops of the detour. Between hops the detour follows the ring.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import inlined, rule
from mpinet.networks.gmn.online import (
    CUT,
    DEAD,
    DETOUR,
    LISTED,
    LONGEST,
    NODES,
    PORTS,
    ROWS,
    TOKENS,
    WORD,
    decide_online,
    faults_at,
    has_met,
    is_broken,
    is_dead,
    mend,
    no_detour,
    without_loops,
)
from mpinet.networks.gmn.parameters import (
    BACKWARD,
    DOWN,
    FIRST_HOP,
    MINUS_C,
    MOST,
    NO_TOKEN,
    PLUS_C,
    SECTOR,
    TYPES,
    behind,
    inverse,
    positions_of,
    token_at,
)
from mpinet.networks.gmn.routing import decide, port_of, write_list
from mpinet.networks.gmn.walk import ROWS as WALK_ROWS
from mpinet.networks.gmn.walk import find_path
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
mend_loops = mend.bind("gmn.mend", listed_detour=listed_detour, **LOOPS)
erase_loops = without_loops.bind("gmn.without_loops", node_behind=behind)


@rule
def start_substituted(source, target, header, params):
    """Write the shortest of the paper's paths around all faults, which the source knows.

    These are the path with substitutions, and the paths of case B: a path that begins or ends with
    a hop beside its end.
    """
    longest = params[faults_at(params) + LONGEST]
    scratch, best = np.empty((ROWS, 2 * longest), np.int64), np.empty(longest, np.int64)
    header[:] = 0
    know_all(header, params)
    count = direct_path(source, target, 0, scratch, params)
    count = erase_loops(source, count, longest, scratch, params)
    if is_whole(source, count, scratch, params):
        write_list(scratch[TOKENS], count, header, params)
        return
    count = substituted(source, count, best, scratch, header, params)
    shortest = keep(count, longest + 1, best, scratch)
    for side in range(2):
        for offset in range(-1, 2):
            for sign in range(2):
                end = target if side == 0 else source
                beside = behind(end, PLUS_C if offset > 0 else MINUS_C, params) if offset else end
                token = token_at(beside % params[SECTOR], params)
                if token < FIRST_HOP:
                    continue
                token += sign
                other = behind(beside, token, params)
                if side == 0:
                    count = direct_path(source, other, 0, scratch, params)
                    scratch[DETOUR, count] = inverse(token)
                    scratch[DETOUR, count + 1] = MINUS_C if offset > 0 else PLUS_C
                else:
                    scratch[DETOUR, 0] = PLUS_C if offset > 0 else MINUS_C
                    scratch[DETOUR, abs(offset)] = token
                    count = direct_path(other, target, 1 + abs(offset), scratch, params)
                if side == 0:
                    count += 1 + abs(offset)
                count = erase_loops(source, count, longest, scratch, params)
                if is_whole(source, count, scratch, params):
                    shortest = keep(count, shortest, best, scratch)
    if shortest > longest:
        # No path is known that avoids all faults. The nodes before the faults look for detours.
        count = direct_path(source, target, 0, scratch, params)
        shortest = keep(
            erase_loops(source, count, longest, scratch, params), shortest, best, scratch
        )
    write_list(best, shortest, header, params)


@inlined
def know_all(header, params):
    """Write all faults into the header as faults that the message has met."""
    at = faults_at(params)
    word, dead, cut = params[at + WORD], params[at + DEAD], params[at + CUT]
    for place in range(dead):
        header[word + 2 * place] = params[at + LISTED + place] + 1
    for place in range(2 * cut):
        header[word + 2 * dead + place] = params[at + LISTED + dead + place] + 1


@inlined
def direct_path(source, target, place, scratch, params):
    """Write the paper's path to the detour's row, from a place on; return the end of the path."""
    walk = np.empty((WALK_ROWS, params[MOST] + 1), np.int64)
    hops = np.empty(params[TYPES] + 2, np.int64)
    count = find_path(source, target, walk, hops, params)
    for i in range(count):
        scratch[DETOUR, place + i] = walk[0, i]
    return place + count


@inlined
def is_whole(source, count, scratch, params):
    """Return whether the list of tokens meets no fault."""
    return count >= 0 and first_broken(source, count, scratch, params) == count


@inlined
def first_broken(source, count, scratch, params):
    """Return the place of the first token to a fault, or the length of the list."""
    here = source
    for i in range(count):
        other = behind(here, scratch[TOKENS, i], params)
        if is_broken(here, other, params):
            return i
        here = other
    return count


@inlined
def substituted(source, count, ahead, scratch, header, params):
    """Replace all parts of a list that meet faults; return the new length, or -1."""
    at = faults_at(params)
    for _ in range(2 * (params[at + DEAD] + params[at + CUT]) + 1):
        broken = first_broken(source, count, scratch, params)
        if broken == count:
            return count
        here = source
        for i in range(broken):
            ahead[i] = scratch[TOKENS, i]
            here = behind(here, ahead[i], params)
        for i in range(broken, count):
            scratch[TOKENS, i - broken] = scratch[TOKENS, i]
        rest = mend_loops(here, count - broken, scratch, header, params)
        if rest < 0:
            return -1
        for i in range(broken):
            scratch[DETOUR, i] = ahead[i]
        for i in range(rest):
            scratch[DETOUR, broken + i] = scratch[TOKENS, i]
        count = erase_loops(source, broken + rest, params[at + LONGEST], scratch, params)
        if count < 0:
            return -1
    return -1


@inlined
def keep(count, shortest, best, scratch):
    """Copy the list of tokens to `best` if it is shorter; return the shortest length."""
    if count < 0 or count >= shortest:
        return shortest
    for i in range(count):
        best[i] = scratch[TOKENS, i]
    return count
