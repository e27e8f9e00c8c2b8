"""Networks with a group of symmetries: a few base nodes, lifted by a group.

A lift has a node (b, h) for every base node b and every element h of the group. A base link from b
to c with voltage s joins (b, h) to (c, hs) for all h. The group maps the network to itself, so the
distances from one node per base node determine all distances. With one base node the lift is a
Cayley graph (for a cyclic group: a circulant). With the trivial group it is an arbitrary graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.programs.waves import SOURCES_PER_WORD, take_new_of_one_word

MOST_GROUPS = 4
"""Largest number of groups per order that are neither cyclic nor dihedral."""


@dataclass(frozen=True)
class SemidirectProduct:
    """The semidirect product of Z_m and Z_n: (i, a)(j, b) = (i + k^a j, a + b).

    The product is direct for k = 1, cyclic for n = 1, and dihedral for n = 2, k = m - 1. The
    element (i, a) has the number a m + i; 0 is the neutral element.
    """

    m: int
    """Order of the first factor."""
    n: int = 1
    """Order of the second factor."""
    k: int = 1
    """Factor by which the second group multiplies the first; k^n = 1 modulo m."""

    def __str__(self) -> str:
        if self.n == 1:
            return f"Z{self.m}"
        if self.k == 1:
            return f"Z{self.m}xZ{self.n}"
        return f"Z{self.m}:Z{self.n},{self.k}"

    @property
    def order(self) -> int:
        """Number of elements."""
        return self.m * self.n

    @cached_property
    def _powers(self) -> Ints:
        return np.array([pow(self.k, a, self.m) for a in range(self.n)], np.int64)

    def times(self, element: int) -> Ints:
        """Return the products of all elements with `element` on the right, shape (order,)."""
        along, turn = element % self.m, element // self.m
        turns, alongs = np.divmod(np.arange(self.order), self.m)
        behind = (alongs + self._powers[turns] * along) % self.m
        found: Ints = behind + self.m * ((turns + turn) % self.n)
        return found

    def inverse(self, element: int) -> int:
        """Return the inverse of an element."""
        along, turn = element % self.m, element // self.m
        back = -turn % self.n
        return int(-self._powers[back] * along % self.m) + self.m * back

    @cached_property
    def involutions(self) -> list[int]:
        """Elements other than 0 that are their own inverses."""
        return [s for s in range(1, self.order) if self.inverse(s) == s]


def groups_of(order: int) -> Iterator[SemidirectProduct]:
    """Yield groups of this order: cyclic, dihedral, and some other semidirect products."""
    yield SemidirectProduct(order)
    if order % 2 == 0 and order > 4:
        yield SemidirectProduct(order // 2, 2, order // 2 - 1)
    found = 0
    for n in range(2, order):
        m = order // n
        if order % n or m < 3 or found == MOST_GROUPS:
            continue
        # With n = 2 and k = m - 1 the product is the dihedral group, already yielded above.
        turning = [k for k in range(2, m) if pow(k, n, m) == 1 and (n, k) != (2, m - 1)]
        # If a smaller power of k is 1, a part of the second factor commutes, and the group is
        # closer to an abelian group.
        faithful = [k for k in turning if all(pow(k, e, m) != 1 for e in range(1, n))]
        for k in (faithful or turning)[:1]:
            found += 1
            yield SemidirectProduct(m, n, k)


class Lift:
    """A lift that can be changed by moves; its cost is computed by one flood per base node.

    Parameters
    ----------
    base : int
        Number of base nodes, up to 64.
    group : SemidirectProduct
        The group.
    degree : int
        Number of links of each node. Dart j of base node b has the number b degree + j.
    mates, voltages : sequence of int, optional
        For every dart: the dart at the other end of its link (itself for a loop by an involution),
        and the voltage in this direction. Default: `draw` creates both.
    """

    def __init__(
        self, base: int, group: SemidirectProduct, degree: int, mates: Any = (), voltages: Any = ()
    ):
        self.base, self.group, self.degree = base, group, degree
        self.size = base * group.order
        self.mates, self.voltages = list(mates), list(voltages)
        # The flood kernel reads compressed rows. All nodes have equally many darts, so offsets are
        # multiples of the degree.
        self._begins = np.arange(self.size + 1, dtype=np.uint64) * np.uint64(degree)
        self._origins = np.zeros((base, group.order, degree), np.uint32)
        self._every = np.full((1, 1), 2**base - 1, np.uint64)
        for dart in range(len(self.mates)):
            self._write(dart)

    def draw(self, dice: Dice) -> None:
        """Join all darts in random pairs; if their number is odd, one dart becomes a loop."""
        darts = list(range(self.base * self.degree))
        self.mates, self.voltages = [0] * len(darts), [0] * len(darts)
        if len(darts) % 2:
            self._loop(darts.pop(dice(len(darts))), dice)
        while darts:
            self._join(darts.pop(), darts.pop(dice(len(darts))), dice)

    def cost(self) -> tuple[int, int, int]:
        """Return the unconnected pairs, the diameter, and the sum of distances from base nodes."""
        shape = self.size, 1, 1
        fresh, following = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
        # One bit of a word per base node: by symmetry these floods represent the floods from all
        # nodes.
        fresh[:: self.group.order, 0, 0] = np.uint64(1) << np.arange(self.base, dtype=np.uint64)
        seen = fresh.copy()
        origins = self._origins.reshape(-1)
        missing, hops, total = self.base * (self.size - 1), 0, 0
        while missing:
            new = take_new_of_one_word(self._begins, origins, fresh, self._every, seen, following)
            if not new:
                break
            fresh, following = following, fresh
            hops += 1
            missing -= new
            total += hops * new
        return missing, hops, total

    def move(self, dice: Dice) -> list[tuple[int, int, int]]:
        """Change one or two links; return the old (dart, mate, voltage) rows for `undo`.

        There are four kinds of moves. Two links exchange ends. A link gets a new voltage. A link is
        replaced by a loop (an involution) at each end. Two loops are replaced by a link.
        """
        one = dice(len(self.mates))
        other = self.mates[one]
        two = dice(len(self.mates))
        darts = {one, other, two, self.mates[two]}
        before = [(dart, self.mates[dart], self.voltages[dart]) for dart in sorted(darts)]
        # Fewer than four different darts are a loop, or the same link drawn twice: no ends can be
        # exchanged.
        if len(darts) == 4 and dice(2):
            end = self.mates[two]
            self._join(one, two, dice)
            self._join(other, end, dice)
        elif one == other and two == self.mates[two] and one != two:
            self._join(one, two, dice)
        elif one == other:
            self._loop(one, dice)
        elif self.group.involutions and not dice(4):
            self._loop(one, dice)
            self._loop(other, dice)
        else:
            self._join(one, other, dice)
        return before

    def undo(self, before: list[tuple[int, int, int]]) -> None:
        """Restore the links changed by a move."""
        for dart, mate, voltage in before:
            self.mates[dart], self.voltages[dart] = mate, voltage
            self._write(dart)

    def links(self) -> Ints:
        """Return the pairs of neighbours u < v without repetition, shape (k, 2)."""
        ends = self._origins.reshape(self.size, -1).astype(np.int64)
        pairs = np.stack([np.repeat(np.arange(self.size), self.degree), ends.ravel()], axis=1)
        found: Ints = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
        return found

    @property
    def jumps(self) -> list[int] | None:
        """The jumps of a circulant; None if the lift is not a circulant."""
        if self.base > 1 or self.group.n > 1:
            return None
        return sorted({min(s, self.size - s) for s in self.voltages if s})

    def _join(self, dart: int, mate: int, dice: Dice) -> None:
        """Join two darts by a link with a random voltage."""
        order = self.group.order
        inside = dart // self.degree == mate // self.degree
        # Within a base node the neutral voltage would join every node to itself.
        voltage = 1 + dice(order - 1) if inside and order > 1 else dice(order)
        self.mates[dart], self.voltages[dart] = mate, voltage
        self.mates[mate], self.voltages[mate] = dart, self.group.inverse(voltage)
        self._write(dart)
        self._write(mate)

    def _loop(self, dart: int, dice: Dice) -> None:
        """Join a dart to itself with a random involution."""
        involutions = self.group.involutions
        self.mates[dart], self.voltages[dart] = dart, involutions[dice(len(involutions))]
        self._write(dart)

    def _write(self, dart: int) -> None:
        """Update the neighbours behind a dart, for every node of its base node."""
        node, place = divmod(dart, self.degree)
        behind = self.mates[dart] // self.degree
        ends = self.group.times(self.voltages[dart])
        self._origins[node, :, place] = behind * self.group.order + ends


class Dice:
    """Random whole numbers determined by a key, the same on every machine."""

    def __init__(self, key: str):
        # A keyed counter generator draws the same numbers with every version of NumPy, which
        # `default_rng` does not guarantee.
        self._philox = np.random.Philox(
            key=int.from_bytes(sha256(key.encode()).digest()[:16], "big")
        )
        self._words: list[int] = []

    def __call__(self, count: int) -> int:
        """Draw a number 0..count-1."""
        if not self._words:
            self._words = self._philox.random_raw(1024).tolist()
        # The high word of the product is uniform up to 2^-64. Every draw takes exactly one word,
        # unlike rejection sampling.
        return self._words.pop() * count >> 64


def shapes(size: int, degree: int) -> list[tuple[int, SemidirectProduct]]:
    """Return all pairs (number of base nodes, group) whose lifts have this size and degree."""
    return [
        (base, group)
        for base in range(1, min(SOURCES_PER_WORD, size) + 1)
        if size % base == 0
        for group in groups_of(size // base)
        if base * degree % 2 == 0 or group.involutions
    ]
