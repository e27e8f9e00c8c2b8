"""Restricted redundant binary as the emulator's routing makes it, and all of its words."""

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
"""Room for the digits of a number."""

LENGTH, NONZERO, LOWEST, EVEN_ONES, ODD_ONES, HOPS, HIGHEST, COLUMNS = range(8)
"""Columns of `read_numbers`: digits, nonzero ones, whether digit 0 is one of them, those at even
positions from 2 on, those at odd ones; hops after conversion, and the highest type of them."""


def digits(number: int, least: int = 1) -> tuple[int, ...]:
    """The digits of a number that the emulator's routing finds, the highest first."""
    found = np.zeros(max(DIGITS, number.bit_length() + 2), np.int64)
    count_hops(number, BOTH, found)
    length = max(least, int(np.flatnonzero(found).max(initial=0)) + 1)
    return tuple(found[:length][::-1].tolist())


@remembered(most=16)
def numbers_read(first: int, last: int) -> Ints:
    """A row of `COLUMNS` for each of the numbers first..last."""
    rows = np.zeros((last - first + 1, COLUMNS), np.int64)
    read_numbers(first, rows)
    return rows


@kernel
def read_numbers(first: int, rows: Table) -> None:
    """Write what the emulator's routing makes of consecutive numbers."""
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
    """All words of digits -1, 0, 1, lowest first, in which no two neighbours are nonzero."""
    rows = np.zeros((1, 0), np.int8)
    for _ in range(length):
        # No two neighbours are nonzero: after a nonzero digit only a zero may follow.
        free = rows if not rows.shape[1] else rows[rows[:, -1] == 0]
        grown = [np.insert(rows, rows.shape[1], 0, axis=1)]
        grown += [np.insert(free, free.shape[1], digit, axis=1) for digit in (-1, 1)]
        rows = np.concatenate(grown)
    return rows


def values(rows: NDArray[np.int8]) -> Ints:
    """The numbers that words of digits, lowest first, stand for."""
    return rows.astype(np.int64) @ (1 << np.arange(rows.shape[1]))


def half_round(topology: str) -> int:
    """The number k of sectors half round the ring."""
    m, N = parameters(topology)
    return N // (2 * m)


def range_without_diagonal(topology: str) -> int:
    """The largest sector difference for which the emulator's routing takes no diagonal."""
    return min(half_round(topology), int(open_topology(topology).params[RANGE]))


def hop_types_used(number: int) -> tuple[int, list[int]]:
    """The hops of a sector difference after the conversion: how many, and of which types."""
    found = np.zeros(DIGITS, np.int64)
    count_hops(number, cheaper_class(number), found)
    return int(np.abs(found).sum()), np.flatnonzero(found).tolist()
