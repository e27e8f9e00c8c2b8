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
"""Digits that count for the class: digit 0 for none."""

NOWHERE = 1 << 32
"""A position above all others."""

TOKENS, NODES, POSITIONS, EARLIER, LATEST, UNSPENT, ROWS = range(7)
"""Rows of scratch: a path's tokens, its nodes, their positions, for each node the one before at the
same position, for each position its latest node and the hops that a walk has to make there."""


@inlined
def cheaper_class(number):
    """The class with more nonzero digits, odd on a tie."""
    # Digits of the class that is not chosen cost two hops each. The class with more nonzero digits
    # makes the shorter walk.
    digits = nonzero_digits(number)
    return EVEN if count_ones(digits & EVEN_DIGITS) > count_ones(digits & ODD_DIGITS) else ODD


@inlined
def nonzero_digits(number):
    """The places of the nonzero digits of a number, as bits."""
    number = abs(number)
    # The redundant binary form has the fewest nonzero digits, each of which is a hop. Its places
    # follow from one XOR.
    half = number >> 1
    # The digits are the bits of 3n less those of n, one place up (Reitwiesner): nonzero where these
    # differ. This is (3n ^ n) >> 1 without the large number 3n.
    return (number + half) ^ half


@inlined
def is_new(kind, number):
    """Return whether the class yields hops for the number that no class before it yields."""
    digits = nonzero_digits(number)
    even, odd = digits & EVEN_DIGITS != 0, digits & ODD_DIGITS != 0
    return (even and odd) or (kind == ODD and (even or odd)) or kind == EVEN


@inlined
def count_hops(number, kind, hops):
    """Signed hops of every type that make `number` sectors (3: RRB, then convert)."""
    hops[:] = 0
    sign = 1 if number > 0 else -1
    rest, i = abs(number), 0
    while rest != 0:
        if rest & 1:
            # 1 or -1, whichever leaves a multiple of 4: no two nonzero digits are neighbours.
            digit = 2 - (rest & 3)
            # Subtracting the digit makes the rest a multiple of 4, so that the next digit is 0.
            # This is the restricted redundant form of the paper.
            rest -= digit
            if i == 0 or kind == BOTH or i & 1 == kind:
                hops[i] += sign * digit
            else:
                # The class has no hops over 2^i sectors: two over 2^(i-1) do.
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
    """The place of a node on the path, -1 if it is not there.

    Only nodes at the same position can be the same, so that these are chained.
    """
    place = scratch[LATEST, position]
    # Chains by position are as long as visits to one position. A search of the whole path would
    # make loop erasure quadratic.
    while place >= 0 and scratch[NODES, place] != node:
        place = scratch[EARLIER, place]
    return place


@inlined
def go_on(token, node, position, count, row, scratch, params):
    """Go on by a token to the node that it leads to, which is at `position`, and drop the loop.

    There is one where the path, of `count` tokens in a row of scratch, has been at that node.
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
    # The loop's nodes are taken off the chains again. Otherwise a later visit would find nodes that
    # are no longer on the path.
    while count > met:
        scratch[LATEST, scratch[POSITIONS, count]] = scratch[EARLIER, count]
        count -= 1
    return count, node


@inlined
def emit(source, way, hops, diagonal, scratch, params):
    """Write the loop-free walk from the source over the places of `way`; return its length.

    Hops of a type, and the diagonal, are spent where the walk first comes to their position. The
    tokens get into `TOKENS`; the nodes, the source first, into `NODES`.
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
            # The way has three goals, some of which may be the same place. Equal ones are passed
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
    """The position that a token leads to: the same one, but for the ring's."""
    if token == PLUS_C:
        return position + 1 if position < m - 1 else 0
    if token == MINUS_C:
        return position - 1 if position > 0 else m - 1
    return position


@inlined
def erase_loops(source, row, count, scratch, params):
    """Drop the loops from the walk in a row of scratch, chronologically, as `emit` does it."""
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
    """The paper's path where the target's position is not below the source's (4.2, steps 3-9)."""
    m, half = params[SECTOR], params[HALF]
    first, last = source % m, target % m
    sectors, sign = target // m - source // m, 1
    if sectors < 0:
        sectors += 2 * half
    if sectors > half - 1:
        sectors, sign = 2 * half - sectors, -1
    # Beyond the largest number of b digits, hops alone do not reach. The diagonal then makes half
    # of the way in one hop.
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
    # The walk may leave the sector on the nearer side. That costs one hop over a sector more and
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
    # Within one sector the ring is as short as any walk with hops. Ring tokens need no plan.
    if ahead <= m:
        tokens[:ahead] = PLUS_C
        return ahead
    if size - ahead <= m:
        tokens[: size - ahead] = MINUS_C
        return size - ahead
    # The paper defines walks for ascending positions only. Others are walked from the target and
    # turned round.
    if source % m <= target % m:
        return walk_up(source, target, scratch, hops, params)
    count = walk_up(target, source, scratch, hops, params)
    turn_round(tokens, count)
    return count
