"""The partial lens (docs/papers/lens, 9): the first columns of a completed lens.

Column d holds the processors (k, d) of all rows k, with d read as a number. Columns 0..m-1 are kept
whole. Of column m, the *tail*, r processors from row k0 on are kept. The kept members of a box or
of a bus are always the first ones. Two numbers therefore describe a processor's ports.

A message is routed by a kept plan, or round by the columns. The source tries the completed lens's
plans, shortest first. At crossings that are not final, each plan is tried with the target's digits
and with zeros. The source takes the first plan whose processors are all kept. If no plan is kept,
the message moves along the tail's column, or otherwise only to the right. On the way the message
first lowers digits that are too large, then raises digits that are too small.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.lens import addresses
from mpinet.networks.lens.arcs import agreement, arc_plan, longest_runs, right_arc
from mpinet.networks.lens.busses import BusNetwork
from mpinet.networks.lens.columns import (
    bus_number,
    bus_row_and_column,
    digit_at,
    kept_before,
    layout,
    left_row,
    number,
    row_and_column,
    tail_at,
    with_digit,
)
from mpinet.networks.lens.labels import (
    ACROSS,
    LEFT,
    LEVEL,
    RIGHT,
    Labelled,
    across_port,
    left_port,
    left_power,
    lens_params,
    port_of,
    read_port,
    right_row,
    seat_among_others,
)
from mpinet.networks.lens.plans import AS_TARGET, CHOICE, NO_WAY, ROW, ZERO, next_move, plan_word
from mpinet.networks.lens.routing import plan_bits
from mpinet.networks.parameters import Parameter, integer, require_integer, whole_number
from mpinet.networks.routing import ARRIVED, Routing, made_routings


def plans_or_detour(lens: Labelled) -> Routing:
    """Return the partial lens's routing; two more header bits record how the plan was chosen."""
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
    """Write the first kept plan in the order of length, place in the list and digits."""
    (k, value), (row, goal) = row_and_column(source, params), row_and_column(target, params)
    header[0] = goal
    if source == target:
        header[1] = plan_word(0, 0, 0, 0, row, AS_TARGET, params)
        return
    n, a = params[LEVEL], right_arc(k, row, params)
    rightwards, leftwards = agreement(k, value, goal, params)
    # Plans are tried by length, because the shortest one may use a processor that is not kept. The
    # first kept plan is then the shortest.
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
    """Write an arc's first kept plan of this length; return whether one exists."""
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
        # Zeros at free crossings lead through low columns, which are kept. They help if the
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
    """Return row and column after a move."""
    if move == RIGHT:
        row = right_row(k, params)
        return row, with_digit(value, row, digit, params)
    value = with_digit(value, k, digit, params)
    return left_row(k, params) if move == LEFT else k, value


@rule
def decide(node, header, params):
    """Return the next port of the plan or of the detour."""
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
    """Return the next move without a plan, and the digit that the move writes."""
    at = tail_at(params)
    n, tail, first = params[LEVEL], params[at], params[at + 2]
    # The tail is a part of a column's circle without gaps. A route along the tail needs no other
    # column.
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
    # Raising a digit could leave the kept columns. As long as some digit is too large, all others
    # are kept low.
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


class PartialLens(BusNetwork):
    """Partial lens of `size` processors: the first columns of the completed lens clens:p,n.

    A processor in a full column has the number n*d + k-1; the tail follows, from row k0 on. Busses
    with at least two kept members are kept. Ports are as in the completed lens, without unwired
    ports.
    """

    parameters = (
        whole_number("p", 3),
        Parameter("size", "n..n(p-1)^n", integer),
        Parameter("n", ">= 2, by default the least with n(p-1)^n >= size", integer, default=None),
    )
    example = "plens:3,50"
    paper = "Finkel, Solomon (an idea of the conclusion's)"
    specification = "papers/lens 9"

    def __init__(self, p: int, size: int, n: int | None = None):
        R = p - 1
        require_integer("plens", "size", size, 2)
        # The least level has the shortest routes for this size. Larger levels are allowed, because
        # the paper's idea is to grow a network.
        least = next(level for level in range(2, size + 1) if level * R**level >= size)
        self.level = least if n is None else require_integer("plens", "n", n, 2)
        if not self.level <= size or self.level < least:
            raise TopologyError(
                f"plens: size must be n..n(p-1)^n, which is {self.level}..{self.level}*{R}^"
                f"{self.level} for n = {self.level}, not {size}."
            )
        self.radices, self.places, self.seats = (R, R), R + 1, R + 1
        params = [size, 0, *partial_params(R, self.level, size)]
        layouts = [layout(k, 0, params) for k in range(1, self.level + 1)]
        super().__init__(
            f"{p},{size}" if self.level == least else f"{p},{size},{self.level}",
            size=size,
            ports=max(own + owners + R * (members - 1) for own, owners, members in layouts),
            params=params[2:],
            busses=bus_number(self.level, 0, params),
        )

    @rule
    def neighbor(node, port, params):
        """Return the neighbour in the completed lens, counted among the kept members."""
        k, d = row_and_column(node, params)
        own, owners, members = layout(k, d, params)
        move, c, seat = read_port(port, own, owners, members, params)
        if move == RIGHT:
            row = right_row(k, params)
            return number(row, with_digit(d, row, seat, params), params)
        if move == LEFT:
            return number(left_row(k, params), with_digit(d, k, c, params), params)
        if move == ACROSS:
            digit = digit_at(d, k, params)
            seat = seat if seat < digit else seat + 1
            return number(k, with_digit(d, k, seat, params), params)
        return -1

    @rule
    def reverse_port(node, port, params):
        """Return the port of the same bus at the other end."""
        k, d = row_and_column(node, params)
        own, owners, members = layout(k, d, params)
        move, c, seat = read_port(port, own, owners, members, params)
        if move == RIGHT:
            row = right_row(k, params)
            own, owners, members = layout(row, with_digit(d, row, seat, params), params)
            return left_port(digit_at(d, row, params), own, members)
        if move == LEFT:
            return digit_at(d, k, params)
        if move == ACROSS:
            digit = digit_at(d, k, params)
            seat = seat if seat < digit else seat + 1
            own, owners, members = layout(k, with_digit(d, k, seat, params), params)
            return across_port(c, seat_among_others(digit, seat), own, owners, members)
        return -1

    @rule
    def channel(node, port, params):
        """Return the number of the own or lower bus among the kept busses."""
        k, d = row_and_column(node, params)
        own, owners, members = layout(k, d, params)
        move, c, _ = read_port(port, own, owners, members, params)
        if move < 0:
            return -1
        if move == RIGHT:
            # Row n, seen from a bus, is row 0. The bus belongs to that label.
            return bus_number(0 if k == params[LEVEL] else k, d, params)
        return bus_number(k - 1, with_digit(d, k, c, params), params)

    @rule
    def bus_at(node, place, params):
        """Return the own bus at place 0, lower bus c at place c + 1; -1 if not kept."""
        k, d = row_and_column(node, params)
        row = (0 if k == params[LEVEL] else k) if place == 0 else k - 1
        column = d if place == 0 else with_digit(d, k, place - 1, params)
        bus = bus_number(row, column, params)
        return bus if bus_number(row, column + 1, params) > bus else -1

    @rule
    def member_at(bus, seat, params):
        """Return the owner in seat 0, the processor right of it by digit b in seat b + 1."""
        row, d = bus_row_and_column(bus, params)
        if seat == 0:
            return number(row if row > 0 else params[LEVEL], d, params)
        return number(row + 1, with_digit(d, row + 1, seat - 1, params), params)

    def _address(self, node: int) -> str:
        """Return the digits with the dot, as in the completed lens."""
        k, d = map(int, row_and_column(node, self.params))
        digits = [int(digit_at(d, place, self.params)) for place in range(1, self.level + 1)]
        return addresses.address_text(k, digits, self.radices[0])

    def read_address(self, address: str) -> int:
        """Return the processor with this row and these digits."""
        k, digits = addresses.read(address, self.radices[0])
        if len(digits) != self.level or k == 0 or not all(0 <= i < self.radices[0] for i in digits):
            raise ValueError(f"{address!r} is not an address of the completed lens")
        column = 0
        for digit in digits:
            column = column * self.radices[0] + digit
        return int(number(k, column, self.params))

    def node(self, address: str) -> int:
        """Return the node of an address; ``.w`` is another spelling of ``w.``."""
        return super().node(f"{address[1:]}." if address.startswith(".") else address)

    routings = made_routings(plans=plans_or_detour)
    """Routing by the completed lens's plans if all processors of a path are kept, else by the
    columns.
    """


def partial_params(R: int, n: int, size: int) -> list[int]:
    """Return the rules' parameters: the completed lens's, m, r, k0 and the rows' first busses."""
    m, r = divmod(size, n)
    k0 = 1
    while m < R ** (n - k0):
        k0 += 1
    params = [*lens_params(R, R, n, completed=True), m, r, k0, *[0] * (n + 1)]
    for row in range(n):
        before = params[-n - 1 + row]
        # Counts of a row need the counts of previous rows. The list is already used as parameters
        # while it is being filled.
        params[-n + row] = before + kept_before(row, R**n, [0, 0, *params])
    return params
