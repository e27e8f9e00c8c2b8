"""Planned routes: the source knows the dead node (docs/papers/gmn, 5.2).

It takes the first shortest of the paper's path and its variants, each with its detour. A variant
whose walk ends elsewhere than at the target is no candidate.
"""

from __future__ import annotations

import numpy as np

from mpinet.compiled import inlined, rule
from mpinet.networks.gmn.detours import around_one_node, dead_at, go_round
from mpinet.networks.gmn.parameters import HALF, SECTOR, TYPES
from mpinet.networks.gmn.routing import decide, write_list
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

DETOURED, BEST, MORE_ROWS = ROWS, ROWS + 1, ROWS + 2
"""More rows of scratch: a candidate's tokens with the detour, the best ones."""


def planned_routing(topology: Topology) -> Routing:
    """The paper's routing; a path planned around the dead node where one is."""
    return around_one_node("planned", topology, start_planned, decide)


@rule
def start_planned(source, target, header, params):
    """Write the tokens of the first shortest candidate."""
    room = 4 * params[SECTOR] + 4 * params[TYPES] + params[dead_at(params) + 1] + 8
    scratch = np.empty((MORE_ROWS, room), np.int64)
    hops = np.empty(params[TYPES] + 2, np.int64)
    count = find_path(source, target, scratch, hops, params)
    count = erase_loops(source, TOKENS, count, scratch, params)
    best = better(source, target, count, room, scratch, params)
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
    """The sectors that hops have to make, -k+1..k, beside `shift` borders and the diagonal."""
    m, half = params[SECTOR], params[HALF]
    sectors = target // m - source // m - shift
    if diagonal:
        sectors -= half
    sectors %= 2 * half
    return sectors if sectors <= half else sectors - 2 * half


@inlined
def best_variant(source, target, shift, diagonal, sectors, kind, best, scratch, hops, params):
    """Try the ways of one set of hops; the number of tokens of the best path so far."""
    m, types = params[SECTOR], params[TYPES]
    if not is_new(kind, sectors):
        return best
    count_hops(sectors, kind, hops)
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
    """The places where the walk turns, the end last."""
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
    """Keep the candidate, with its detour, if it is shorter than the best so far; its length."""
    row, nodes = TOKENS, scratch[NODES]
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
