"""Networks with a group of symmetries: a few base nodes, lifted by a group.

A lift has a node (b, h) for every base node b and every element h of the group. A link of the base
from b to c with the voltage s joins (b, h) to (c, hs) for all h: the group takes the network to
itself, and one node of each b shows the distances of all. With one base node it is a Cayley graph
(of a cyclic group: a circulant), with the group of one element any graph.
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
"""Most groups that are neither cyclic nor dihedral, of an order."""


@dataclass(frozen=True)
class SemidirectProduct:
    """The semidirect product of Z_m and Z_n: (i, a)(j, b) = (i + k^a j, a + b).

    It is direct with k = 1, cyclic with n = 1, and dihedral with n = 2, k = m - 1. The element
    (i, a) has the number a m + i; 0 is the neutral one.
    """

    m: int
    """Order of the first factor."""
    n: int = 1
    """Order of the second factor."""
    k: int = 1
    """Number by which the second factor multiplies the first; k^n = 1 modulo m."""

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
        """All elements times this one, shape (order,)."""
        along, turn = element % self.m, element // self.m
        turns, alongs = np.divmod(np.arange(self.order), self.m)
        behind = (alongs + self._powers[turns] * along) % self.m
        found: Ints = behind + self.m * ((turns + turn) % self.n)
        return found

    def inverse(self, element: int) -> int:
        """The element that takes this one back."""
        along, turn = element % self.m, element // self.m
        back = -turn % self.n
        return int(-self._powers[back] * along % self.m) + self.m * back

    @cached_property
    def involutions(self) -> list[int]:
        """Elements other than 0 that are their own inverses."""
        return [s for s in range(1, self.order) if self.inverse(s) == s]


def groups_of(order: int) -> Iterator[SemidirectProduct]:
    """Groups of this order: cyclic, dihedral, and some more products of two cyclic ones."""
    yield SemidirectProduct(order)
    if order % 2 == 0 and order > 4:
        yield SemidirectProduct(order // 2, 2, order // 2 - 1)
    found = 0
    for n in range(2, order):
        m = order // n
        if order % n or m < 3 or found == MOST_GROUPS:
            continue
        # With n = 2 and k = m - 1 the product is the dihedral group, which has been yielded before.
        turning = [k for k in range(2, m) if pow(k, n, m) == 1 and (n, k) != (2, m - 1)]
        # Where a smaller power of k is 1 a part of the second factor commutes, and the group is
        # closer to an abelian one.
        faithful = [k for k in turning if all(pow(k, e, m) != 1 for e in range(1, n))]
        for k in (faithful or turning)[:1]:
            found += 1
            yield SemidirectProduct(m, n, k)


class Lift:
    """A lift that changes by moves; its cost is that of floods from a node of each base node.

    Parameters
    ----------
    base : int
        Base nodes, up to 64.
    group : SemidirectProduct
        The group.
    degree : int
        Links of each node: darts of a base node, whose numbers are b degree + j.
    mates, voltages : sequence of int, optional
        Of every dart, the other end of its link (itself: a loop by an involution), and the voltage
        towards there. Default: `draw` makes them.
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
        """Join all darts in pairs at random; one is joined to itself where their number is odd."""
        darts = list(range(self.base * self.degree))
        self.mates, self.voltages = [0] * len(darts), [0] * len(darts)
        if len(darts) % 2:
            self._loop(darts.pop(dice(len(darts))), dice)
        while darts:
            self._join(darts.pop(), darts.pop(dice(len(darts))), dice)

    def cost(self) -> tuple[int, int, int]:
        """Pairs that are not joined, diameter, sum of distances from the base nodes."""
        shape = self.size, 1, 1
        fresh, following = np.zeros(shape, np.uint64), np.zeros(shape, np.uint64)
        # A bit of one word for each base node: by the group's symmetry these floods stand for those
        # from all nodes.
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
        """Change a link or two; rows (dart, mate, voltage) of before, for `undo`.

        Two links exchange ends, or one gets another voltage, or an involution at each end, or two
        such become one link.
        """
        one = dice(len(self.mates))
        other = self.mates[one]
        two = dice(len(self.mates))
        darts = {one, other, two, self.mates[two]}
        before = [(dart, self.mates[dart], self.voltages[dart]) for dart in sorted(darts)]
        # Fewer than four different darts are a loop, or one link drawn twice: no ends can be
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
        """Take a move back."""
        for dart, mate, voltage in before:
            self.mates[dart], self.voltages[dart] = mate, voltage
            self._write(dart)

    def links(self) -> Ints:
        """Pairs of neighbours u < v, each once, shape (k, 2)."""
        ends = self._origins.reshape(self.size, -1).astype(np.int64)
        pairs = np.stack([np.repeat(np.arange(self.size), self.degree), ends.ravel()], axis=1)
        found: Ints = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
        return found

    @property
    def jumps(self) -> list[int] | None:
        """The jumps of a circulant; None where it is none."""
        if self.base > 1 or self.group.n > 1:
            return None
        return sorted({min(s, self.size - s) for s in self.voltages if s})

    def _join(self, dart: int, mate: int, dice: Dice) -> None:
        """Make a link with a voltage that is drawn."""
        order = self.group.order
        inside = dart // self.degree == mate // self.degree
        # Within a base node the neutral voltage would join every node to itself.
        voltage = 1 + dice(order - 1) if inside and order > 1 else dice(order)
        self.mates[dart], self.voltages[dart] = mate, voltage
        self.mates[mate], self.voltages[mate] = dart, self.group.inverse(voltage)
        self._write(dart)
        self._write(mate)

    def _loop(self, dart: int, dice: Dice) -> None:
        """Join a dart to itself, by an involution."""
        involutions = self.group.involutions
        self.mates[dart], self.voltages[dart] = dart, involutions[dice(len(involutions))]
        self._write(dart)

    def _write(self, dart: int) -> None:
        """Write where a dart leads from every node of its base node."""
        node, place = divmod(dart, self.degree)
        behind = self.mates[dart] // self.degree
        ends = self.group.times(self.voltages[dart])
        self._origins[node, :, place] = behind * self.group.order + ends


class Dice:
    """Whole numbers drawn by a key, the same on every machine."""

    def __init__(self, key: str):
        # A keyed counter generator draws the same numbers with every version of NumPy, which
        # `default_rng` does not promise.
        self._philox = np.random.Philox(
            key=int.from_bytes(sha256(key.encode()).digest()[:16], "big")
        )
        self._words: list[int] = []

    def __call__(self, count: int) -> int:
        """Draw a number 0..count-1."""
        if not self._words:
            self._words = self._philox.random_raw(1024).tolist()
        # The high word of the product is uniform up to 2^-64, and every draw takes exactly one
        # word: rejection would not.
        return self._words.pop() * count >> 64


def shapes(size: int, degree: int) -> list[tuple[int, SemidirectProduct]]:
    """Numbers of base nodes, and groups, whose lifts have so many nodes of this degree."""
    return [
        (base, group)
        for base in range(1, min(SOURCES_PER_WORD, size) + 1)
        if size % base == 0
        for group in groups_of(size // base)
        if base * degree % 2 == 0 or group.involutions
    ]
