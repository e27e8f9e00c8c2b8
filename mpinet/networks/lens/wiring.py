"""Wiring of the lens and of the completed lens (docs/papers/lens, 2 and 3).

A *label* is a word of n digits with a dot after its first k digits. These have radix R = p-1, the
other n-k digits have radix S = q-1. Labels are numbered row after row, where k = 0..n is the row.
The busses are the labels of rows 0..n-1. The processors are the labels of rows 1..n, numbered from
0. Crossing the dot pops a digit from one side and pushes another digit on the other side. Rules
therefore keep the values of both sides apart. In the completed lens the word is a circle: row n,
seen from a bus, is row 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mpinet.compiled import rule
from mpinet.errors import NodeError, TopologyError
from mpinet.networks.detours import DETOUR, detour_routing
from mpinet.networks.lens import addresses
from mpinet.networks.lens.broadcast import sweep_of
from mpinet.networks.lens.busses import BusNetwork
from mpinet.networks.lens.labels import (
    ACROSS,
    COMPLETED,
    LEFT,
    LEFT_RADIX,
    LEVEL,
    RIGHT,
    ROWS,
    across_port,
    bus_at_place,
    first_row,
    label_parts,
    layout,
    left_of,
    left_port,
    lens_params,
    next_digit,
    read_port,
    right_of,
    right_power,
    right_row,
    seat_among_others,
)
from mpinet.networks.lens.routing import by_plans, fair, regular, without_plans
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import Routing, made_routings
from mpinet.networks.schedule import Schedule

MAX_DIGITS, MAX_LEVEL = 62, 2**14 - 1
"""Largest n for which 64-bit numbers suffice, and largest n if every row has one label (p = q = 2).
In the latter case a routing's header, with 14 bits for a number of hops, is the limit.
"""


class LensNetwork(BusNetwork):
    """Base of lens and completed lens.

    Ports: the other members of the own bus, then of the lower busses c = 0..S-1, each in member
    order: first the bus's owner, then the processors right of it. Missing members have no port.
    """

    paper = "Finkel, Solomon"
    detour = DETOUR

    def __init__(self, arguments: str, R: int, S: int, n: int, completed: bool):
        require_numbers(f"{self.family}:{arguments}", R, S, n)
        self.radices, self.level, self.completed = (R, S), n, completed
        self.places, self.seats = S + 1, R + 1
        rows = [R**k * S ** (n - k) for k in range(n + 1)]
        # The last row's own busses join nothing in the uncompleted lens. They are left out, and
        # the uncompleted lens has fewer ports.
        own = [R if completed or k < n else 0 for k in range(1, n + 1)]
        lower = [S * (R if completed or k > 1 else R - 1) for k in range(1, n + 1)]
        super().__init__(
            arguments,
            size=sum(rows[1:]),
            ports=max(map(sum, zip(own, lower, strict=True))),
            params=lens_params(R, S, n, completed),
            busses=sum(rows[:n]),
        )

    @rule
    def neighbor(node, port, params):
        """Return the neighbour: the dot moves across a new digit, or a digit is replaced."""
        k, left, right = label_parts(node + first_row(params), params)
        own, owners, members = layout(k, params)
        move, c, seat = read_port(port, own, owners, members, params)
        if move == RIGHT:
            return right_of(k, left, right, seat, params)
        if move == LEFT:
            return left_of(k, left, right, c, params)
        if move == ACROSS:
            digit = left % params[LEFT_RADIX]
            digit = (seat if seat < digit else seat + 1) - digit
            return node + digit * right_power(params[LEVEL] - k, params)
        return -1

    @rule
    def reverse_port(node, port, params):
        """Return the port of the same bus at the other end."""
        k, left, right = label_parts(node + first_row(params), params)
        own, owners, members = layout(k, params)
        move, c, seat = read_port(port, own, owners, members, params)
        digit = left % params[LEFT_RADIX]
        if move == RIGHT:
            popped, there = next_digit(k, left, right, params), right_row(k, params)
            own, owners, members = layout(there, params)
            return left_port(popped, own, members)
        if move == LEFT:
            return digit
        if move == ACROSS:
            there = seat if seat < digit else seat + 1
            return across_port(c, seat_among_others(digit, there), own, owners, members)
        return -1

    @rule
    def channel(node, port, params):
        """Return the number of the own or lower bus: its label."""
        k, left, right = label_parts(node + first_row(params), params)
        own, owners, members = layout(k, params)
        move, c, _ = read_port(port, own, owners, members, params)
        if move < 0:
            return -1
        return bus_at_place(k, left, right, 0 if move == RIGHT else c + 1, params)

    @rule
    def bus_at(node, place, params):
        """Return the own bus at place 0, lower bus c at place c + 1."""
        k, left, right = label_parts(node + first_row(params), params)
        return bus_at_place(k, left, right, place, params)

    @rule
    def member_at(bus, seat, params):
        """Return the owner in seat 0, the processor with digit b right of it in seat b + 1."""
        k, left, right = label_parts(bus, params)
        if seat > 0:
            return right_of(k, left, right, seat - 1, params)
        if k > 0:
            return bus - first_row(params)
        return params[0] - first_row(params) + bus if params[COMPLETED] else -1

    @property
    def digit_bits(self) -> int:
        """Number b > 0 of bits per digit with p = q = 2^b + 1; 0 if p and q have no such form."""
        R, S = self.radices
        return R.bit_length() - 1 if R == S and R & (R - 1) == 0 else 0

    @property
    def stated(self) -> dict[str, int]:
        """Sizes and diameters of sections 3 to 5 and 8."""
        R, S = self.radices
        n = self.level
        if self.params[COMPLETED]:
            size = n * R**n
            return {
                "size": size,
                "busses": size,
                "busses_per_processor": S + 1,
                "processors_per_bus": R + 1,
                "diameter": 3 * n // 2,
            }
        equal = {"size": n * R**n, "busses": n * R**n} if R == S else {}
        return {**equal, "diameter": 2 * n}

    def _address(self, node: int) -> str:
        """Return the digits with the dot: ``021.10``."""
        return self._written(node + int(first_row(self.params)))

    def read_address(self, address: str) -> int:
        """Return the processor with this row and these digits."""
        return self._read(address) - int(first_row(self.params))

    def bus_address(self, bus: int) -> str:
        """Return the digits of a bus with the dot, which may be at the far left: ``.02``."""
        self.require_bus(bus)
        return self._written(bus)

    def bus(self, address: str) -> int:
        """Return the number of the bus with this address: the inverse of `bus_address`.

        Raises
        ------
        NodeError
            No bus has this address.
        """
        # A dot at either end names the same bus of the completed lens. One spelling is chosen
        # before both are compared.
        try:
            number = self._read(self._bus_spelling(address))
        except ValueError:
            number = -1
        if not 0 <= number < self.busses or self._written(number) != self._bus_spelling(address):
            raise NodeError(
                f"{address!r} is not the address of a bus in {self.name}: these are "
                f"{self._written(0)} .. {self._written(self.busses - 1)}."
            )
        return number

    def _bus_spelling(self, address: str) -> str:
        return address

    def _written(self, label: int) -> str:
        k, left, right = map(int, label_parts(label, self.params))
        digits = []
        # Digits are computed from the right, and the right side is taken first. The list is
        # reversed at the end.
        for value, radix, count in (
            (right, self.radices[1], self.level - k),
            (left, self.radices[0], k),
        ):
            for _ in range(count):
                value, digit = divmod(value, radix)
                digits.append(digit)
        return addresses.address_text(k, digits[::-1], max(self.radices))

    def _read(self, address: str) -> int:
        k, digits = addresses.read(address, max(self.radices))
        if len(digits) != self.level:
            raise ValueError(f"{address!r} does not have {self.level} digits")
        value = 0
        for place, digit in enumerate(digits):
            radix = self.radices[0] if place < k else self.radices[1]
            if not 0 <= digit < radix:
                raise ValueError(f"digit {digit} is not below {radix}")
            value = value * radix + digit
        return int(self.params[ROWS + k]) + value

    routings = made_routings(
        plans=by_plans,
        patternA=lambda self: by_plans(self, pattern_b=False),
        stateless=without_plans,
        detour=lambda self: detour_routing(self, without_plans(self)),
    )
    """Routings by plans (sections 5 and 6) and a stateless routing.

    ``plans``: the header has the remaining runs, with pattern B; ``patternA``: without pattern B;
    ``stateless``: to the first neighbour that is closer; ``detour``: the same, with local detours
    around faults.
    """

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the sweep (section 7)."""
        return {"sweep": lambda: sweep_of(self, root)}

    @property
    def random_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Routings with equal loads (section 6).

        ``fair``: a random one of the least plans with random digits; ``regular``: each shortest
        path with the same probability.
        """
        return {"fair": partial(fair, self), "regular": partial(regular, self)}


class Lens(LensNetwork):
    """Lens of level n: at most p processors per bus, at most q busses per processor."""

    parameters = (
        whole_number("p", 2),
        whole_number("q", 2),
        whole_number("n", 1),
    )
    example = "lens:3,4,3"
    specification = "papers/lens 1-5"

    def __init__(self, p: int, q: int, n: int):
        super().__init__(f"{p},{q},{n}", p - 1, q - 1, n, completed=False)

    @property
    def ascend_schedules(self) -> dict[str, str]:
        """Schedules back and forth over the rows, if p = q and digits are bits (section 7)."""
        if not self.digit_bits:
            return {}
        module = "mpinet.programs.schedules.lens_uncompleted"
        return {"rows": f"{module}:ThereAndBack", "mirrored": f"{module}:MirroredThereAndBack"}


class CompletedLens(LensNetwork):
    """Completed lens of level n: p processors per bus, p busses per processor.

    The word is a circle.
    """

    parameters = (whole_number("p", 2), whole_number("n", 2))
    example = "clens:3,4"
    specification = "papers/lens 1-3, 6"

    def __init__(self, p: int, n: int):
        super().__init__(f"{p},{n}", p - 1, p - 1, n, completed=True)

    def node(self, address: str) -> int:
        """Return the node of an address; ``.w`` is another spelling of ``w.``."""
        return super().node(f"{address[1:]}." if address.startswith(".") else address)

    @property
    def ascend_schedules(self) -> dict[str, str]:
        """Sweeps of section 7, if digits are bits; of all processors, if possible.

        ``full``: N elements; ``rows``: R^n elements; ``instances``: n times R^n elements at once.
        The last two are fast if the dimensions descend.
        """
        if not self.digit_bits:
            return {}
        module, full = "mpinet.programs.schedules.lens", "mpinet.programs.schedules.lens_full"
        everywhere = {"full": f"{full}:Full", "full-mirrored": f"{full}:MirroredFull"}
        return {
            **(everywhere if self.level & (self.level - 1) == 0 else {}),
            "rows": f"{module}:RowSweeps",
            "mirrored": f"{module}:Mirrored",
            "instances": f"{module}:Instances",
            "instances-mirrored": f"{module}:MirroredInstances",
        }

    def _bus_spelling(self, address: str) -> str:
        return f".{address[:-1]}" if address.endswith(".") else address


def require_numbers(name: str, R: int, S: int, n: int) -> None:
    """Raise `TopologyError` if n is too large to compute powers with this exponent."""
    most = MAX_LEVEL if R == S == 1 else MAX_DIGITS
    if n > most:
        raise TopologyError(f"{name} is too large: with these p and q, n can be {most} at most.")
