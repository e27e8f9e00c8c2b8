"""Paths around faults that the source knows: planned and substituted (docs/papers/gmn, 5.2, 5.3).

The source takes the first shortest of several candidates, each with its detours. The routing
``planned`` tries variants of the paper's path with detours by search. A variant whose walk ends at
another node than the target is no candidate. The routing ``substituted`` tries the paper's path and
the paths of case B, with the paper's substitutions as detours.
"""

from __future__ import annotations

import numpy as np

from mpinet.compiled import inlined, open_part, rule
from mpinet.networks.gmn.online import LONGEST, faults_at, know_all
from mpinet.networks.gmn.online import ROWS as LIST_ROWS
from mpinet.networks.gmn.parameters import (
    FIRST_HOP,
    HALF,
    MINUS_C,
    PLUS_C,
    SECTOR,
    TYPES,
    behind,
    inverse,
    token_at,
)
from mpinet.networks.gmn.routing import write_list
from mpinet.networks.gmn.substitutions import mend_searched, mend_substituted
from mpinet.networks.gmn.walk import (
    NODES,
    ROWS,
    TOKENS,
    count_hops,
    emit,
    erase_loops,
    find_path,
    is_new,
    span,
)

BEST = LIST_ROWS
"""A further row of scratch memory for lists: the best list of tokens."""

# The function that puts detours into a list; `bind` sets it.
mend_list = open_part


@rule
def start_planned(source, target, header, params):
    """Write the tokens of the first shortest candidate: the paper's path, then its variants."""
    longest = params[faults_at(params) + LONGEST]
    room = 4 * params[SECTOR] + 4 * params[TYPES] + 8
    scratch, lists = np.empty((ROWS, room), np.int64), np.empty((BEST + 1, 2 * longest), np.int64)
    hops = np.empty(params[TYPES] + 2, np.int64)
    header[:] = 0
    know_all(header, params)
    count = find_path(source, target, scratch, hops, params)
    # The paper's own path is the first candidate. A planned path is therefore never longer than
    # this path with its detours.
    best = better(source, count, longest + 1, scratch, lists, header, params)
    # A path may end in the neighbouring sector and walk back over its border. The three shifts
    # cover all places where the paper's walk turns.
    for shift in (0, -1, 1):
        for diagonal in (False, True):
            sectors = sectors_left(source, target, shift, diagonal, params)
            for kind in range(3):
                best = best_variant(
                    source, target, shift, diagonal, sectors, kind, best, scratch, hops, lists,
                    header, params,
                )  # fmt: skip
    write_best(source, target, best, scratch, hops, lists, header, params)


@rule
def start_substituted(source, target, header, params):
    """Write the tokens of the paper's path, or around faults of its first shortest substitute.

    Substitutes are this path with substitutions, and the paths of case B: a hop beside one end of
    the path, and a path from there.
    """
    longest = params[faults_at(params) + LONGEST]
    scratch = np.empty((ROWS, 4 * params[SECTOR] + 4 * params[TYPES] + 8), np.int64)
    lists = np.empty((BEST + 1, 2 * longest), np.int64)
    hops = np.empty(params[TYPES] + 2, np.int64)
    header[:] = 0
    know_all(header, params)
    count = find_path(source, target, scratch, hops, params)
    best = better(source, count, longest + 1, scratch, lists, header, params)
    for turn in range(12 if best != count else 0):
        # Both ends, three places beside an end, and both directions of a hop.
        at_source, offset, down = turn & 1, turn // 2 % 3 - 1, turn // 6
        end = source if at_source else target
        beside = end if offset == 0 else behind(end, PLUS_C if offset > 0 else MINUS_C, params)
        token = token_at(beside % params[SECTOR], params) + down
        if token < FIRST_HOP + down:
            continue
        other, ring = behind(beside, token, params), abs(offset)
        if at_source:
            count = find_path(other, target, scratch, hops, params)
            for i in range(count - 1, -1, -1):
                scratch[TOKENS, i + 1 + ring] = scratch[TOKENS, i]
            scratch[TOKENS, 0] = PLUS_C if offset > 0 else MINUS_C
            scratch[TOKENS, ring] = token
        else:
            count = find_path(source, other, scratch, hops, params)
            scratch[TOKENS, count] = inverse(token)
            scratch[TOKENS, count + 1] = MINUS_C if offset > 0 else PLUS_C
        best = better(source, count + 1 + ring, best, scratch, lists, header, params)
    write_best(source, target, best, scratch, hops, lists, header, params)


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
def best_variant(
    source, target, shift, diagonal, sectors, kind, best, scratch, hops, lists, header, params
):
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
        # Some variants count hops for another sector. The walk is followed to its end instead of a
        # proof of the valid variants.
        if scratch[NODES, count] == target:
            best = better(source, count, best, scratch, lists, header, params)
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
def better(source, count, best, scratch, lists, header, params):
    """Keep the candidate with its detours if it is shorter; return the shortest length."""
    count = erase_loops(source, TOKENS, count, scratch, params)
    for i in range(count):
        lists[0, i] = scratch[TOKENS, i]
    count = mend_list(source, count, lists, header, params)
    if count < 0 or count >= best:
        return best
    for i in range(count):
        lists[BEST, i] = lists[0, i]
    return count


@inlined
def write_best(source, target, best, scratch, hops, lists, header, params):
    """Write the best list; without one the paper's path, for detours on the way."""
    if best > params[faults_at(params) + LONGEST]:
        best = find_path(source, target, scratch, hops, params)
        for i in range(best):
            lists[BEST, i] = scratch[TOKENS, i]
    write_list(lists[BEST], best, header, params)


plan_path = start_planned.bind("gmn.planned", mend_list=mend_searched)
substitute_path = start_substituted.bind("gmn.substituted", mend_list=mend_substituted)
