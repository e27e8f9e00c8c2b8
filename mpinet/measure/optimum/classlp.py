"""The class LP: a bound from counting, and the integers that prove it.

Nodes are put into classes, each at one distance from the root; x(a, b, t) is the number of members
of b that members of a tell first in step t. Every broadcast in T steps, without superfluous sends,
satisfies the rows (docs/how-to/optimum.md proves them); where no numbers do, T steps are not
enough. The solver is an oracle for multipliers: what counts is their sum in integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import gcd

import numpy as np

from mpinet.measure.libraries import require_library
from mpinet.measure.optimum.arcs import Arcs
from mpinet.measure.optimum.simplex import duals

MOST_CLASSES = 60
MOST_COLUMNS = 20_000

SCALES = (1, 12, 720, 5040, 10**4, 10**6, 10**9)
"""By what multipliers are multiplied before they are rounded, until they prove it."""

INFORM, SEND, LINKS, ONCE = range(4)
"""The kinds of rows: nodes informed; sends of a step; sends over time, all and by class."""


def classes_of(arcs: Arcs, rounds: int) -> list[int]:
    """A class for every node: distance, degree, switch or not; then rounds of colour refinement."""
    neighbors: list[list[int]] = [[] for _ in range(arcs.size)]
    for sender, (receiver,) in zip(arcs.senders, arcs.receivers, strict=True):
        neighbors[sender].append(receiver)
    key: list[tuple[object, ...]] = [
        (arcs.distance[node], len(others), node >= arcs.hosts)
        for node, others in enumerate(neighbors)
    ]
    colors = _numbered(key)
    for _ in range(rounds):
        key = [
            (colors[node], tuple(sorted(Counter(colors[other] for other in others).items())))
            for node, others in enumerate(neighbors)
        ]
        colors = _numbered(key)
    return colors


def _numbered(keys: list[tuple[object, ...]]) -> list[int]:
    """Equal keys get equal numbers, in ascending order."""
    number = {key: place for place, key in enumerate(sorted(set(keys)))}
    return [number[key] for key in keys]


@dataclass(frozen=True, eq=False)
class Quotient:
    """What the rows take from the network.

    Attributes
    ----------
    size, distance, degree : list of int
        Of each class: members, their distance, the largest degree.
    switches : list of bool
        Whether they are switches, which need not be informed.
    most : dict of (int, int) to int
        Most neighbours in class b of one member of class a, where there are any.
    root : int
        The root's class.
    """

    size: list[int]
    distance: list[int]
    degree: list[int]
    switches: list[bool]
    most: dict[tuple[int, int], int]
    root: int

    @classmethod
    def of(cls, arcs: Arcs, colors: list[int]) -> Quotient:
        """Count what the classes are."""
        count = max(colors) + 1
        distance, switches = [0] * count, [False] * count
        for node, color in enumerate(colors):
            distance[color], switches[color] = arcs.distance[node], node >= arcs.hosts
        near: dict[tuple[int, int], int] = {}
        degrees = [0] * arcs.size
        for sender, (receiver,) in zip(arcs.senders, arcs.receivers, strict=True):
            degrees[sender] += 1
            key = (sender, colors[receiver])
            near[key] = near.get(key, 0) + 1
        degree, most = [0] * count, dict[tuple[int, int], int]()
        for node, color in enumerate(colors):
            degree[color] = max(degree[color], degrees[node])
        for (sender, there), many in near.items():
            pair = (colors[sender], there)
            most[pair] = max(most.get(pair, 0), many)
        size = [colors.count(color) for color in range(count)]
        return cls(size, distance, degree, switches, dict(sorted(most.items())), colors[arcs.root])


@dataclass(eq=False)
class Rows:
    """The rows ``coefficients . x <= right``; those of `INFORM` are equations, but of switches."""

    columns: list[tuple[int, int, int]]
    kinds: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    begin: list[int] = field(default_factory=lambda: [0])
    index: list[int] = field(default_factory=list)
    value: list[int] = field(default_factory=list)

    def add(self, kind: int, right: int, entries: dict[int, int]) -> None:
        """One more row."""
        for column, value in entries.items():
            if value:
                self.index.append(column)
                self.value.append(value)
        self.kinds.append(kind)
        self.right.append(right)
        self.begin.append(len(self.index))


def columns_of(quotient: Quotient, steps: int) -> list[tuple[int, int, int]]:
    """The variables x(a, b, t), by a, b, t."""
    distance = quotient.distance
    return [
        (a, b, t)
        for a, b in quotient.most
        if b != quotient.root
        for t in range(max(distance[a] + 1, distance[b], 1), steps + 1)
    ]


def rows_of(quotient: Quotient, steps: int) -> Rows:
    """All rows for T steps, in their order: by kind, then class (and class), then step."""
    rows = Rows(columns_of(quotient, steps))
    classes, root = range(len(quotient.size)), quotient.root
    place = {column: number for number, column in enumerate(rows.columns)}
    informing: dict[int, list[tuple[int, int]]] = {a: [] for a in classes}
    sent: dict[int, list[tuple[int, int]]] = {a: [] for a in classes}
    by: dict[tuple[int, int], list[tuple[int, int]]] = {pair: [] for pair in quotient.most}
    for (a, b, t), number in place.items():
        informing[b].append((t, number))
        sent[a].append((t, number))
        by[a, b].append((t, number))
    for b in classes:
        if b != root:
            rows.add(INFORM, quotient.size[b], {number: 1 for _, number in informing[b]})
    steps_of = [range(quotient.distance[a] + 1, steps + 1) for a in classes]
    for a in classes:
        for t in steps_of[a]:
            entries = {number: 1 for s, number in sent[a] if s == t}
            _less(entries, ((number, 1) for s, number in informing[a] if s < t))
            rows.add(SEND, int(a == root), entries)
    for a in classes:
        for t in steps_of[a]:
            most = quotient.degree[a] - (a != root)
            entries = {number: 1 for s, number in sent[a] if s <= t}
            _less(entries, ((number, min(t - s, most)) for s, number in informing[a] if s < t))
            rows.add(LINKS, min(t, most) if a == root else 0, entries)
    for (a, b), most in quotient.most.items():
        if b == root:
            continue
        for t in steps_of[a]:
            entries = {number: 1 for s, number in by[a, b] if s <= t}
            _less(entries, ((number, min(t - s, most)) for s, number in informing[a] if s < t))
            rows.add(ONCE, min(t, most) if a == root else 0, entries)
    return rows


def _less(entries: dict[int, int], taken: Iterable[tuple[int, int]]) -> None:
    """Take some coefficients away."""
    for number, value in taken:
        entries[number] = entries.get(number, 0) - value


@dataclass(frozen=True)
class Multipliers:
    """What proves that T steps are not enough.

    Attributes
    ----------
    classes : str or list of int
        ``"distance,degree"``, or a class for every node.
    rows : int
        How many rows there are.
    of : dict of int to int
        A row's integer, where it is not 0.
    """

    classes: str | list[int]
    rows: int
    of: dict[int, int]


def refutation(arcs: Arcs, steps: int, rounds: int, limit: float) -> Multipliers | None:
    """Integers that prove that no one-port broadcast takes T steps; None where there are none.

    Parameters
    ----------
    arcs : Arcs
        A network of links.
    steps : int
        T.
    rounds : int
        Of colour refinement.
    limit : float
        Seconds for the solver.

    Raises
    ------
    UsageError
        The solver is not installed.
    """
    colors = classes_of(arcs, rounds)
    if max(colors) >= MOST_CLASSES:
        return None
    quotient = Quotient.of(arcs, colors)
    if len(columns_of(quotient, steps)) > MOST_COLUMNS:
        return None
    rows = rows_of(quotient, steps)
    duals = _duals(quotient, rows, limit)
    if duals is None:
        return None
    for scale in SCALES:
        rounded = [round(scale * dual) for dual in duals]
        if _proves(quotient, rows, rounded):
            most = gcd(*rounded)
            of = {row: many // most for row, many in enumerate(rounded) if many}
            return Multipliers("distance,degree" if rounds == 0 else colors, len(rounded), of)
    return None


def _proves(quotient: Quotient, rows: Rows, rounded: list[int]) -> bool:
    """Whether the sum of so many of each row is a contradiction, after repair of columns."""
    sums, right = [0] * len(rows.columns), 0
    for row, many in enumerate(rounded):
        free = rows.kinds[row] == INFORM and not quotient.switches[_class_of(quotient, row)]
        if many < 0 and not free:
            return False
        if many:
            right += many * rows.right[row]
            for at in range(rows.begin[row], rows.begin[row + 1]):
                sums[rows.index[at]] += many * rows.value[at]
    for (_, b, _), total in zip(rows.columns, sums, strict=True):
        right += max(0, -total) * quotient.size[b]
    return right < 0


def _class_of(quotient: Quotient, row: int) -> int:
    """Whom a `INFORM` row is about."""
    return row + (row >= quotient.root)


def _duals(quotient: Quotient, rows: Rows, limit: float) -> list[float] | None:
    """The multipliers as the solver finds them; None where T steps may be enough."""
    require_library("highspy", extra="optimum")
    count = len(rows.columns)
    lower, upper = np.full(len(rows.kinds), -np.inf), np.array(rows.right, np.float64)
    begin, index, value = [0], list[int](), list[float]()
    for row, kind in enumerate(rows.kinds):
        part = slice(rows.begin[row], rows.begin[row + 1])
        index += rows.index[part]
        value += rows.value[part]
        if kind == INFORM:
            index.append(count)
            value.append(-rows.right[row])
            upper[row] = 0.0
            if not quotient.switches[_class_of(quotient, row)]:
                lower[row] = 0.0
            else:
                index.pop()
                value.pop()
                upper[row] = rows.right[row]
        begin.append(len(index))
    program = {
        "columns": count + 1,
        "begin": np.array(begin, np.int32),
        "index": np.array(index, np.int32),
        "value": np.array(value, np.float64),
        "lower": lower,
        "upper": upper,
    }
    return duals(program, limit)
