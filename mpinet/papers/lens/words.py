"""Addresses of a lens as written by the emulator, and the paper's numbers for address pairs."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Flags, Ints, Matrix
from mpinet.claims.remembered import remembered
from mpinet.networks.catalogue import open_topology


def word(address: str) -> tuple[int, tuple[int, ...]]:
    """Return dot and digits of an address."""
    return address.index("."), tuple(int(digit) for digit in address.replace(".", ""))


def spelled(dot: int, digits: tuple[int, ...]) -> str:
    """Return the address with the given dot and digits, the inverse of `word`."""
    text = "".join(map(str, digits))
    return f"{text[:dot]}.{text[dot:]}"


@remembered
def addresses(topology: str) -> tuple[str, ...]:
    """Return the address of every processor."""
    network = open_topology(topology)
    return tuple(network.address(node) for node in range(network.size))


@remembered
def dots(topology: str) -> Ints:
    """Return the number of digits left of the dot, k in 1..n, of every processor."""
    return np.array([word(address)[0] for address in addresses(topology)])


@remembered
def digits(topology: str) -> Matrix:
    """Return the digits of every processor, shape (N, n)."""
    return np.array([word(address)[1] for address in addresses(topology)])


@remembered
def differences(topology: str) -> Flags:
    """Return whether two processors differ at a position, shape (N, N, n)."""
    every = digits(topology)
    return np.not_equal(every[:, np.newaxis], every[np.newaxis])


@remembered
def regions(topology: str) -> tuple[Matrix, Matrix]:
    """Return the first position lo and the last position hi of each pair's region of difference.

    The region is the shortest interval with both dots inside or on its borders and agreement
    outside. It is found by trying all intervals, shortest first; lo = hi + 1 = dot + 1 for equal
    processors.
    """
    differ, dot = differences(topology), dots(topology)
    n = differ.shape[2]
    source, target = dot[:, np.newaxis], dot[np.newaxis]
    lo, hi = np.zeros(differ.shape[:2], np.int64), np.zeros(differ.shape[:2], np.int64)
    found = ~differ.any(axis=2) & (source == target)
    lo[found], hi[found] = (source + 0 * target)[found] + 1, (source + 0 * target)[found]
    # Tried by the definition of section 4, shortest first, without the routing's closed form.
    for length in range(1, n + 1):
        for first in range(1, n - length + 2):
            last = first + length - 1
            outside = differ[:, :, : first - 1].any(axis=2) | differ[:, :, last:].any(axis=2)
            low, high = np.minimum(source, target), np.maximum(source, target)
            fits = ~found & ~outside & (first - 1 <= low) & (high <= last)
            lo[fits], hi[fits] = first, last
            found |= fits
    return lo, hi


def region_numbers(topology: str) -> tuple[Matrix, Matrix, Matrix]:
    """Return section 4's k, i and j of each pair: region length and the dots' places in it."""
    lo, hi = regions(topology)
    dot = dots(topology)
    return hi - lo + 1, dot[:, np.newaxis] - lo + 1, dot[np.newaxis] - lo + 1


@remembered
def right_arcs(topology: str) -> Matrix:
    """Return the positions that the dot passes rightwards to the target; 0 for equal dots."""
    dot = dots(topology)
    return (dot[np.newaxis] - dot[:, np.newaxis]) % digits(topology).shape[1]


@remembered
def agreements(topology: str) -> Flags:
    """Return, per pair and position, whether both digits are equal. Shape (N, N, n).

    The positions of a pair begin right of the source's dot and go once round.
    """
    dot, n = dots(topology), digits(topology).shape[1]
    places = (dot[:, np.newaxis] + np.arange(n)) % n
    return ~np.take_along_axis(differences(topology), places[:, np.newaxis, :], axis=2)


@remembered
def arc_numbers(topology: str) -> tuple[Matrix, Matrix, Matrix]:
    """Return section 5's a, b and c of each pair, A being the arc right of the source's dot."""
    agree, a = agreements(topology), right_arcs(topology)
    n = agree.shape[2]
    inside = np.arange(n) < a[:, :, np.newaxis]
    return a, longest_run(agree & inside), longest_run(agree & ~inside)


def longest_run(bits: Flags) -> Matrix:
    """Return the length of the longest run of ones along the last axis."""
    run = np.zeros(bits.shape[:-1], np.int64)
    longest = run.copy()
    for place in range(bits.shape[-1]):
        run = np.where(bits[..., place], run + 1, 0)
        longest = np.maximum(longest, run)
    return longest
