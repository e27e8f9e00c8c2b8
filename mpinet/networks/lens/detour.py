"""Routing in the partial lens (docs/papers/lens, 9): a kept plan, or round by the columns.

The source tries the completed lens's plans, shortest first, each with the target's digits and with
zeros at the crossings that are not final, and takes the first one whose processors are all kept.
Where none is, the message goes along the tail's column, and otherwise only to the right: first
digits that are too large are lowered as they are crossed, then others are raised.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.lens.arcs import agreement, arc_plan, longest_runs, right_arc
from mpinet.networks.lens.columns import (
    digit_at,
    layout,
    left_row,
    number,
    row_and_column,
    tail_at,
    with_digit,
)
from mpinet.networks.lens.labels import LEFT, LEVEL, RIGHT, Labelled, left_power, port_of, right_row
from mpinet.networks.lens.plans import (
    AS_TARGET,
    CHOICE,
    NO_WAY,
    ROW,
    ZERO,
    next_move,
    plan_word,
)
from mpinet.networks.lens.routing import plan_bits
from mpinet.networks.routing import ARRIVED, Routing


def plans_or_detour(lens: Labelled) -> Routing:
    """Make the partial lens's routing; two more header bits record how the plan was chosen."""
    bits = plan_bits(lens)
    return Routing(
        name="plans",
        decide=decide,
        start=start,
        params=lens.params,
        header_bits=lambda source, target: bits(source, target) + 2,
        words=2,
        shortest=False,
        stateless=False,
    )


@rule
def start(source, target, header, params):
    """The first plan in the order of length, place in the list and digits that is kept."""
    (k, value), (row, goal) = row_and_column(source, params), row_and_column(target, params)
    header[0] = goal
    if source == target:
        header[1] = plan_word(0, 0, 0, 0, row, AS_TARGET, params)
        return
    n, a = params[LEVEL], right_arc(k, row, params)
    rightwards, leftwards = agreement(k, value, goal, params)
    # Plans are tried by length, because the shortest one may use a processor that is not kept. The
    # first kept one is then the shortest.
    for length in range(1, 2 * n + 1):
        for turn in range(2):
            goes_left = (1 - turn) if 2 * a >= n else turn
            if goes_left:
                kept = kept_plan(leftwards, n - a, 1, length, k, value, row, header, params)
            else:
                kept = kept_plan(rightwards, a, 0, length, k, value, row, header, params)
            if kept:
                return
    header[1] = plan_word(0, 0, 0, 0, row, NO_WAY, params)


@inlined
def kept_plan(word, a, goes_left, length, k, value, row, header, params):
    """Write an arc's first kept plan of so many hops; return whether there is one."""
    n = params[LEVEL]
    run, starts = longest_runs(word & ((1 << a) - 1))
    if run == 0:
        starts = 1 << a if goes_left else 1
    base = n + a - 2 * run
    if length != base and length != base - 1:
        return False
    while starts:
        x = lowest_one(starts)
        starts &= starts - 1
        saved = 1 if (x > 0 if goes_left else x + run < a) else 0
        if length != base - saved:
            continue
        # Zeros at free crossings lead through low columns, which are kept. They are tried where the
        # target's digits lead out of the kept part.
        for choice in (AS_TARGET, ZERO):
            plan = arc_plan(goes_left, x, run, a, row, choice, params)
            header[1] = plan
            if is_kept(k, value, header, params):
                header[1] = plan
                return True
    return False


@inlined
def is_kept(k, value, header, params):
    """Return whether all processors of the header's plan are kept; consumes the header."""
    while True:
        move, digit, _ = next_move(k, header, params)
        if move == ARRIVED:
            return True
        k, value = moved(k, value, move, digit, params)
        if number(k, value, params) < 0:
            return False


@inlined
def moved(k, value, move, digit, params):
    """Row and column after a move."""
    if move == RIGHT:
        row = right_row(k, params)
        return row, with_digit(value, row, digit, params)
    value = with_digit(value, k, digit, params)
    return left_row(k, params) if move == LEFT else k, value


@rule
def decide(node, header, params):
    """The next move of the plan or of the detour."""
    k, value = row_and_column(node, params)
    if header[1] >> CHOICE == NO_WAY:
        move, digit = detour(k, value, header[1] >> ROW & 0x3FFF, header[0], params)
        c = 0
    else:
        move, digit, c = next_move(k, header, params)
    if move == ARRIVED:
        return ARRIVED
    own, owners, members = layout(k, value, params)
    left = value // left_power(params[LEVEL] - k, params)
    return port_of(move, digit, c, left, own, owners, members, params)


@inlined
def detour(k, value, row, goal, params):
    """The next move, and the digit that it writes, without a plan."""
    at = tail_at(params)
    n, tail, first = params[LEVEL], params[at], params[at + 2]
    # The tail is a part of a column's circle without gaps. A way along it needs no other column.
    if value == tail and goal == tail:
        if k == row:
            return ARRIVED, 0
        if (k - first + n) % n < (row - first + n) % n:
            return RIGHT, digit_at(value, right_row(k, params), params)
        return LEFT, digit_at(value, k, params)
    if value == tail:
        return LEFT, digit_at(value, k, params) if k != first else 0
    place = right_row(k, params)
    if goal == tail:
        if k == left_row(first, params) and value == with_digit(tail, first, 0, params):
            return RIGHT, digit_at(tail, first, params)
        goal = with_digit(tail, first, 0, params)
    elif k == row and value == goal:
        return ARRIVED, 0
    here, there = digit_at(value, place, params), digit_at(goal, place, params)
    # Raising a digit could leave the kept columns. As long as some digit is too large, others are
    # kept low.
    if here < there and has_larger_digit(value, goal, params):
        return RIGHT, here
    return RIGHT, there


@inlined
def has_larger_digit(value, goal, params):
    """Return whether some digit of a column is larger than the target's."""
    for place in range(1, params[LEVEL] + 1):
        if digit_at(value, place, params) > digit_at(goal, place, params):
            return True
    return False
