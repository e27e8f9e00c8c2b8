"""Walks through the loops: hop counts, their order, the tokens (docs/papers/gmn, 3, 4.1, 4.2)."""

from mpinet.compiled import inlined
from mpinet.networks.arithmetic import count_ones
from mpinet.networks.gmn.parameters import (
    EVEN_ABOVE,
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
"""Masks of the digits that count for each class; digit 0 counts for none."""

NOWHERE = 1 << 32
"""A position above all other positions."""

TOKENS, NODES, POSITIONS, EARLIER, LATEST, UNSPENT, ROWS = range(7)
"""Rows of scratch memory.

In order: a path's tokens, its nodes, their positions, and for each node the previous node at the
same position. Then, for each position, its latest node and the hops that remain to be made there.
"""


@inlined
def cheaper_class(number):
    """Return the class with more nonzero digits, odd on a tie."""
    # Digits outside the chosen class cost two hops each. The class with more nonzero digits
    # makes the shorter walk.
    digits = nonzero_digits(number)
    return EVEN if count_ones(digits & EVEN_DIGITS) > count_ones(digits & ODD_DIGITS) else ODD


@inlined
def nonzero_digits(number):
    """Return the places of the nonzero digits of a number in redundant binary, as bits."""
    number = abs(number)
    # The redundant binary form has the fewest nonzero digits, each of which is a hop. Its places
    # follow from one XOR.
    half = number >> 1
    # The digits are the bits of 3n less the bits of n, one place up (Reitwiesner): nonzero where
    # both differ. This is (3n ^ n) >> 1 without the large number 3n.
    return (number + half) ^ half


@inlined
def is_new(kind, number):
    """Return whether the class yields hops for the number that no earlier class yields."""
    digits = nonzero_digits(number)
    even, odd = digits & EVEN_DIGITS != 0, digits & ODD_DIGITS != 0
    return (even and odd) or (kind == ODD and (even or odd)) or kind == EVEN


@inlined
def count_hops(number, kind, hops):
    """Write the signed hops of each type that cover `number` sectors (3: RRB, then convert)."""
    hops[:] = 0
    sign = 1 if number > 0 else -1
    rest, i = abs(number), 0
    while rest != 0:
        if rest & 1:
            # The digit is 1 or -1, whichever leaves a multiple of 4: nonzero digits are never
            # adjacent.
            digit = 2 - (rest & 3)
            # Subtracting the digit makes the rest a multiple of 4, and the next digit is 0.
            # This is the restricted redundant form of the paper.
            rest -= digit
            if i == 0 or kind == BOTH or i & 1 == kind:
                hops[i] += sign * digit
            else:
                # The class has no hops over 2^i sectors; two hops over 2^(i-1) replace each of
                # them.
                hops[i - 1] += 2 * sign * digit
        rest >>= 1
        i += 1


@inlined
def span(hops, params):
    """Return the least and the greatest position with hops; (`NOWHERE`, -1) without hops."""
    least, most = NOWHERE, -1
    for hop_type in range(params[TYPES]):
        if hops[hop_type] != 0:
            position = position_of(hop_type, params)
            least, most = min(least, position), max(most, position)
    return least, most


@inlined
def set_off(source, scratch, params):
    """Begin a path at the source; return the source's position."""
    m = params[SECTOR]
    position = source % m
    scratch[LATEST, :m] = -1
    scratch[NODES, 0], scratch[POSITIONS, 0], scratch[EARLIER, 0] = source, position, -1
    scratch[LATEST, position] = 0
    return position


@inlined
def place_of(node, position, scratch):
    """Return the place of a node on the path, -1 if the path does not pass the node.

    Only nodes at the same position can be equal. These are chained.
    """
    place = scratch[LATEST, position]
    # Chains by position are as long as visits to one position. A search of the whole path would
    # make loop erasure quadratic.
    while place >= 0 and scratch[NODES, place] != node:
        place = scratch[EARLIER, place]
    return place


@inlined
def go_on(token, node, position, count, row, scratch, params):
    """Extend a path by a token to the next node, at `position`, and erase a loop if one closes.

    A loop closes if the path, of `count` tokens in a row of scratch, has already passed the node.
    Returns the path's new number of tokens, and the node.
    """
    node = behind(node, token, params)
    met = place_of(node, position, scratch)
    if met < 0:
        scratch[row, count] = token
        count += 1
        scratch[NODES, count], scratch[POSITIONS, count] = node, position
        scratch[EARLIER, count], scratch[LATEST, position] = scratch[LATEST, position], count
        return count, node
    # The loop's nodes are removed from the chains. Otherwise a later visit would find nodes that
    # are no longer on the path.
    while count > met:
        scratch[LATEST, scratch[POSITIONS, count]] = scratch[EARLIER, count]
        count -= 1
    return count, node


@inlined
def emit(source, way, hops, diagonal, scratch, params):
    """Write the loop-free walk from the source over the places of `way`; return its length.

    Hops of a type, and the diagonal, are made when the walk first reaches their position. The
    tokens are written to row `TOKENS`, the nodes to row `NODES`, the source first.
    """
    m = params[SECTOR]
    scratch[UNSPENT, :m] = 0
    for hop_type in range(params[TYPES]):
        scratch[UNSPENT, position_of(hop_type, params)] = hops[hop_type]
    if diagonal:
        scratch[UNSPENT, 0] = 1
    position = set_off(source, scratch, params)
    node, place, count, turns = source, position, 0, 0
    goal, following, last = way
    while True:
        left = scratch[UNSPENT, position]
        if left != 0:
            token = token_at(position, params) + (left < 0)
            scratch[UNSPENT, position] -= 1 if left > 0 else -1
        else:
            # The walk has three goals, some of which may be the same place. Equal goals are passed
            # without a step.
            while turns < 3 and place == goal:
                goal, following, turns = following, last, turns + 1
            if turns == 3:
                return count
            token = PLUS_C if goal > place else MINUS_C
            place += 1 if goal > place else -1
            position = beside(position, token, m)
        count, node = go_on(token, node, position, count, TOKENS, scratch, params)


@inlined
def beside(position, token, m):
    """Return the position behind a token: the same position, except for ring tokens."""
    if token == PLUS_C:
        return position + 1 if position < m - 1 else 0
    if token == MINUS_C:
        return position - 1 if position > 0 else m - 1
    return position


@inlined
def erase_loops(source, row, count, scratch, params):
    """Erase the loops from the walk in a row of scratch, in chronological order as `emit` does."""
    m = params[SECTOR]
    position = set_off(source, scratch, params)
    node, kept = source, 0
    for i in range(count):
        token = scratch[row, i]
        position = beside(position, token, m)
        kept, node = go_on(token, node, position, kept, row, scratch, params)
    return kept


@inlined
def walk_up(source, target, scratch, hops, params):
    """Write the paper's path for a target position not below the source's (4.2, steps 3-9)."""
    m, half = params[SECTOR], params[HALF]
    first, last = source % m, target % m
    sectors, sign = target // m - source // m, 1
    if sectors < 0:
        sectors += 2 * half
    if sectors > half - 1:
        sectors, sign = 2 * half - sectors, -1
    # Hops alone cannot cover more than the largest number of b digits. The diagonal then makes half
    # of the distance in one hop.
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
        return emit(source, (last, last, last), hops, diagonal, scratch, params)
    # The walk may leave the sector on the nearer side. That costs one more hop over a sector and
    # saves ring steps (4.2).
    if (above and first + last < m) or (not above and first + last > m):
        hops[0] += 1
        least, most = span(hops, params)
        turn = min(last, least) - m if above else max(first, most)
        way = (turn, last - m, last - m)
    else:
        way = (min(first, least), max(last, most), last)
    return emit(source, way, hops, diagonal, scratch, params)


@inlined
def turn_round(tokens, count):
    """Reverse the path: the inverse tokens in opposite order."""
    for i in range((count + 1) // 2):
        j = count - 1 - i
        tokens[i], tokens[j] = inverse(tokens[j]), inverse(tokens[i])


@inlined
def find_path(source, target, scratch, hops, params):
    """Write the tokens of the paper's path to scratch (4.2); return their number.

    `hops` is scratch memory as well, with two more places than hop types.
    """
    size, m, tokens = params[LOOPS], params[SECTOR], scratch[TOKENS]
    ahead = target - source
    if ahead < 0:
        ahead += size
    # Within one sector the ring is as short as any walk with hops. Ring tokens need no plan.
    if ahead <= m:
        tokens[:ahead] = PLUS_C
        return ahead
    if size - ahead <= m:
        tokens[: size - ahead] = MINUS_C
        return size - ahead
    # The paper defines walks for ascending positions only. Other paths are found from the target
    # and reversed.
    if source % m <= target % m:
        return walk_up(source, target, scratch, hops, params)
    count = walk_up(target, source, scratch, hops, params)
    turn_round(tokens, count)
    return count
