"""Plans: three runs of moves, and their encoding in a header (docs/papers/lens, 5 and 6).

Word 0 of a header is the value of the target's digits. Word 1 has, from the lowest bit on: whether
pattern B is allowed; whether the first run goes left; the remaining lengths of the three runs; the
target's row; and the choice of digits for crossings that are not final. The directions of runs
alternate. An optional word 2 belongs to this choice: a random key, or the number of digits used up.
"""

from mpinet.compiled import inlined
from mpinet.draws import draw32
from mpinet.networks.lens.labels import (
    ACROSS,
    LEFT,
    LEFT_RADIX,
    LEVEL,
    RIGHT,
    RIGHT_RADIX,
    ROUTING,
    left_power,
    right_power,
    right_row,
)
from mpinet.networks.routing import ARRIVED

PATTERN_B, SEED, SUPPLIED = ROUTING, ROUTING + 1, ROUTING + 2
"""Places in a routing's parameters: whether pattern B is allowed, its seed, and the number of
supplied digits. These digits are at the end of the parameters.
"""

BITS = 14
FIELD = (1 << BITS) - 1
RUNS, RUNS_MASK = 2, (1 << 3 * BITS) - 1
ROW = RUNS + 3 * BITS
CHOICE = ROW + BITS
"""First bits of the fields of word 1, and their masks."""

AS_TARGET, ZERO, DRAWN, GIVEN, NO_WAY = 0, 1, 2, 3, 4
"""Digits of crossings that are not final: the target's, 0, random, supplied. NO_WAY: no plan."""


@inlined
def plan_word(goes_left, first, second, third, row, choice, params):
    """Return a plan as word 1 of a header."""
    runs = first | second << BITS | third << 2 * BITS
    flags = params[PATTERN_B] | goes_left << 1
    return flags | runs << RUNS | row << ROW | choice << CHOICE


@inlined
def target_digit(place, header, params):
    """Return the target's digit at a place 1..n."""
    n, row = params[LEVEL], header[1] >> ROW & FIELD
    # Digits left and right of the target's dot have different radices. With equal radices a single
    # power suffices.
    if place > row or params[LEFT_RADIX] == params[RIGHT_RADIX]:
        return header[0] // right_power(n - place, params) % params[RIGHT_RADIX]
    above = header[0] // right_power(n - row, params)
    return above // left_power(row - place, params) % params[LEFT_RADIX]


@inlined
def next_move(k, header, params):
    """Remove the next move of a processor in row k from the header.

    Returns
    -------
    move : int
        RIGHT, LEFT or ACROSS; ARRIVED at the plan's end.
    digit : int
        The digit to write.
    c : int
        The lower bus for a move across.
    """
    word = header[1]
    runs = word >> RUNS & RUNS_MASK
    if runs == 0:
        return ARRIVED, 0, 0
    flags = word & 3
    # Runs may be empty, and directions alternate. Skipping a run flips the direction bit.
    while runs & FIELD == 0:
        runs >>= BITS
        flags ^= 2
    first, second = runs & FIELD, runs >> BITS & FIELD
    to_go = first + second + (runs >> 2 * BITS)
    # Pattern B: the last move to the left and the first move to the right after it become a move
    # across a lower bus. This occurs once in a plan, and the flag is then cleared.
    if flags == 3 and first == 1 and second > 0:
        header[1] = (word >> ROW << ROW) | (runs - 1 - (1 << BITS)) << RUNS | 2
        digit = target_digit(k, header, params)
        return ACROSS, digit, across_bus(digit, to_go, header, params)
    header[1] = (word >> ROW << ROW) | (runs - 1) << RUNS | flags
    place = k if flags & 2 else right_row(k, params)
    radix = params[RIGHT_RADIX] if flags & 2 else params[LEFT_RADIX]
    # A later run that is at least as long comes back over this position and writes its final digit.
    # Until then the digit is free, which spreads the load.
    if second >= first and word >> CHOICE != AS_TARGET:
        digit = free_digit(radix, to_go, header, params)
        if digit >= 0:
            return LEFT if flags & 2 else RIGHT, digit, 0
    digit = target_digit(place, header, params)
    return LEFT if flags & 2 else RIGHT, digit if digit < radix else digit % radix, 0


@inlined
def across_bus(digit, to_go, header, params):
    """Return the lower bus for a move across: by the digit, or random."""
    # All lower busses of the box lead across. A random bus spreads the load, the digit gives a
    # deterministic bus.
    if header[1] >> CHOICE == DRAWN:
        return draw32(int(header[2]), int(to_go), 1, 4) % params[RIGHT_RADIX]
    return digit % params[RIGHT_RADIX]


@inlined
def free_digit(radix, to_go, header, params):
    """Return the digit of a crossing that is not final; -1 = the target's."""
    choice = header[1] >> CHOICE
    if choice == DRAWN:
        # The draw is keyed by the remaining hops. A node needs no generator, and every rank
        # draws the same digit.
        return draw32(int(header[2]), int(to_go), 0, 4) % radix
    if choice == ZERO:
        return 0
    used = header[2]
    if used >= params[SUPPLIED]:
        return -1
    header[2] += 1
    return params[params.size - params[SUPPLIED] + used] % radix
