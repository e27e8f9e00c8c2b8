"""Routing in the completed lens (section 5): arcs, classes of paths, lengths."""

from __future__ import annotations

from functools import partial

import numpy as np

from mpinet.base.arrays import Flags, Matrix
from mpinet.claims import Corrected, Measured, claim, section
from mpinet.claims.remembered import remembered
from mpinet.papers.grids import of, pairs_of
from mpinet.papers.lens.grids import C_MORE, C_SMALL, CLASSES, C, circles
from mpinet.papers.lens.measured import distances, distances_a
from mpinet.papers.lens.pairs import agrees, largest, pairs_claim
from mpinet.papers.lens.walks import (
    ASTRAY,
    LEFT,
    RIGHT,
    Word,
    give_all_shortest,
    run_words,
    walk,
)
from mpinet.papers.lens.words import (
    agreements,
    arc_numbers,
    digits,
    longest_run,
    right_arcs,
)


def class_formulas(topology: str) -> Matrix:
    """Return the four classes' lengths n+a-2b, n+a, 2n-a-2c and 2n-a, shape (4, N, N)."""
    a, b, c = arc_numbers(topology)
    n = digits(topology).shape[1]
    return np.stack([n + a - 2 * b, n + a, 2 * n - a - 2 * c, 2 * n - a])


@remembered
def class_walks(topology: str) -> Matrix:
    """Return the hops of the classes' paths; `ASTRAY` if a path for some B or C does not arrive."""
    a, agree = right_arcs(topology), agreements(topology)
    n = agree.shape[2]
    return np.stack(
        [
            about_runs(topology, RIGHT, a, agree),
            around(topology, RIGHT, a),
            about_runs(topology, LEFT, n - a, agree[:, :, ::-1]),
            around(topology, LEFT, n - a),
        ]
    )


def about_runs(topology: str, direction: int, a: Matrix, agree: Flags) -> Matrix:
    """Return the hops to one end of a longest run of agreement, back to its other end, and on."""
    size, n = len(a), agree.shape[2]
    agree = agree & (np.arange(n) < a[:, :, np.newaxis])
    b = longest_run(agree)
    ones = np.zeros((size, size, n + 1), np.int64)
    np.cumsum(agree, axis=2, out=ones[:, :, 1:])
    found = np.full((size, size), ASTRAY)
    for x in range(n + 1):
        end = np.minimum(x + b, n)[:, :, np.newaxis]
        run = np.take_along_axis(ones, end, axis=2)[:, :, 0] - ones[:, :, x]
        here = (x + b <= a) & (run == b)
        sources, targets = np.nonzero(here)
        words = run_words(direction, a[here], np.full(len(sources), x), b[here], n)
        hops = walk(topology, sources, targets, words)
        before = found[here]
        # Section 5 promises one length for every choice of B, so a pair with two lengths is a
        # failure.
        found[here] = np.where((before == ASTRAY) | (before == hops), hops, ASTRAY)
        if (hops == ASTRAY).any():
            found[sources[hops == ASTRAY], targets[hops == ASTRAY]] = ASTRAY
    return found


def around(topology: str, direction: int, a: Matrix) -> Matrix:
    """Return the hops through the arc and then once around the circle."""
    n = digits(topology).shape[1]
    sources, targets = np.indices(a.shape).reshape(2, -1)
    words = np.where(np.arange(2 * n) < (a + n).ravel()[:, np.newaxis], direction, 0)
    return walk(topology, sources, targets, words).reshape(a.shape)


CLASSES_WALKED = pairs_claim(
    "LENS-S5-class-lengths",
    place="5",
    statement="paths of the classes 1 to 4 arrive after n+a-2b, n+a, 2n-a-2c and 2n-a hops, for "
    "every choice of B and C (digits as in the target, A right of the source)",
    claimed=class_formulas,
    measured=class_walks,
    labels=("class 1", "class 2", "class 3", "class 4"),
    grid=CLASSES,
)


def least_class(topology: str) -> Matrix:
    """Return the least length of the four classes."""
    return class_formulas(topology).min(axis=0)


MINIMUM = pairs_claim(
    "LENS-S5-min-of-classes",
    place="5",
    statement="the distance by pattern A is the least of the four classes' lengths",
    claimed=least_class,
    measured=distances_a,
    grid=C,
)


claim_5 = section(place="5", cost=pairs_of)


@claim_5("LENS-S5-class2-iff-b0", relation="=>", grid=C)
def long_way(topology: str) -> Measured:
    """Return whether no path of class 2 or 4 is shortest if b > 0 or c > 0, respectively."""
    _, b, c = arc_numbers(topology)
    a, n = right_arcs(topology), digits(topology).shape[1]
    hops = distances_a(topology)
    second = (around(topology, RIGHT, a) == hops) & (b > 0)
    fourth = (around(topology, LEFT, n - a) == hops) & (c > 0)
    return agrees(topology, second | fourth)


def by_rule(topology: str) -> Matrix:
    """Return the length of the class chosen by the simple rule, A being the longer arc.

    If both arcs have the same length, A is the right one.
    """
    right, first, second = arc_numbers(topology)
    n = digits(topology).shape[1]
    # The paper calls the longer arc A. Its rule is not symmetric in the two arcs.
    swap = 2 * right < n
    a = np.where(swap, n - right, right)
    b, c = np.where(swap, second, first), np.where(swap, first, second)
    return np.where(2 * b - 2 * c > 2 * a - n, n + a - 2 * b, 2 * n - a - 2 * c)


SIMPLE_RULE = pairs_claim(
    "LENS-S5-simple-rule",
    place="5",
    statement="class 1 if 2b-2c > 2a-n and class 3 otherwise is minimal for pattern A (A the "
    "longer arc, the right one of two equal ones)",
    claimed=by_rule,
    measured=distances_a,
    grid=C,
)


@remembered(most=4096)
def least_words(a: int, agree: tuple[bool, ...]) -> frozenset[Word]:
    """Return the words of the shortest classes, with every choice of B and C.

    Parameters
    ----------
    a : int
        Number of positions from the source's dot rightwards to the target's dot.
    agree : tuple of bool
        Whether the ends agree at each position of the circle, read rightwards from the source's
        dot.
    """
    words = arc_words(RIGHT, agree[:a], len(agree)) | arc_words(LEFT, agree[a:][::-1], len(agree))
    # If the dots are equal, one arc is empty and the other is the whole circle, which can be
    # traversed in either direction.
    if a == 0:
        words |= arc_words(RIGHT, agree, len(agree))
    least = min(map(len, words))
    return frozenset(word for word in words if len(word) == least)


def arc_words(direction: int, agree: tuple[bool, ...], n: int) -> set[Word]:
    """Return the words of class 1 and 2 for an arc; an empty run can be anywhere."""
    a = len(agree)
    b = next(size for size in range(a, -1, -1) if any(runs(agree, size)))
    words = {(direction,) * (a + n)}
    for x, there in enumerate(runs(agree, b)):
        if there:
            y = a - x - b
            words.add((direction,) * x + (-direction,) * (x + n - a + y) + (direction,) * y)
    return words


def runs(agree: tuple[bool, ...], size: int) -> list[bool]:
    """Return for each place whether a run of agreement of this size starts there."""
    return [all(agree[x : x + size]) for x in range(len(agree) - size + 1)]


def words_of(topology: str, source: int, target: int) -> frozenset[Word]:
    """Return the words of a pair's shortest classes; see `least_words`."""
    agree = agreements(topology)[source, target]
    return least_words(int(right_arcs(topology)[source, target]), tuple(agree.tolist()))


@claim_5(
    "LENS-S5-worst-classes",
    claimed=of(lambda p, n: [3 * n // 2]),
    grid=circles("completed lens, n = 2, 4", [(3, 2), (4, 2), (5, 2), (3, 4)]),
)
def worst_classes(topology: str) -> list[int]:
    """Return the different hops of such paths, walked over busses."""
    a, b, c = arc_numbers(topology)
    worst = (2 * a == digits(topology).shape[1]) & (b == 0) & (c == 0)
    return np.unique(class_walks(topology)[:, worst]).tolist()


ALL_MINIMAL = claim_5(
    "LENS-S5-all-minimal",
    claimed=True,
    grid=C_SMALL,
    measured=lambda topology: give_all_shortest(topology, partial(words_of, topology)),
)

SAVED = claim_5(
    "LENS-S5-B-saves-at-most-1",
    relation="<=",
    claimed=1,
    grid=C,
    measured=lambda topology: largest(topology, distances_a(topology) - distances(topology)),
)

DIAMETER_A = claim(
    "LENS-S5-worst-case-A",
    claimed=of(lambda p, n: 3 * n // 2),
    grid=C_MORE,
    cost=pairs_of,
    measured=lambda topology: largest(topology, distances_a(topology)),
    fails_where=("p = 2", of(lambda p, n: p == 2)),
    corrected=Corrected(
        "LENS-C-worst-case-A", claimed=of(lambda p, n: 3 * n // 2 if p >= 3 else n // 2)
    ),
)
