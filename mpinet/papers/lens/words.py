"""Addresses of a lens as the emulator writes them, and what the paper reads off a pair of them."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Flags, Ints, Matrix
from mpinet.claims.remembered import remembered
from mpinet.networks.catalogue import open_topology


def word(address: str) -> tuple[int, tuple[int, ...]]:
    """Dot and digits of an address."""
    return address.index("."), tuple(int(digit) for digit in address.replace(".", ""))


def spelled(dot: int, digits: tuple[int, ...]) -> str:
    """The inverse of `word`."""
    text = "".join(map(str, digits))
    return f"{text[:dot]}.{text[dot:]}"


@remembered
def addresses(topology: str) -> tuple[str, ...]:
    """The address of every processor."""
    network = open_topology(topology)
    return tuple(network.address(node) for node in range(network.size))


@remembered
def dots(topology: str) -> Ints:
    """Digits left of the dot, k in 1..n, of every processor."""
    return np.array([word(address)[0] for address in addresses(topology)])


@remembered
def digits(topology: str) -> Matrix:
    """The digits of every processor, shape (N, n)."""
    return np.array([word(address)[1] for address in addresses(topology)])


@remembered
def differences(topology: str) -> Flags:
    """Tell if two processors differ in a position, shape (N, N, n)."""
    every = digits(topology)
    return np.not_equal(every[:, np.newaxis], every[np.newaxis])


@remembered
def regions(topology: str) -> tuple[Matrix, Matrix]:
    """First position lo and last position hi of every pair's region of difference.

    The shortest interval outside of which both agree and that has both dots in it or on its
    borders, found by trying all, the shortest first; lo = hi + 1 = dot + 1 where they are the same.
    """
    differ, dot = differences(topology), dots(topology)
    n = differ.shape[2]
    source, target = dot[:, np.newaxis], dot[np.newaxis]
    lo, hi = np.zeros(differ.shape[:2], np.int64), np.zeros(differ.shape[:2], np.int64)
    found = ~differ.any(axis=2) & (source == target)
    lo[found], hi[found] = (source + 0 * target)[found] + 1, (source + 0 * target)[found]
    # Tried by the definition of section 4, the shortest first: the routing's closed form is not
    # used.
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
    """Section 4's k, i and j of every pair: the region's length and the dots' places in it."""
    lo, hi = regions(topology)
    dot = dots(topology)
    return hi - lo + 1, dot[:, np.newaxis] - lo + 1, dot[np.newaxis] - lo + 1


@remembered
def right_arcs(topology: str) -> Matrix:
    """Positions that the dot passes on its way right from source to target; 0 for equal dots."""
    dot = dots(topology)
    return (dot[np.newaxis] - dot[:, np.newaxis]) % digits(topology).shape[1]


@remembered
def agreements(topology: str) -> Flags:
    """Tell if a pair agrees in the positions right of the source's dot, in the circle's order."""
    dot, n = dots(topology), digits(topology).shape[1]
    places = (dot[:, np.newaxis] + np.arange(n)) % n
    return ~np.take_along_axis(differences(topology), places[:, np.newaxis, :], axis=2)


@remembered
def arc_numbers(topology: str) -> tuple[Matrix, Matrix, Matrix]:
    """Section 5's a, b and c of every pair, A being the arc that lies right of the source's dot."""
    agree, a = agreements(topology), right_arcs(topology)
    n = agree.shape[2]
    inside = np.arange(n) < a[:, :, np.newaxis]
    return a, longest_run(agree & inside), longest_run(agree & ~inside)


def longest_run(bits: Flags) -> Matrix:
    """Length of the longest run of ones along the last axis."""
    run = np.zeros(bits.shape[:-1], np.int64)
    longest = run.copy()
    for place in range(bits.shape[-1]):
        run = np.where(bits[..., place], run + 1, 0)
        longest = np.maximum(longest, run)
    return longest
