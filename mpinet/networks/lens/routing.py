"""Routings of lens and completed lens, by plans or without (docs/papers/lens, 5 and 6).

Random choices are drawn for (seed, source, target, remaining hops): the same on any number of
ranks.

The stateless routing goes to the first neighbour that is one hop closer. A digit affects distances
only by whether it equals the target's digit. Of all neighbours over a bus, the routing therefore
tries two. Of the box's other members, only the member with the target's digit is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, inlined, rule
from mpinet.draws import draw, draw32
from mpinet.errors import UsageError
from mpinet.networks.arithmetic import ceil_log2
from mpinet.networks.lens.arcs import (
    agreement,
    circle_distance,
    circle_plan,
    regular_circle_plan,
    right_arc,
    split,
)
from mpinet.networks.lens.labels import (
    COMPLETED,
    LEFT_RADIX,
    LEVEL,
    RIGHT_RADIX,
    Labelled,
    across_port,
    first_row,
    label_parts,
    layout,
    left_port,
    left_power,
    next_digit,
    port_of,
    right_power,
    seat_among_others,
)
from mpinet.networks.lens.plans import (
    AS_TARGET,
    CHOICE,
    DRAWN,
    GIVEN,
    NO_WAY,
    PATTERN_B,
    SEED,
    SUPPLIED,
    next_move,
)
from mpinet.networks.lens.region import region_distance, region_plan
from mpinet.networks.routing import ARRIVED, STUCK, Routing


@rule
def decide_stateless(node, header, params):
    """Return the first port that leads closer, by closed form or by plan lengths."""
    if node == header[0]:
        return ARRIVED
    if params[COMPLETED]:
        return circle_port(node, header[0], params)
    return region_port(node, header[0], params)


@inlined
def first_digit(radix, wanted, wanted_is_closer, others_are_closer):
    """Return the least digit that leads closer, -1 if no digit does."""
    # The rule has to return the lowest port. A digit other than the target's may be lower and just
    # as good.
    if others_are_closer and wanted != 0:
        return 0
    if wanted_is_closer:
        return wanted
    return 1 if others_are_closer and radix > 1 else -1


@inlined
def any_but(digit):
    """Return a digit different from the given digit."""
    return 0 if digit else 1


@inlined
def circle_port(node, target, params):
    """Return the first port in the completed lens that leads closer."""
    (k, value), (row, goal) = split(node, params), split(target, params)
    n, radix = params[LEVEL], params[LEFT_RADIX]
    a = right_arc(k, row, params)
    if radix == 1:
        return 0 if 2 * a <= n else left_port(0, 1, 1)
    rightwards, leftwards = agreement(k, value, goal, params)
    closer = circle_distance(rightwards, leftwards, a, params) - 1
    # Moving the dot rotates the words of agreement by one bit. The new bit shows whether the
    # crossed digit was set to the target's.
    top, right_a = 1 << (n - 1), a - 1 if a > 0 else n - 1
    read, back = rightwards >> 1, (leftwards << 1) & (2 * top - 1)
    others = circle_distance(read, back, right_a, params) == closer
    # Distances depend on digits only by agreement. Two attempts represent all R neighbours on the
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
    """Return the first port that leads one hop closer to the target in a lens (not completed).

    For the completed lens see `circle_port`.
    """
    k, left, right = label_parts(node + first_row(params), params)
    row, above, below = label_parts(target + first_row(params), params)
    n, R, S = params[LEVEL], params[LEFT_RADIX], params[RIGHT_RADIX]
    closer = region_distance(k, left, right, row, above, below, params) - 1
    own, owners, members = layout(k, params)
    if k < n:
        rest, pushed = right % right_power(n - k - 1, params), left * R
        digit = above // left_power(row - k - 1, params) % R if k < row else 0
        # Right of the target's dot no left digit is wanted. All digits are then equivalent, and one
        # attempt is enough.
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


def by_plans(lens: Labelled, pattern_b: bool = True, first: Sequence[int] = ()) -> Routing:
    """Return the routing by the canonical plan.

    Parameters
    ----------
    lens : LensNetwork
        A lens or a completed lens.
    pattern_b : bool
        Whether one move across may save a hop. Without such a move some pairs of an uncompleted
        lens have no path: those whose region of difference begins with position 1. Their messages
        are stuck.
    first : sequence of int
        Digits for the crossings that are not final, in order. After these digits (by default
        always) such crossings write the target's digit.

    Raises
    ------
    UsageError
        No position has one of the supplied digits.
    """
    for digit in first:
        if (
            isinstance(digit, bool)
            or not isinstance(digit, int)
            or not 0 <= digit < max(lens.radices)
        ):
            raise UsageError(
                f"{lens.name}: a digit of first= must be 0..{max(lens.radices) - 1}, not {digit!r}."
            )
    return Routing(
        name="plans" if pattern_b else "patternA",
        decide=decide,
        start=start,
        params=routing_params(lens, pattern_b=pattern_b, first=first),
        # On the real machine a header has the target and three lengths. The emulator's words are
        # larger, and are not counted.
        header_bits=plan_bits(lens),
        words=3 if first else 2,
        shortest=pattern_b,
        stateless=False,
    )


def without_plans(lens: Labelled) -> Routing:
    """Return the stateless routing: to the first neighbour that is one hop closer."""
    bits = target_bits(lens)
    return Routing("stateless", decide_stateless, lens.params, lambda source, target: bits)


def fair(lens: Labelled, seed: int = 0) -> Routing:
    """Return the routing by a random least plan, with random digits and busses where free."""
    return random_routing("fair", start_fair, lens, seed)


def regular(lens: Labelled, seed: int = 0) -> Routing:
    """Return the routing over a shortest path, with all shortest paths equally likely."""
    return random_routing("regular", start_regular, lens, seed)


def random_routing(name: str, start_rule: Rule, lens: Labelled, seed: int) -> Routing:
    """Return a routing with the plan that a start rule draws."""
    return Routing(
        name=name,
        decide=decide,
        start=start_rule,
        params=routing_params(lens, seed=seed),
        header_bits=plan_bits(lens),
        words=3,
        stateless=False,
    )


def routing_params(
    lens: Labelled, pattern_b: bool = True, seed: int = 0, first: Sequence[int] = ()
) -> Ints:
    """Return the topology's parameters with the routing's own, supplied digits at the end."""
    # Supplied digits are at the end. Rules find their start by their number, and all other
    # places stay fixed.
    params = np.append(lens.params, np.array(first, np.int64))
    params[PATTERN_B], params[SEED], params[SUPPLIED] = pattern_b, seed, len(first)
    return params


def target_bits(lens: Labelled) -> int:
    """Return the bits of a target in a header: n digits and the dot's place."""
    n, radix = lens.level, max(lens.radices)
    return max(1, n * ceil_log2(radix) + ceil_log2(n))


def plan_bits(lens: Labelled) -> Callable[[int, int], int]:
    """Return a function for header bits: target, direction, three runs up to 2n, pattern B."""
    bits = target_bits(lens) + 1 + 3 * ceil_log2(2 * lens.level + 1) + 1
    return lambda source, target: bits


@rule
def start(source, target, header, params):
    """Write the canonical plan as the header."""
    choice = GIVEN if params[SUPPLIED] else AS_TARGET
    if params[COMPLETED]:
        circle_plan(source, target, -1, choice, header, params)
    else:
        region_plan(source, target, 0, choice, header, params)


@rule
def start_fair(source, target, header, params):
    """Write a random one of the least plans as the header."""
    # One key per message is drawn at the source. All later draws derive from this key and from the
    # remaining hops.
    header[2] = draw(int(params[SEED]), int(source), int(target))
    chosen = draw32(int(header[2]), 0, 2, 4)
    if params[COMPLETED]:
        circle_plan(source, target, chosen, DRAWN, header, params)
    else:
        region_plan(source, target, chosen & 1, DRAWN, header, params)


@rule
def start_regular(source, target, header, params):
    """Write a random word of moves as the header, weighted by its number of paths."""
    header[2] = draw(int(params[SEED]), int(source), int(target))
    chosen = draw(int(header[2]), 0, 2)
    if params[COMPLETED]:
        regular_circle_plan(source, target, chosen, DRAWN, header, params)
    else:
        region_plan(source, target, chosen & 1, DRAWN, header, params)


@rule
def decide(node, header, params):
    """Return the port of the plan's next move."""
    k, left, _ = label_parts(node + first_row(params), params)
    move, digit, c = next_move(k, header, params)
    if move == ARRIVED:
        # Pattern A alone cannot join all pairs. Such messages stop at their source, with a mark
        # instead of a plan.
        return STUCK if header[1] >> CHOICE == NO_WAY else ARRIVED
    own, owners, members = layout(k, params)
    return port_of(move, digit, c, left, own, owners, members, params)
