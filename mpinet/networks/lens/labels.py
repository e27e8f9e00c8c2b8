"""Labels of the lens: words with a dot, their neighbours, and the order of ports.

All functions compute with (k, left, right): the number of digits left of the dot, and the values
of the digits on either side of the dot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mpinet.compiled import inlined
from mpinet.networks.wired import Wired

LEFT_RADIX, RIGHT_RADIX, LEVEL, COMPLETED = 2, 3, 4, 5
"""Places in the rules' parameters: R, S, n, and whether the lens is completed."""

ROUTING = 6
"""Place of three numbers for routings in the rules' parameters (see `plans`)."""

CHUNK, CHUNK_DIGITS, INVERSE = 9, 10, 11
"""Places in the rules' parameters: the largest power of R up to 2^15 (or R), its exponent, and
2^31 // R + 1. By the last, a multiplication divides a number below the power by R (see
`arcs.agreement`).
"""

ROWS = 12
"""Place in the rules' parameters of the first labels of rows 0..n; then S^0 .. S^n, then R^0 ..
R^n.
"""

RIGHT, LEFT, ACROSS = 0, 1, 2
"""The elementary moves: pattern A in either direction, and pattern B."""


class Labelled(Wired, Protocol):
    """Protocol of lens, completed lens and partial lens for routings and broadcasts."""

    radices: Sequence[int]
    level: int


def lens_params(R: int, S: int, n: int, completed: bool) -> list[int]:
    """Return the rules' parameters without size and ports."""
    rows = [0]
    for k in range(n):
        rows.append(rows[-1] + R**k * S ** (n - k))
    powers = [radix**i for radix in (S, R) for i in range(n + 1)]
    # Chunks below 2^15 can be divided exactly by a multiplication with a factor of 31 bits. Larger
    # chunks could be off by one.
    digits = max([1, *(i for i in range(1, 16) if R**i <= 2**15)])
    chunk = [R**digits, digits, 2**31 // R + 1]
    return [R, S, n, int(completed), 1, 0, 0, *chunk, *rows, *powers]


@inlined
def first_row(params):
    """Return the number of labels in row 0, the offset from labels to processors."""
    return params[ROWS + 1]


@inlined
def right_power(exponent, params):
    """Return a power of S."""
    return params[ROWS + params[LEVEL] + 1 + exponent]


@inlined
def left_power(exponent, params):
    """Return a power of R."""
    return params[ROWS + 2 * params[LEVEL] + 2 + exponent]


@inlined
def row_of(label, params):
    """Return the number k of digits left of the dot, searched from the side with the long rows."""
    if params[LEFT_RADIX] == params[RIGHT_RADIX]:
        return label // first_row(params)
    # Rows grow or shrink geometrically. A search from the long side finds most labels in its first
    # iteration.
    if params[LEFT_RADIX] < params[RIGHT_RADIX]:
        k = 0
        while k < params[LEVEL] and label >= params[ROWS + k + 1]:
            k += 1
        return k
    k = params[LEVEL]
    while label < params[ROWS + k]:
        k -= 1
    return k


@inlined
def label_parts(label, params):
    """Return the number of digits left of the dot, and the values left and right of the dot."""
    k = row_of(label, params)
    value = label - params[ROWS + k]
    power = right_power(params[LEVEL] - k, params)
    left = value // power
    return k, left, value - left * power


@inlined
def processor(k, left, right, params):
    """Return the number of a processor."""
    power = right_power(params[LEVEL] - k, params)
    return params[ROWS + k] - first_row(params) + left * power + right


@inlined
def right_row(k, params):
    """Return the row on the right of row k; in the completed lens row n is followed by row 1."""
    return k + 1 if k < params[LEVEL] else 1


@inlined
def next_digit(k, left, right, params):
    """Return the digit right of the dot; in the completed lens the first digit follows the last."""
    n = params[LEVEL]
    if k == n:
        return left // left_power(n - 1, params)
    return right // right_power(n - k - 1, params)


@inlined
def right_of(k, left, right, digit, params):
    """Return the processor one place to the right, with the crossed digit replaced."""
    # On the circle row n is row 0 with the word on the other side of the dot. One rule serves
    # both lenses.
    if k == params[LEVEL]:
        k, left, right = 0, 0, left
    rest = right % right_power(params[LEVEL] - k - 1, params)
    return processor(k + 1, left * params[LEFT_RADIX] + digit, rest, params)


@inlined
def left_of(k, left, right, digit, params):
    """Return the processor one place to the left, with the crossed digit replaced."""
    right += digit * right_power(params[LEVEL] - k, params)
    if k == 1:
        return processor(params[LEVEL], right, 0, params)
    return processor(k - 1, left // params[LEFT_RADIX], right, params)


@inlined
def bus_at_place(k, left, right, place, params):
    """Return the own bus at place 0, lower bus c at place c + 1; -1 = none."""
    n = params[LEVEL]
    if place == 0:
        if k < n:
            return params[ROWS + k] + left * right_power(n - k, params) + right
        # The own bus of the last row closes the circle. The uncompleted lens has no such bus.
        return left if params[COMPLETED] else -1
    above = left // params[LEFT_RADIX] * right_power(n - k + 1, params)
    return params[ROWS + k - 1] + above + (place - 1) * right_power(n - k, params) + right


@inlined
def layout(k, params):
    """Return the numbers of members right of row k, owners of lower busses, and box members."""
    if params[COMPLETED]:
        return params[LEFT_RADIX], params[RIGHT_RADIX], params[LEFT_RADIX]
    own = params[LEFT_RADIX] if k < params[LEVEL] else 0
    return own, params[RIGHT_RADIX] if k > 1 else 0, params[LEFT_RADIX]


@inlined
def read_port(port, own, owners, members, params):
    """Decode a port: (RIGHT, 0, b), (LEFT, c, 0), (ACROSS, c, seat among others), or move -1."""
    if port < own:
        return RIGHT, 0, port
    port -= own
    if port < owners * members:
        c = port // members
        seat = port - c * members
        return (LEFT, c, 0) if seat == 0 else (ACROSS, c, seat - 1)
    port -= owners * members
    if port >= (params[RIGHT_RADIX] - owners) * (members - 1):
        return -1, 0, 0
    # Busses with an owner come first, then busses without one, which have one port less.
    c = port // (members - 1)
    return ACROSS, owners + c, port - c * (members - 1)


@inlined
def left_port(c, own, members):
    """Return the port to the owner of lower bus c."""
    return own + c * members


@inlined
def seat_among_others(digit, without):
    """Return the place of a digit among the digits that differ from `without`."""
    return digit if digit < without else digit - 1


@inlined
def across_port(c, seat, own, owners, members):
    """Return the port over lower bus c to another member of the box."""
    if c < owners:
        return own + c * members + 1 + seat
    return own + owners * members + (c - owners) * (members - 1) + seat


@inlined
def port_of(move, digit, c, left, own, owners, members, params):
    """Return the port of a move; `left` ends in the processor's own digit left of the dot."""
    if move == RIGHT:
        return digit
    if move == LEFT:
        return left_port(digit, own, members)
    seat = seat_among_others(digit, left % params[LEFT_RADIX])
    return across_port(c, seat, own, owners, members)
