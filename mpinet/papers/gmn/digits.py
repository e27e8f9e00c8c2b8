"""Restricted redundant binary and the number of hops (sections 3.1 and 3.2)."""

from __future__ import annotations

from functools import partial
from math import ceil, log2

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.claims import Measured, claim, once, over, points, section
from mpinet.networks import open as open_topology
from mpinet.papers.gmn.grids import TO_20, each_m, largest_size, name, parameters, sectors_of
from mpinet.papers.gmn.numbers import (
    EVEN_ONES,
    HIGHEST,
    HOPS,
    LENGTH,
    LOWEST,
    NONZERO,
    ODD_ONES,
    digits,
    half_round,
    numbers_read,
    range_without_diagonal,
    values,
    words,
)
from mpinet.papers.gmn.structure import position_of
from mpinet.papers.witness import largest


def bound_1(m: int) -> int:
    """Return B1, the printed bound on the number of hops without the diagonal."""
    # The larger of two cases of section 3.2: in odd differences, digit 0 is a hop in addition to
    # the other digits.
    return 3 * (m // 4) // 2 if m % 8 in (0, 1) else 3 * ((m - 2) // 4) // 2 + 1


def bound_2(m: int) -> int:
    """Return B2, the bound on hops, with the printed bracket floor(3/2 (m//4 - 1)) corrected."""
    return 3 * ((m - 2) // 4) // 2 + 1 if m % 8 in (2, 3) else 3 * (m // 4 - 1) // 2 + 2


example_1 = claim(
    "GMN-RRB-ex1", claimed=(1, 0, 0, 0, -1, 0, -1), grid=once("59"), measured=lambda: digits(59)
)


@claim(
    "GMN-RRB-ex2",
    claimed={"digits": (1, 0, 0, -1, 0, -1, 0, 1), "w": 4, "w_e": 2, "w_o": 1},
    grid=once("109"),
)
def example_2() -> dict[str, object]:
    """Return digits and weights of the number in the emulator's routing."""
    row = numbers_read(109, 109)[0]
    weights = {"w": NONZERO, "w_e": EVEN_ONES, "w_o": ODD_ONES}
    return {"digits": digits(109)} | {key: int(row[column]) for key, column in weights.items()}


weights_add_up = claim(
    "GMN-RRB-weights",
    relation="all",
    measured=lambda: all(
        row[NONZERO] == row[EVEN_ONES] + row[ODD_ONES] + x % 2
        for x, row in enumerate(numbers_read(0, 2**14 - 1).tolist())
    ),
)


@claim(
    "GMN-RRB-redundant",
    claimed=59,
    grid=over(word=((1, 0, 0, -1, 1, 0, -1), (1, 0, 0, 0, -1, 0, -1))),
)
def sectors_led(word: tuple[int, ...]) -> int:
    """Return the sectors that a walk through G(16,8192) advances, with a hop per digit."""
    network = open_topology(name(16, 8192))
    m, node = 16, 0
    for kind, digit in enumerate(reversed(word)):
        if digit:
            node = node // m * m + position_of(kind, network.name)
            node = int(network.neighbor(node, 2 if digit > 0 else 3))
    return node // m % sectors_of(network.name)


@claim("GMN-RRB-unique", relation="all", grid=once("all words of 11 digits"))
def unique() -> Measured | bool:
    """Return whether the words of 11 digits represent each number of a range exactly once."""
    rows = words(11)
    numbers = values(rows)
    different, counts = np.unique(numbers, return_counts=True)
    # Two words for one number refute uniqueness before the routing's own word is compared.
    if counts.max() > 1:
        return Measured(False, {"number": int(different[counts > 1][0])})
    for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        if digits(number, least=11) != tuple(row[::-1]):
            return Measured(False, {"number": number, "routing's digits": digits(number)})
    most = int(different.max())
    return bool(np.array_equal(different, np.arange(-most, most + 1)))


@claim(
    "GMN-L1",
    relation="<=",
    claimed=lambda above, upto: ceil((log2(upto) + 1) / 2),
    grid=points(
        "n < 2^18",
        [{"above": 0, "upto": 2}]
        + [
            {"above": 2 ** (2 * b - 1), "upto": min(2 ** (2 * b + 1), 2**18 - 1)}
            for b in range(1, 9)
        ]
        + [{"above": 2**17, "upto": 2**18 - 1}],
    ),
)
def most_nonzero(above: int, upto: int) -> Measured:
    """Return the largest number of nonzero digits, with the least number that has as many."""
    return largest(numbers_read(above + 1, upto)[:, NONZERO], "n", first=above + 1)


largest_number = claim(
    "GMN-L2",
    measures=False,
    claimed=lambda b: (2 * (2**b - 1) + b % 2) // 3,
    grid=over(b=range(1, 16)),
    measured=lambda b: int(values(words(b)).max()),
)


def near(topology: str) -> Ints:
    """Return the routing's `COLUMNS` of the sector differences up to N//(4m)."""
    m, N = parameters(topology)
    return numbers_read(0, N // (4 * m))


claim_3_2 = section(place="3.2", grid=TO_20)

most_digits = claim_3_2(
    "GMN-D-bits",
    relation="<=",
    claimed=lambda topology: parameters(topology)[0] // 2,
    measured=lambda topology: largest(near(topology)[:, LENGTH], "delta"),
)


def most_ones_above(lowest: int, topology: str) -> Measured:
    """Return the most nonzero digits above digit 0 of near differences with the given digit 0."""
    rows = near(topology)
    above = rows[:, EVEN_ONES] + rows[:, ODD_ONES]
    return largest(np.where(rows[:, LOWEST] == lowest, above, -1), "delta")


claim_3_2_case_1 = section(place="3.2 case 1", grid=TO_20, relation="<=")

WEIGHTS = (
    claim_3_2_case_1(
        "GMN-D-weight-odd",
        reading='the printed "=" between the two is read as a bound.',
        claimed=lambda topology: (parameters(topology)[0] - 2) // 4,
        measured=partial(most_ones_above, 1),
    ),
    claim_3_2_case_1(
        "GMN-D-weight-even",
        claimed=lambda topology: parameters(topology)[0] // 4,
        measured=partial(most_ones_above, 0),
    ),
)


@claim(
    "GMN-D-middle-range",
    reading="the ranges are taken from Lemma 2, because the printed exponents contradict each "
    "other.",
    claimed=0,
    grid=TO_20,
)
def left_over(topology: str) -> Measured:
    """Return the number of sector differences in neither range, with the first."""
    half = parameters(topology)[0] // 2
    length = numbers_read(0, half_round(topology))[:, LENGTH]
    # Reversed, because the diagonal's remainder of a difference counts down from half the ring.
    left = np.flatnonzero((length > half) & (length[::-1] > half - 1))
    return Measured(len(left), {"delta": int(left[0])} if len(left) else {})


routing_steps = claim(
    "GMN-R-steps",
    reading="a step is a digit; our constant for O(log N) is 1.",
    relation="<=",
    claimed=lambda topology: log2(parameters(topology)[1]),
    grid=TO_20,
    measured=lambda topology: largest(numbers_read(0, half_round(topology))[:, LENGTH], "delta"),
)


@claim_3_2(
    "GMN-D-convert",
    relation="<=",
    claimed=lambda w: 3 * w // 2,
    grid=over("w <= 7, delta < 2^14", w=range(8)),
)
def most_converted(w: int) -> Measured:
    """Return the most hops of a difference of weight w, with the first such difference."""
    rows = numbers_read(0, 2**14 - 1)
    weights = rows[:, EVEN_ONES] + rows[:, ODD_ONES]
    hops = np.where(weights == w, rows[:, HOPS] - (rows[:, NONZERO] - weights), -1)
    return largest(hops, "delta")


most_hops_near = claim_3_2(
    "GMN-D-B1",
    relation="<=",
    claimed=lambda topology: bound_1(parameters(topology)[0]),
    measured=lambda topology: largest(near(topology)[:, HOPS], "delta"),
)


def diagonal_rows(topology: str, first: int) -> Ints:
    """Return the `COLUMNS` of the remainders after the diagonal, for the differences first..k."""
    k = half_round(topology)
    return numbers_read(0, k)[: k - first + 1][::-1]


@claim_3_2("GMN-D-B2", relation="<=", claimed=lambda topology: bound_2(parameters(topology)[0]))
def most_hops_far(topology: str) -> Measured | int:
    """Return the most hops with the diagonal, with the first difference; 0 if none needs it."""
    first = range_without_diagonal(topology) + 1
    rows = diagonal_rows(topology, first)
    return largest(rows[:, HOPS] + 1, "delta", first) if len(rows) else 0


larger_bound = claim_3_2(
    "GMN-D-maxB",
    measures=False,
    claimed=bound_2,
    grid=each_m(1999, 1999),
    measured=lambda m: max(bound_1(m), bound_2(m)),
)


@claim_3_2("GMN-D-hops", relation="<=", claimed=lambda topology: bound_2(parameters(topology)[0]))
def most_hops(topology: str) -> Measured:
    """Return the most hops taken by the routing, with the first difference that needs them."""
    reach = range_without_diagonal(topology)
    far = diagonal_rows(topology, reach + 1)
    return largest(np.concatenate([numbers_read(0, reach)[:, HOPS], far[:, HOPS] + 1]), "delta")


def highest_after_diagonal(topology: str, reach: int) -> Measured | int:
    """Return the highest hop type after the diagonal, for differences beyond `reach`, or -1."""
    rows = diagonal_rows(topology, reach + 1)
    return largest(rows[:, HIGHEST], "delta", reach + 1) if len(rows) else -1


highest_beyond_lemma_2 = claim(
    "GMN-D-diag",
    relation="<",
    claimed=lambda topology: parameters(topology)[0] // 2 - 1,
    grid=TO_20,
    measured=lambda topology: highest_after_diagonal(topology, range_without_diagonal(topology)),
)


def has_odd_half(topology: str) -> bool:
    """Return whether a network is the largest G(m,N) of an m with odd m//2."""
    m, N = parameters(topology)
    return largest_size(m) == N and m // 2 % 2 == 1


@claim(
    "GMN-D-diag-printed",
    relation="<",
    claimed=lambda topology: parameters(topology)[0] // 2 - 1,
    grid=TO_20,
    fails_where=("N = m 2^(floor(m/2) + 1) and floor(m/2) is odd", has_odd_half),
)
def highest_beyond_print(topology: str) -> Measured | int:
    """Return the highest hop type after the diagonal, with the range that the paper prints.

    Sector differences beyond the range take the diagonal. Without such a difference, the
    result is -1.
    """
    # The algorithm rounds down, but Lemma 2 adds a third for an odd number of digits.
    printed = 2 * (2 ** (parameters(topology)[0] // 2) - 1) // 3
    return highest_after_diagonal(topology, min(printed, half_round(topology)))
