"""Walks through the loops: hop counts, their order, the tokens (spec of G(m,N), 3, 4.1, 4.2)."""

from __future__ import annotations

from mpinet.compiled import inlined
from mpinet.networks.arithmetic import count_ones
from mpinet.networks.gmn.parameters import (
    DIAGONAL,
    EVEN_ABOVE,
    FIRST_HOP,
    HALF,
    LOOPS,
    MINUS_C,
    PLUS_C,
    RANGE,
    SECTOR,
    TYPES,
    behind,
    inverse,
    position_of,
    token_at,
)

EVEN, ODD, BOTH = range(3)
"""The classes of hop types (E, O, B)."""

EVEN_DIGITS, ODD_DIGITS = 0x5555555555555554, 0x2AAAAAAAAAAAAAAA
"""Digits that count for the class: digit 0 for none."""

NOWHERE = 1 << 32
"""A position above all others."""

TOKENS, NODES, EARLIER, LATEST, ROWS = range(5)
"""Rows of scratch: a walk's tokens, its nodes, for each node the one before at the same position,
and for each position its latest node."""


@inlined
def cheaper_class(number):
    """The class with more nonzero digits, odd on a tie."""
    number = abs(number)
    half = number >> 1
    nonzero = (number + half) ^ half
    return EVEN if count_ones(nonzero & EVEN_DIGITS) > count_ones(nonzero & ODD_DIGITS) else ODD


@inlined
def count_hops(number, kind, hops):
    """Signed hops of every type that make `number` sectors (3: RRB, then convert)."""
    hops[:] = 0
    sign = 1 if number > 0 else -1
    rest, i = abs(number), 0
    while rest != 0:
        if rest & 1:
            digit = 2 - (rest & 3)
            rest -= digit
            if i == 0 or kind == BOTH or i & 1 == kind:
                hops[i] += sign * digit
            else:
                hops[i - 1] += 2 * sign * digit
        rest >>= 1
        i += 1


@inlined
def span(hops, params):
    """Least and greatest position with hops; (`NOWHERE`, -1) if there is none."""
    least, most = NOWHERE, -1
    for hop_type in range(params[TYPES]):
        if hops[hop_type] != 0:
            position = position_of(hop_type, params)
            least, most = min(least, position), max(most, position)
    return least, most


@inlined
def emit(place, way, hops, diagonal, params, tokens):
    """Write the tokens of the walk from `place` over the three places of `way`; their number.

    Hops of a type, and the diagonal, are spent where the walk first comes to their position.
    """
    m = params[SECTOR]
    position, count, target = place, 0, 0
    while True:
        token = token_at(position, params)
        if token == DIAGONAL:
            if diagonal:
                tokens[count] = DIAGONAL
                count += 1
                diagonal = False
        elif token >= FIRST_HOP:
            hop_type = (token - FIRST_HOP) >> 1
            if hops[hop_type] < 0:
                token += 1
            for _ in range(abs(hops[hop_type])):
                tokens[count] = token
                count += 1
            hops[hop_type] = 0
        while target < 3 and place == way[target]:
            target += 1
        if target == 3:
            return count
        if way[target] > place:
            tokens[count] = PLUS_C
            place += 1
            position = position + 1 if position < m - 1 else 0
        else:
            tokens[count] = MINUS_C
            place -= 1
            position = position - 1 if position > 0 else m - 1
        count += 1


@inlined
def erase_loops(source, row, count, scratch, params):
    """Drop the loops from a walk, chronologically; the number of tokens left.

    The tokens are in a row of scratch; the path's nodes, the source first, get into `NODES`. Only
    nodes at the same position can be the same, so that these are chained.
    """
    tokens, nodes = scratch[row], scratch[NODES]
    earlier, latest = scratch[EARLIER], scratch[LATEST]
    m = params[SECTOR]
    position = source % m
    latest[:m] = -1
    nodes[0], earlier[0], latest[position] = source, -1, 0
    kept = 0
    for i in range(count):
        token = tokens[i]
        node = behind(nodes[kept], token, params)
        if token == PLUS_C:
            position = position + 1 if position < m - 1 else 0
        elif token == MINUS_C:
            position = position - 1 if position > 0 else m - 1
        met = latest[position]
        while met >= 0 and nodes[met] != node:
            met = earlier[met]
        if met < 0:
            tokens[kept] = token
            kept += 1
            nodes[kept], earlier[kept], latest[position] = node, latest[position], kept
            continue
        while kept > met:
            latest[nodes[kept] % m] = earlier[kept]
            kept -= 1
    return kept


@inlined
def walk_up(source, target, scratch, hops, params):
    """The paper's path where the target's position is not below the source's (4.2, steps 3-9)."""
    m, half = params[SECTOR], params[HALF]
    first, last = source % m, target % m
    sectors, sign = target // m - source // m, 1
    if sectors < 0:
        sectors += 2 * half
    if sectors > half - 1:
        sectors, sign = 2 * half - sectors, -1
    diagonal = not 0 < sectors <= params[RANGE]
    number = sign * (sectors - half) if diagonal else sign * sectors
    kind = cheaper_class(number)
    above = (kind == EVEN) == (params[EVEN_ABOVE] != 0)
    count_hops(number, kind, hops)
    least, most = span(hops, params)
    if diagonal:
        border = m if above else 0
        least, most = min(least, border), max(most, border)
    if least > most or (first <= least and most <= last):
        return emit(first, (last, last, last), hops, diagonal, params, scratch[TOKENS])
    if (above and first + last < m) or (not above and first + last > m):
        hops[0] += 1
        least, most = span(hops, params)
        turn = min(last, least) - m if above else max(first, most)
        way = (turn, last - m, last - m)
    else:
        way = (min(first, least), max(last, most), last)
    count = emit(first, way, hops, diagonal, params, scratch[TOKENS])
    return erase_loops(source, TOKENS, count, scratch, params)


@inlined
def turn_round(tokens, count):
    """Make the path back."""
    for i in range((count + 1) // 2):
        j = count - 1 - i
        tokens[i], tokens[j] = inverse(tokens[j]), inverse(tokens[i])


@inlined
def find_path(source, target, scratch, hops, params):
    """Write the tokens of the paper's path to scratch (4.2); their number.

    `hops` is scratch, too, with two places more than there are types.
    """
    size, m, tokens = params[LOOPS], params[SECTOR], scratch[TOKENS]
    ahead = target - source
    if ahead < 0:
        ahead += size
    if ahead <= m:
        tokens[:ahead] = PLUS_C
        return ahead
    if size - ahead <= m:
        tokens[: size - ahead] = MINUS_C
        return size - ahead
    if source % m <= target % m:
        return walk_up(source, target, scratch, hops, params)
    count = walk_up(target, source, scratch, hops, params)
    turn_round(tokens, count)
    return count
