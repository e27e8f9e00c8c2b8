"""The class LP: a lower bound from counting, and the integers that prove it.

Nodes are divided into classes with equal distance from the root. x(a, b, t) is the number of nodes
of class b first informed by class a in step t. Every broadcast in T steps without superfluous sends
satisfies the rows (proofs: docs/reference/bounds.md). If no numbers satisfy the rows, T steps are
not enough. The solver only suggests multipliers; the proof is their sum in integers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import gcd

import numpy as np

from mpinet.measure.libraries import require_library
from mpinet.measure.optimum.arcs import BroadcastArcs
from mpinet.measure.optimum.simplex import duals

# More classes make a larger program than HiGHS solves in a minute. The solver for formulas then has
# better chances.
MOST_CLASSES = 400
MOST_COLUMNS = 20_000

SCALES = (1, 12, 720, 5040, 10**4, 10**6, 10**9)
"""Factors by which multipliers are scaled before rounding, tried in order until the result is a
proof.
"""


def classes_of(arcs: BroadcastArcs, rounds: int) -> list[int]:
    """Return a class per node: distance, degree, switch or not; refined by rounds of colouring."""
    neighbors: list[list[int]] = [[] for _ in range(arcs.size)]
    for sender, (receiver,) in zip(arcs.senders, arcs.receivers, strict=True):
        neighbors[sender].append(receiver)
    key: list[tuple[object, ...]] = [
        (arcs.distance[node], len(others), node >= arcs.hosts)
        for node, others in enumerate(neighbors)
    ]
    colors = _numbered(key)
    # Each round of colour refinement separates nodes with different neighbours. Finer classes lose
    # less when their members are counted together.
    for _ in range(rounds):
        key = [
            (colors[node], tuple(sorted(Counter(colors[other] for other in others).items())))
            for node, others in enumerate(neighbors)
        ]
        colors = _numbered(key)
    return colors


def _numbered(keys: list[tuple[object, ...]]) -> list[int]:
    """Number the keys in ascending order; equal keys get equal numbers."""
    number = {key: place for place, key in enumerate(sorted(set(keys)))}
    return [number[key] for key in keys]


@dataclass(frozen=True, eq=False)
class Quotient:
    """Quotient of the network by its classes, the input of the rows."""

    size: list[int]
    """Number of members of each class."""
    distance: list[int]
    """Distance of each class's members from the root, in hops."""
    degree: list[int]
    """Largest degree of a member of each class."""
    switches: list[bool]
    """True for each class of switches, which need not be informed."""
    most: dict[tuple[int, int], int]
    """Largest number of neighbours in class b of a node in class a, for pairs with neighbours."""
    root: int
    """The class of the root."""

    @classmethod
    def of(cls, arcs: BroadcastArcs, colors: list[int]) -> Quotient:
        """Compute the sizes, degrees and neighbours of the classes."""
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


def columns_of(quotient: Quotient, steps: int) -> list[tuple[int, int, int]]:
    """Return the variables x(a, b, t), ordered by a, b, t."""
    distance = quotient.distance
    return [
        (a, b, t)
        for a, b in quotient.most
        if b != quotient.root
        for t in range(max(distance[a] + 1, distance[b], 1), steps + 1)
    ]


@dataclass(eq=False)
class Inequalities:
    """The rows ``coefficients . x <= right``; the first rows (informed nodes) are equations.

    Most rows contain sums over all steps up to some step. Each such sum is a column of its own: the
    previous sum plus the terms of its step. Rows then have few entries.
    """

    columns: list[tuple[int, int, int]]
    """The variables x(a, b, t). Further columns are sums."""
    sums: list[list[int]] = field(default_factory=list)
    """Columns added up in each sum; all of them precede the sum."""
    informed: list[int] = field(default_factory=list)
    """Classes of the first rows."""
    rows: list[dict[int, int]] = field(default_factory=list)
    """Coefficients of each row, by column."""
    right: list[int] = field(default_factory=list)
    """Right side of each row."""

    def add(self, right: int, more: list[int], less: list[int]) -> None:
        """Add a row with coefficient 1 for the columns `more`, and -1 for the columns `less`."""
        entries = dict.fromkeys(more, 1)
        for column in less:
            entries[column] = entries.get(column, 0) - 1
        self.rows.append(entries)
        self.right.append(right)

    def running(self, added: list[list[int]]) -> list[list[int]]:
        """Return for each step the column of the sum so far; empty before the first term."""
        found, total = list[list[int]](), list[int]()
        for columns in added:
            # A sum without terms is zero, and a column for it would only enlarge the program.
            if total or columns:
                self.sums.append(total + columns)
                total = [len(self.columns) + len(self.sums) - 1]
            found.append(total)
        return found

    def add_all_told(
        self, root: bool, after: range, told: list[list[int]], ready: list[list[int]], most: int
    ) -> None:
        """Add rows for all steps: a member sends one message per step, and `most` in total."""
        for t in after:
            done = ready[t - 1 - most] if t > most else []
            self.add(min(t, most) if root else 0, told[t] + done, ready[t - 1])


def rows_of(quotient: Quotient, steps: int) -> Inequalities:
    """Return all rows for T steps, in order of kind, then class (and class), then step."""
    rows = Inequalities(columns_of(quotient, steps))
    classes, root, times = range(len(quotient.size)), quotient.root, range(steps + 1)
    got: list[list[list[int]]] = [[[] for _ in times] for _ in classes]
    sent: list[list[list[int]]] = [[[] for _ in times] for _ in classes]
    by = {pair: [list[int]() for _ in times] for pair in quotient.most if pair[1] != root}
    for column, (a, b, t) in enumerate(rows.columns):
        for lists in (got[b], sent[a], by[a, b]):
            lists[t].append(column)
    informed = [rows.running(lists) for lists in got]
    rows.informed = [b for b in classes if b != root]
    for b in rows.informed:
        rows.add(quotient.size[b], informed[b][steps], [])
    after = [range(quotient.distance[a] + 1, steps + 1) for a in classes]
    for a in classes:
        for t in after[a]:
            rows.add(int(a == root), sent[a][t], informed[a][t - 1])
    # A node informed until step s counts once in every step from s on.
    ready = [rows.running(lists) for lists in informed]
    for a in classes:
        most = quotient.degree[a] - (a != root)
        rows.add_all_told(a == root, after[a], rows.running(sent[a]), ready[a], most)
    for (a, b), lists in by.items():
        most = quotient.most[a, b]
        rows.add_all_told(a == root, after[a], rows.running(lists), ready[a], most)
    return rows


@dataclass(frozen=True)
class Multipliers:
    """Multipliers that prove T steps to be insufficient."""

    classes: str | list[int]
    """``"distance,degree"``, or a class for every node."""
    rows: int
    """Number of rows of the linear program."""
    of: dict[int, int]
    """Multipliers different from 0, by row."""


def refutation(arcs: BroadcastArcs, steps: int, rounds: int, limit: float) -> Multipliers | None:
    """Return integers that prove T steps to be too few for a one-port broadcast; None if unknown.

    Parameters
    ----------
    arcs : BroadcastArcs
        A network of links.
    steps : int
        The number of steps T.
    rounds : int
        Rounds of colour refinement.
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
    duals = _multipliers_of(quotient, rows, limit)
    if duals is None:
        return None
    # Duals of such programs are often fractions with small denominators. Small scales find short
    # integers; large scales only repair rounding.
    for scale in SCALES:
        rounded = [round(scale * dual) for dual in duals]
        if _proves(quotient, rows, rounded):
            # A common factor changes nothing in the proof and makes the file larger.
            most = gcd(*rounded)
            of = {row: many // most for row, many in enumerate(rounded) if many}
            return Multipliers("distance,degree" if rounds == 0 else colors, len(rounded), of)
    return None


def _proves(quotient: Quotient, rows: Inequalities, rounded: list[int]) -> bool:
    """Return whether the multiples of the rows add up to a contradiction, after repair."""
    total, right = [0] * (len(rows.columns) + len(rows.sums)), 0
    for row, many in enumerate(rounded):
        if many < 0 and not _is_equation(quotient, rows, row):
            return False
        right += many * rows.right[row]
        for column, value in rows.rows[row].items():
            total[column] += many * value
    # A sum may contain an earlier sum. From the last to the first, each sum passes its coefficient
    # on to its columns.
    for place in range(len(rows.sums) - 1, -1, -1):
        for column in rows.sums[place]:
            total[column] += total[len(rows.columns) + place]
    # Rounding can leave a coefficient below zero. The bound of its variable repairs it, which
    # increases the right side.
    for (_, b, _), coefficient in zip(rows.columns, total, strict=False):
        right += max(0, -coefficient) * quotient.size[b]
    return right < 0


def _is_equation(quotient: Quotient, rows: Inequalities, row: int) -> bool:
    """Return whether a row is an equation: all nodes of a class, except switches, are informed."""
    return row < len(rows.informed) and not quotient.switches[rows.informed[row]]


def _multipliers_of(quotient: Quotient, rows: Inequalities, limit: float) -> list[float] | None:
    """Return the solver's multipliers; None if T steps may be enough."""
    require_library("highspy", extra="optimum")
    scale = len(rows.columns) + len(rows.sums)
    entries, lower, upper = list[dict[int, int]](), list[float](), list[float]()
    for row, (coefficients, right) in enumerate(zip(rows.rows, rows.right, strict=True)):
        equation = _is_equation(quotient, rows, row)
        # Feasibility becomes maximization: the largest share of all nodes that can be informed. If
        # it is below 1, the duals refute 1.
        entries.append(coefficients | {scale: -right} if equation else coefficients)
        lower.append(0.0 if equation else -np.inf)
        upper.append(0.0 if equation else right)
    for place, columns in enumerate(rows.sums):
        entries.append({column: 1 for column in columns} | {len(rows.columns) + place: -1})
    none = np.zeros(len(rows.sums))
    program = {
        "columns": scale + 1,
        "plain": len(rows.columns),
        "begin": np.cumsum([0, *map(len, entries)]).astype(np.int32),
        "index": np.array([column for row in entries for column in row], np.int32),
        "value": np.array([value for row in entries for value in row.values()], np.float64),
        "lower": np.concatenate([lower, none]),
        "upper": np.concatenate([upper, none]),
    }
    found = duals(program, limit)
    return None if found is None else found[: len(rows.rows)]
