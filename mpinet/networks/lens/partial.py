"""The partial lens (docs/papers/lens, 9): a completed lens of which the first columns are kept.

Column d holds the processors (k, d) of all rows k, d read as a number. Columns 0..m-1 are kept
whole, and of column m, the *tail*, r processors from row k0 on. Of a box or of a bus, the kept
members are always the first ones, so that two numbers describe a processor's ports.
"""

from __future__ import annotations

from collections.abc import Callable

from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.lens import addresses
from mpinet.networks.lens.busses import BusNetwork
from mpinet.networks.lens.labels import (
    ACROSS,
    LEFT,
    LEFT_RADIX,
    LEVEL,
    RIGHT,
    ROWS,
    across_port,
    left_port,
    left_power,
    lens_params,
    read_port,
    right_row,
    seat_among_others,
)
from mpinet.networks.parameters import Parameter, integer, require_integer, whole_number
from mpinet.networks.routing import Routing


class PartialLens(BusNetwork):
    """Partial lens of `size` processors: the first columns of the completed lens clens:p,n.

    A processor in a full column has the number n*d + k-1; the tail follows, from row k0 on. Busses
    with at least two kept members are kept. Ports as in the completed lens, absent ones skipped.
    """

    family = "plens"
    parameters = (
        whole_number("p", 3),
        Parameter("size", "n..n(p-1)^n", integer),
        Parameter("n", ">= 2, by default the least with n(p-1)^n >= size", integer, default=None),
    )
    example = "plens:3,50"
    paper = "Finkel, Solomon (an idea of the conclusion's)"
    specification = "papers/lens 9"

    def __init__(self, p: int, size: int, n: int | None = None):
        R = self.checked("p", p) - 1
        require_integer("plens", "size", size, 2)
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
        """The port of the same bus at the other end."""
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
        """The number of the own or of the lower bus among the kept ones."""
        k, d = row_and_column(node, params)
        own, owners, members = layout(k, d, params)
        move, c, _ = read_port(port, own, owners, members, params)
        if move < 0:
            return -1
        if move == RIGHT:
            return bus_number(0 if k == params[LEVEL] else k, d, params)
        return bus_number(k - 1, with_digit(d, k, c, params), params)

    @rule
    def bus_at(node, place, params):
        """The own bus at place 0, lower bus c at place c + 1, if it is kept."""
        k, d = row_and_column(node, params)
        row = (0 if k == params[LEVEL] else k) if place == 0 else k - 1
        column = d if place == 0 else with_digit(d, k, place - 1, params)
        bus = bus_number(row, column, params)
        return bus if bus_number(row, column + 1, params) > bus else -1

    @rule
    def member_at(bus, seat, params):
        """The owner in seat 0, the processor with digit b right of it in seat b + 1, if kept."""
        row, d = bus_row_and_column(bus, params)
        if seat == 0:
            return number(row if row > 0 else params[LEVEL], d, params)
        return number(row + 1, with_digit(d, row + 1, seat - 1, params), params)

    def address(self, node: int) -> str:
        """The digits with the dot, as in the completed lens."""
        self.require_node(node)
        k, d = map(int, row_and_column(node, self.params))
        digits = [int(digit_at(d, place, self.params)) for place in range(1, self.level + 1)]
        return addresses.address_text(k, digits, self.radices[0])

    def read_address(self, address: str) -> int:
        """Put row and digits together."""
        k, digits = addresses.read(address, self.radices[0])
        if len(digits) != self.level or k == 0 or not all(0 <= i < self.radices[0] for i in digits):
            raise ValueError(f"{address!r} is no address of the completed lens")
        column = 0
        for digit in digits:
            column = column * self.radices[0] + digit
        return int(number(k, column, self.params))

    def node(self, address: str) -> int:
        """Parse an address as `Topology.node` does; ``.w`` is another spelling of ``w.``."""
        return super().node(f"{address[1:]}." if address.startswith(".") else address)

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The completed lens's plans where all of a path is kept, else round by the columns."""
        from mpinet.networks.lens import detour

        return {"plans": lambda: detour.plans_or_detour(self)}


def partial_params(R: int, n: int, size: int) -> list[int]:
    """The rules' parameters: the completed lens's, m, r, k0 and the rows' first busses."""
    m, r = divmod(size, n)
    k0 = 1
    while m < R ** (n - k0):
        k0 += 1
    params = [*lens_params(R, R, n, completed=True), m, r, k0, *[0] * (n + 1)]
    for row in range(n):
        before = params[-n - 1 + row]
        params[-n + row] = before + kept_before(row, R**n, [0, 0, *params])
    return params


@inlined
def tail_at(params):
    """Return the index of the parameters m, r, k0 and the rows' first busses."""
    return ROWS + 3 * params[LEVEL] + 3


@inlined
def left_row(k, params):
    """The row on the left of row k."""
    return k - 1 if k > 1 else params[LEVEL]


@inlined
def digit_at(d, place, params):
    """The digit at a place 1..n of a column's word."""
    return d // left_power(params[LEVEL] - place, params) % params[LEFT_RADIX]


@inlined
def with_digit(d, place, digit, params):
    """The column with the digit at a place set."""
    weight = left_power(params[LEVEL] - place, params)
    return d + (digit - d // weight % params[LEFT_RADIX]) * weight


@inlined
def in_tail(k, params):
    """Return whether the tail has a processor in row k."""
    at = tail_at(params)
    return (k - params[at + 2] + params[LEVEL]) % params[LEVEL] < params[at + 1]


@inlined
def row_and_column(node, params):
    """The row k = 1..n and the column d of a processor."""
    n, at = params[LEVEL], tail_at(params)
    d = node // n
    if d < params[at]:
        return node - d * n + 1, d
    return (node - n * params[at] + params[at + 2] - 1) % n + 1, params[at]


@inlined
def number(k, d, params):
    """The number of the processor in row k of column d, -1 = not kept."""
    n, at = params[LEVEL], tail_at(params)
    if d < params[at]:
        return n * d + k - 1
    if d == params[at] and in_tail(k, params):
        return n * d + (k - params[at + 2] + n) % n
    return -1


@inlined
def kept_members(k, d, place, params):
    """Count the kept processors of row k that agree with (k, d) but for the digit at `place`."""
    m = params[tail_at(params)]
    weight = left_power(params[LEVEL] - place, params)
    if d + (params[LEFT_RADIX] - 1) * weight < m:
        return params[LEFT_RADIX]
    base = d - d // weight % params[LEFT_RADIX] * weight
    if base > m:
        return 0
    count = (m - base + weight - 1) // weight
    if count >= params[LEFT_RADIX]:
        return params[LEFT_RADIX]
    return count + 1 if base + count * weight == m and in_tail(k, params) else count


@inlined
def layout(k, d, params):
    """Count the kept processors right of this one, owners of lower busses, and members of a box."""
    row = right_row(k, params)
    return (
        kept_members(row, d, row, params),
        kept_members(left_row(k, params), d, k, params),
        kept_members(k, d, k, params),
    )


@inlined
def bus_number(row, d, params):
    """Number of kept busses before the label (row, d), which is its own number if it is kept."""
    before = params[tail_at(params) + 3 + row]
    return before if d == 0 else before + kept_before(row, d, params)


@inlined
def kept_before(row, d, params):
    """Return how many of the busses (row, 0) .. (row, d-1) are kept.

    All are up to column m - 1. Later ones have no owner; they are kept if they have two members,
    which depends on their digits behind place row + 1 and goes on up to the end of the block of
    columns that agree with m in the digits before it.
    """
    n, at = params[LEVEL], tail_at(params)
    m = params[at]
    if d <= m:
        return d
    weight = left_power(n - row - 1, params)
    base = m // (weight * params[LEFT_RADIX]) * weight * params[LEFT_RADIX]
    own = (m - base) // weight
    next_in_tail = 1 if in_tail(row + 1, params) else 0
    owner_in_tail = 1 if in_tail(row if row > 0 else n, params) else 0
    kept = m + (1 if own + next_in_tail + owner_in_tail >= 2 else 0)
    if own == 0:
        return kept
    bound = weight if own > 1 else m - base - weight + next_in_tail
    end = min(d - base, weight * params[LEFT_RADIX])
    kept += end // weight * bound + min(end % weight, bound)
    start = m - base + 1
    return kept - start // weight * bound - min(start % weight, bound)


@inlined
def bus_row_and_column(bus, params):
    """The row and the column of a kept bus: the last label with so many kept busses before it."""
    n, at = params[LEVEL], tail_at(params)
    row = n - 1
    while bus < params[at + 3 + row]:
        row -= 1
    low, high = 0, left_power(n, params) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if bus_number(row, middle, params) <= bus:
            low = middle
        else:
            high = middle - 1
    return row, low
