"""Routing in the uncompleted lens (section 4): neighbours, regions of difference, and lengths."""

from __future__ import annotations

from functools import partial

import numpy as np

from mpinet.base.arrays import Matrix
from mpinet.claims import Corrected, Measured, points, section
from mpinet.papers.grids import of, pairs_of
from mpinet.papers.lens.grids import U_SMALL, U_WIDE, C, U
from mpinet.papers.lens.measured import distances, distances_a, ways
from mpinet.papers.lens.pairs import NO_PATH, agrees, ends, largest, pairs_claim
from mpinet.papers.lens.walks import (
    LEFT,
    RIGHT,
    Word,
    all_shortest,
    give_all_shortest,
    most_turns,
    word_of,
)
from mpinet.papers.lens.words import differences, dots, region_numbers, regions
from mpinet.papers.measured import size_of
from mpinet.papers.witness import largest_pair, smallest_pair


def patterns(topology: str) -> Matrix:
    """Return whether two addresses follow pattern A (wa.u and w.bu) or B (wa.u and wb.u)."""
    differ, dot = differences(topology), dots(topology)
    n = differ.shape[2]
    source, target = np.broadcast_arrays(dot[:, np.newaxis], dot[np.newaxis])
    completed = topology.startswith("clens")
    follows = np.zeros(source.shape, bool)
    for k in range(1, n + 1):
        only_here = ~np.delete(differ, k - 1, axis=2).any(axis=2)
        follows |= only_here & (source == k) & (target == k) & differ[:, :, k - 1]
        before = k - 1 or (n if completed else 0)
        follows |= only_here & (source == k) & (target == before) & (before != k)
        follows |= only_here & (target == k) & (source == before) & (before != k)
    return follows.astype(np.int64)


def shares_bus(topology: str) -> Matrix:
    """Return whether two processors share a bus."""
    return (ways(topology) > 0).astype(np.int64)


ADJACENT = pairs_claim(
    "LENS-S4-adjacency",
    place="4",
    statement="two processors share a bus if and only if their addresses follow pattern A or B "
    "(1 = so, 0 = not)",
    claimed=patterns,
    measured=shares_bus,
    grid=points(
        f"{U.text}; {C.text}",
        lambda: sorted([*U.points("full"), *C.points("full")], key=lambda at: size_of(**at)),
    ),
)


claim_4 = section(place="4", grid=U, cost=pairs_of, claimed=True)


@claim_4(
    "LENS-S4-region-borders",
    fails_where=(
        "p > 2 and n > 1, or p = 2, q > 2 and n > 2",
        of(lambda p, q, n: n > 1 if p > 2 else q > 2 and n > 2),
    ),
)
def borders(topology: str) -> Measured:
    """Test the borders of all regions, which are found by their definition."""
    differ, dot, (lo, hi) = differences(topology), dots(topology), regions(topology)
    first, last = np.maximum(lo - 1, 0), np.maximum(hi - 1, 0)
    source, target = dot[:, np.newaxis], dot[np.newaxis]
    first = np.minimum(first, differ.shape[2] - 1)
    at_first, at_last = (
        np.take_along_axis(differ, place[:, :, np.newaxis], axis=2)[:, :, 0]
        for place in (first, last)
    )
    left = at_first | ((source == lo - 1) != (target == lo - 1))
    right = at_last | ((source == hi) != (target == hi))
    return agrees(topology, (hi >= lo) & ~(left & right))


def stated_lengths(topology: str) -> Matrix:
    """Return the stated path lengths 2k - |i-j| of all pairs."""
    k, i, j = region_numbers(topology)
    return 2 * k - np.abs(i - j)


def stated_where_joined(topology: str) -> Matrix:
    """Return the stated path lengths 2k - |i-j| of the pairs connected by pattern A."""
    return np.where(distances_a(topology) == NO_PATH, NO_PATH, stated_lengths(topology))


EVERY_LENGTH = pairs_claim(
    "LENS-S4-length-A",
    place="4",
    statement="every pair has a path by pattern A, and the shortest has 2k - |i-j| hops",
    claimed=stated_lengths,
    measured=distances_a,
    grid=U,
    cause="not-joined",
    fails_where=("p > 2", of(lambda p, q, n: p > 2)),
)

JOINED_LENGTH = pairs_claim(
    "LENS-S4-length-A-reachable",
    place="4",
    statement="where pattern A joins a pair, its shortest path has 2k - |i-j| hops",
    corrects="LENS-S4-length-A",
    claimed=stated_where_joined,
    measured=distances_a,
    grid=U,
)


def four_steps(k: int, i: int, j: int) -> dict[int, Word]:
    """Return the words of the paper's four steps, by the end of the region where step 1 goes."""
    return {
        RIGHT: (RIGHT,) * (k - i) + (LEFT,) * k + (RIGHT,) * j,
        LEFT: (LEFT,) * i + (RIGHT,) * k + (LEFT,) * (k - j),
    }


def first_ends(i: int, j: int) -> set[int]:
    """Return the ends for step 1: right if j < i, left if i < j, both if i = j."""
    return {RIGHT, LEFT} if i == j else {RIGHT if j < i else LEFT}


def numbers_of_pair(topology: str, source: int, target: int) -> tuple[int, int, int]:
    """Return a pair's region length k and the dots' places i and j in the region."""
    k, i, j = (int(matrix[source, target]) for matrix in region_numbers(topology))
    return k, i, j


@claim_4("LENS-S4-first-move", grid=U_SMALL)
def first_move(topology: str) -> Measured:
    """Compare the words of all shortest paths with the four steps, with step 1 to either end."""
    for (source, target), paths in all_shortest(topology).items():
        k, i, j = numbers_of_pair(topology, source, target)
        words = {word_of(topology, source, path) for path in paths}
        steps = four_steps(k, i, j)
        if words - set(steps.values()) or first_ends(i, j) != {
            end for end, word in steps.items() if word in words
        }:
            return Measured(False, ends(topology, source, target) | {"k, i, j": (k, i, j)})
    return Measured(True)


def stated_words(topology: str, source: int, target: int) -> set[Word]:
    """Return the words of the four steps of a pair, with step 1 to the ends named by the paper."""
    k, i, j = numbers_of_pair(topology, source, target)
    steps = four_steps(k, i, j)
    return {steps[end] for end in first_ends(i, j)}


ALL_MINIMAL = claim_4(
    "LENS-S4-all-minimal",
    grid=U_SMALL,
    measured=lambda topology: give_all_shortest(topology, partial(stated_words, topology)),
)


@claim_4(
    "LENS-S4-diameter-2n",
    claimed=of(lambda p, q, n: {"pairs without a path": 0, "largest distance": 2 * n}),
    grid=U_WIDE,
    corrected=Corrected(
        "LENS-C-diameter-A",
        claimed=of(lambda p, q, n: 2 * n - 2),
        measured=lambda topology: largest(topology, distances_a(topology)),
    ),
)
def diameter_a(topology: str) -> Measured:
    """Return the diameter by pattern A; the witness is a pair without a path, if one exists."""
    hops = distances_a(topology)
    lost, found = int((hops == NO_PATH).sum()), largest(topology, hops)
    where = ends(topology, *smallest_pair(hops)) if lost else found.where
    return Measured({"pairs without a path": lost, "largest distance": found.value}, where)


@claim_4("LENS-S4-B-saves-at-most-1", relation="in", claimed=(0, 1))
def saved(topology: str) -> Measured:
    """Return the hops saved by pattern B, for the pair whose saving is farthest from 0 .. 1."""
    saving = stated_lengths(topology) - distances(topology)
    # The claim allows 0 and 1, so the witness is the pair farthest outside of this range.
    beyond = np.maximum(saving - 1, -saving)
    source, target = largest_pair(beyond)
    return Measured(int(saving[source, target]), ends(topology, source, target))


TURNS = claim_4(
    "LENS-S4-one-turn",
    relation="<=",
    claimed=1,
    measured=lambda topology: largest(topology, most_turns(topology)),
)
