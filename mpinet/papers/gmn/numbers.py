"""Restricted redundant binary numbers as made by the emulator's routing, and all their words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Ints, Table
from mpinet.claims.remembered import remembered
from mpinet.compiled import kernel
from mpinet.networks import open as open_topology
from mpinet.networks.gmn.parameters import RANGE
from mpinet.networks.gmn.walk import BOTH, cheaper_class, count_hops
from mpinet.papers.gmn.grids import parameters

DIGITS = 64
"""Maximum number of digits of a number."""

LENGTH, NONZERO, LOWEST, EVEN_ONES, ODD_ONES, HOPS, HIGHEST, COLUMNS = range(8)
"""Columns of `read_numbers`: number of digits, number of nonzero digits, whether digit 0 is
nonzero, nonzero digits at even positions from 2 on, nonzero digits at odd positions, hops after
conversion, and the highest type of these hops.
"""


def digits(number: int, least: int = 1) -> tuple[int, ...]:
    """Return the digits of a number as found by the emulator's routing, highest first."""
    found = np.zeros(max(DIGITS, number.bit_length() + 2), np.int64)
    count_hops(number, BOTH, found)
    length = max(least, int(np.flatnonzero(found).max(initial=0)) + 1)
    return tuple(found[:length][::-1].tolist())


@remembered(most=16)
def numbers_read(first: int, last: int) -> Ints:
    """Return a row of `COLUMNS` for each of the numbers first..last."""
    rows = np.zeros((last - first + 1, COLUMNS), np.int64)
    read_numbers(first, rows)
    return rows


@kernel
def read_numbers(first: int, rows: Table) -> None:
    """Write the rows of consecutive numbers as converted by the emulator's routing."""
    found = np.zeros(DIGITS, np.int64)
    for i in range(rows.shape[0]):
        row = rows[i]
        count_hops(first + i, BOTH, found)
        for place in range(DIGITS):
            if found[place] != 0:
                row[LENGTH] = place + 1
                row[NONZERO] += 1
                if place == 0:
                    row[LOWEST] = 1
                elif place & 1:
                    row[ODD_ONES] += 1
                else:
                    row[EVEN_ONES] += 1
        count_hops(first + i, cheaper_class(first + i), found)
        row[HIGHEST] = -1
        for place in range(DIGITS):
            row[HOPS] += abs(found[place])
            if found[place] != 0:
                row[HIGHEST] = place


def words(length: int) -> NDArray[np.int8]:
    """Return all words of digits -1, 0, 1, lowest first, without two adjacent nonzero digits."""
    rows = np.zeros((1, 0), np.int8)
    for _ in range(length):
        # A nonzero digit can only be followed by a zero.
        free = rows if not rows.shape[1] else rows[rows[:, -1] == 0]
        grown = [np.insert(rows, rows.shape[1], 0, axis=1)]
        grown += [np.insert(free, free.shape[1], digit, axis=1) for digit in (-1, 1)]
        rows = np.concatenate(grown)
    return rows


def values(rows: NDArray[np.int8]) -> Ints:
    """Return the numbers represented by words of digits, lowest first."""
    return rows.astype(np.int64) @ (1 << np.arange(rows.shape[1]))


def half_round(topology: str) -> int:
    """Return the number k of sectors in half the ring."""
    m, N = parameters(topology)
    return N // (2 * m)


def range_without_diagonal(topology: str) -> int:
    """Return the largest sector difference that the routing covers without a diagonal."""
    return min(half_round(topology), int(open_topology(topology).params[RANGE]))


def hop_types_used(number: int) -> tuple[int, list[int]]:
    """Return number and types of the hops for a sector difference, after the conversion."""
    found = np.zeros(DIGITS, np.int64)
    count_hops(number, cheaper_class(number), found)
    return int(np.abs(found).sum()), np.flatnonzero(found).tolist()
