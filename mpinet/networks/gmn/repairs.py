"""Routing around one dead node of the loops (docs/papers/gmn, 5): detours, repair, planned routes.

Every two links of a dead node have a detour. Rules that know a dead node f have more parameters
than the topology: f, the length of a row, and the rows. The rows are indexed by (port of f
towards the previous node, port of f towards the next node). A row is the number of tokens, followed
by the tokens.

Online routing: only the neighbours of the dead node know of it. The node before the dead node on a
path rewrites the list of tokens (5.1). Planned routing: the source knows the dead node (5.2). The
source takes the first shortest of the paper's path and its variants, each with its detour. A
variant whose walk ends at another node than the target is no candidate.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import inlined, rule
from mpinet.errors import UsageError
from mpinet.networks.gmn.parameters import (
    DOWN,
    HALF,
    JUMPS,
    SECTOR,
    TYPES,
    UP,
    inverse,
    token_at,
)
from mpinet.networks.gmn.routing import (
    decide,
    listed_routing,
    port_of,
    start,
    write_list,
)
from mpinet.networks.gmn.walk import (
    NODES,
    ROWS,
    TOKENS,
    count_hops,
    emit,
    erase_loops,
    find_path,
    is_new,
    place_of,
    span,
)
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology

PORTS = 4


def planned(topology: Topology) -> Routing:
    """Return the paper's routing; around a dead node, the source plans the path."""

    def repaired(dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> Routing:
        node = require_one_node(topology, dead, cut)
        params, longer = params_with_detours(topology, node)
        return listed_routing(
            "planned", topology, params, start_planned, decide, longer, dead=(node,)
        )

    return listed_routing("planned", topology, topology.params, start, decide, repaired=repaired)


def require_one_node(
    topology: Topology, dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]
) -> int:
    """Return the one dead node; reject all other faults.

    Raises
    ------
    UsageError
        The faults are not exactly one dead node.
    """
    if cut or len(dead) != 1:
        raise UsageError(
            f"The routing planned of {topology.name} goes around one dead node, not "
            f"around {len(dead)} nodes and {len(cut)} links (both directions counted)."
        )
    topology.require_node(dead[0])
    return dead[0]


def params_with_detours(topology: Topology, dead: int) -> tuple[Ints, int]:
    """Return the parameters of rules that know a dead node, and the longest detour's length."""
    rows = [
        detour_tokens(topology, dead, before, behind)
        for before in range(PORTS)
        for behind in range(PORTS)
    ]
    longest = max(map(len, rows))
    table = np.zeros((len(rows), 1 + longest), np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: 1 + len(row)] = [len(row), *row]
    head = np.array([dead, 1 + longest])
    return np.concatenate([topology.params, head, table.ravel()]), longest


def detour_tokens(topology: Topology, dead: int, before: int, behind: int) -> list[int]:
    """Return the detour between the nodes behind two ports of a dead node; empty if unwired."""
    source, target = topology.neighbor(dead, [before, behind]).tolist()
    if source < 0 or target < 0 or source == target:
        return []
    came: dict[int, tuple[int, int]] = {source: (-1, -1)}
    queue = deque([source])
    # Each pair of links of one dead node needs a detour, 16 at most. A breadth-first search finds
    # these once, before any message moves.
    while (node := queue.popleft()) != target:
        for port, other in enumerate(topology.neighbor(node, range(PORTS)).tolist()):
            if other >= 0 and other != dead and other not in came:
                came[other] = node, port
                queue.append(other)
    tokens = []
    while node != source:
        node, port = came[node]
        tokens.append(token_of(node, port, topology.params))
    return tokens[::-1]


@inlined
def token_of(node, port, params):
    """Return the token of a wired port of a node of the loops."""
    return port if port < UP else token_at(node % params[SECTOR], params) + (port == DOWN)


@inlined
def dead_at(params):
    """Return the index of the dead node in the parameters."""
    return JUMPS + 2 * params[SECTOR] + params[TYPES]


@inlined
def go_round(tokens, count, place, detoured, params):
    """Replace the token to the dead node (at `place`) and the next token by the detour.

    Writes the list of tokens to `detoured` and returns their number.
    """
    at = dead_at(params)
    dead = params[at]
    # The detour is looked up by the dead node's own ports. The table does not depend on the path.
    before = port_of(dead, inverse(tokens[place]), params)
    behind = port_of(dead, tokens[place + 1], params)
    row = at + 2 + (PORTS * before + behind) * params[at + 1]
    length = params[row]
    for at in range(place):
        detoured[at] = tokens[at]
    for at in range(length):
        detoured[place + at] = params[row + 1 + at]
    for at in range(place + 2, count):
        detoured[at + length - 2] = tokens[at]
    return count + length - 2


DETOURED, BEST, MORE_ROWS = ROWS, ROWS + 1, ROWS + 2
"""More rows of scratch memory: a candidate's tokens with the detour, and the best tokens."""


@rule
def start_planned(source, target, header, params):
    """Write the tokens of the first shortest candidate."""
    room = 4 * params[SECTOR] + 4 * params[TYPES] + params[dead_at(params) + 1] + 8
    scratch = np.empty((MORE_ROWS, room), np.int64)
    hops = np.empty(params[TYPES] + 2, np.int64)
    count = find_path(source, target, scratch, hops, params)
    count = erase_loops(source, TOKENS, count, scratch, params)
    # The paper's own path is the first candidate. A planned path is therefore never longer than
    # this path with its detour.
    best = better(source, target, count, room, scratch, params)
    # A path may end in the neighbouring sector and walk back over its border. The three shifts
    # cover all places where the paper's walk turns.
    for shift in (0, -1, 1):
        for diagonal in (False, True):
            sectors = sectors_left(source, target, shift, diagonal, params)
            for kind in range(3):
                best = best_variant(
                    source, target, shift, diagonal, sectors, kind, best, scratch, hops, params
                )
    write_list(scratch[BEST], best, header, params)


@inlined
def sectors_left(source, target, shift, diagonal, params):
    """Return the sectors that hops have to cover, -k+1..k, without borders and diagonal."""
    m, half = params[SECTOR], params[HALF]
    sectors = target // m - source // m - shift
    if diagonal:
        sectors -= half
    sectors %= 2 * half
    return sectors if sectors <= half else sectors - 2 * half


@inlined
def best_variant(source, target, shift, diagonal, sectors, kind, best, scratch, hops, params):
    """Try the walks of one set of hops; return the number of tokens of the best path so far."""
    m, types = params[SECTOR], params[TYPES]
    if not is_new(kind, sectors):
        return best
    count_hops(sectors, kind, hops)
    # Conversion between classes may need hop types beyond the largest. The network has none of
    # these.
    if hops[types] != 0 or hops[types + 1] != 0:
        return best
    least, most = span(hops, params)
    for choice in range(4 if diagonal and shift == 0 else 2):
        way = way_of(choice, shift, diagonal, least, most, source % m, target % m, m)
        count = emit(source, way, hops, diagonal, scratch, params)
        best = better(source, target, count, best, scratch, params)
    return best


@inlined
def way_of(choice, shift, diagonal, least, most, first, last, m):
    """Return the three places where the walk turns, the end last."""
    if shift == 0:
        least, most = min(least, first, last), max(most, first, last)
        if diagonal and choice < 2:
            least = 0
        elif diagonal:
            most = m
        return (least, most, last) if choice & 1 == 0 else (most, least, last)
    end = last + shift * m
    if choice == 0:
        return min(first, least), end, end
    turn = min(last, least) if shift < 0 else max(last, most)
    return turn + shift * m, end, end


@inlined
def better(source, target, count, best, scratch, params):
    """Keep the candidate with its detour if it is shorter; return the shortest length."""
    row, nodes = TOKENS, scratch[NODES]
    # Some variants count hops for another sector. The walk is followed to its end instead of a
    # proof of the valid variants.
    if nodes[count] != target:
        return best
    dead = params[dead_at(params)]
    place = place_of(dead, dead % params[SECTOR], scratch)
    if 0 < place < count:
        count = go_round(scratch[row], count, place - 1, scratch[DETOURED], params)
        row = DETOURED
        count = erase_loops(source, row, count, scratch, params)
    if count >= best:
        return best
    for place in range(count):
        scratch[BEST, place] = scratch[row, place]
    return count
