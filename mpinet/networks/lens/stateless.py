"""Stateless routing in lens and completed lens: to the first neighbour that is one hop closer.

Distances depend on a digit only by whether it is the target's, so that of all neighbours over a bus
two are tried, and of the box's other members the one with the target's digit.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.lens.arcs import agreement, circle_distance, right_arc, split
from mpinet.networks.lens.labels import (
    COMPLETED,
    LEFT_RADIX,
    LEVEL,
    RIGHT_RADIX,
    across_port,
    first_row,
    label_parts,
    layout,
    left_port,
    left_power,
    next_digit,
    right_power,
    seat_among_others,
)
from mpinet.networks.lens.region import region_distance
from mpinet.networks.routing import ARRIVED


@rule
def decide(node, header, params):
    """The first closer neighbour by the closed form, or by the plans' lengths on the circle."""
    if node == header[0]:
        return ARRIVED
    if params[COMPLETED]:
        return circle_port(node, header[0], params)
    return region_port(node, header[0], params)


@inlined
def first_digit(radix, wanted, wanted_is_closer, others_are_closer):
    """The least digit that leads closer, -1 if none does."""
    # The lowest port is wanted. A digit that is not the target's may be lower than it, and just as
    # good.
    if others_are_closer and wanted != 0:
        return 0
    if wanted_is_closer:
        return wanted
    return 1 if others_are_closer and radix > 1 else -1


@inlined
def any_but(digit):
    """A digit that is not this one."""
    return 0 if digit else 1


@inlined
def circle_port(node, target, params):
    """The port in the completed lens."""
    (k, value), (row, goal) = split(node, params), split(target, params)
    n, radix = params[LEVEL], params[LEFT_RADIX]
    a = right_arc(k, row, params)
    if radix == 1:
        return 0 if 2 * a <= n else left_port(0, 1, 1)
    rightwards, leftwards = agreement(k, value, goal, params)
    closer = circle_distance(rightwards, leftwards, a, params) - 1
    # Moving the dot rotates the words of agreement by one bit. The new bit says if the crossed
    # digit was set to the target's.
    top, right_a = 1 << (n - 1), a - 1 if a > 0 else n - 1
    read, back = rightwards >> 1, (leftwards << 1) & (2 * top - 1)
    others = circle_distance(read, back, right_a, params) == closer
    # Distances depend on digits only by agreement. So two tries stand for all R neighbours on the
    # bus.
    wanted = circle_distance(read | top, back | 1, right_a, params) == closer
    place = k + 1 if k < n else 1
    digit = first_digit(radix, goal // left_power(n - place, params) % radix, wanted, others)
    if digit >= 0:
        return digit
    left_a = a + 1 if a < n - 1 else 0
    read, back = (rightwards << 1) & (2 * top - 1), leftwards >> 1
    others = circle_distance(read, back, left_a, params) == closer
    wanted = circle_distance(read | 1, back | top, left_a, params) == closer
    digit = goal // left_power(n - k, params) % radix
    c = first_digit(radix, digit, wanted, others)
    wrong = not leftwards & 1
    if c != 0 and wrong and circle_distance(rightwards | top, leftwards | 1, a, params) == closer:
        here = value // left_power(n - k, params) % radix
        return across_port(0, seat_among_others(digit, here), radix, radix, radix)
    return left_port(c, radix, radix)


@inlined
def region_port(node, target, params):
    """The port in the uncompleted lens."""
    k, left, right = label_parts(node + first_row(params), params)
    row, above, below = label_parts(target + first_row(params), params)
    n, R, S = params[LEVEL], params[LEFT_RADIX], params[RIGHT_RADIX]
    closer = region_distance(k, left, right, row, above, below, params) - 1
    own, owners, members = layout(k, params)
    if k < n:
        rest, pushed = right % right_power(n - k - 1, params), left * R
        digit = above // left_power(row - k - 1, params) % R if k < row else 0
        # Right of the target's dot no left digit is wanted. All digits are then alike, and one try
        # is enough.
        other = any_but(digit) if k < row and R > 1 else digit
        wanted = region_distance(k + 1, pushed + digit, rest, row, above, below, params) == closer
        others = region_distance(k + 1, pushed + other, rest, row, above, below, params) == closer
        first = first_digit(R, digit, wanted, others)
        if first >= 0:
            return first
    c, popped = -1, left // R
    if k > 1:
        power = right_power(n - k, params)
        digit = next_digit(k - 1, 0, below % (power * S), params) if k > row else 0
        other = any_but(digit) if k > row and S > 1 else digit
        wanted = (
            region_distance(k - 1, popped, digit * power + right, row, above, below, params)
            == closer
        )
        others = (
            region_distance(k - 1, popped, other * power + right, row, above, below, params)
            == closer
        )
        c = first_digit(S, digit, wanted, others)
    if c != 0 and k <= row:
        digit, here = above // left_power(row - k, params) % R, left - popped * R
        across = popped * R + digit
        if region_distance(k, across, right, row, above, below, params) == closer:
            return across_port(0, seat_among_others(digit, here), own, owners, members)
    return left_port(c, own, members)
