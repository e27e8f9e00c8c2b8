"""Statements that docs/papers/lens adds to the paper's: distances, degrees, and symmetry."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np

from mpinet import measure
from mpinet.base.arrays import Matrix
from mpinet.claims import BEYOND, Measured, section
from mpinet.claims.remembered import remembered
from mpinet.networks.catalogue import open_topology
from mpinet.papers.grids import numbers, of, pairs_of, up_to
from mpinet.papers.lens.circle import runs
from mpinet.papers.lens.grids import C_FIVE, C_MORE, FIVE, C, U, by_size, circles
from mpinet.papers.lens.loads import EQUAL, both_spreads
from mpinet.papers.lens.measured import (
    busses_of_processors,
    distances,
    distances_a,
    pattern_a,
    processors_of_busses,
)
from mpinet.papers.lens.pairs import ends, largest, pairs_claim
from mpinet.papers.lens.symmetry import image, is_dual
from mpinet.papers.lens.walks import LEFT, RIGHT, crossings, moves
from mpinet.papers.lens.words import (
    agreements,
    digits,
    dots,
    region_numbers,
    right_arcs,
)
from mpinet.papers.measured import size_of


def closed_form(topology: str) -> Matrix:
    """Return all distances: 2k - |i-j|, minus 1 if both i and j are positive."""
    k, i, j = region_numbers(topology)
    return np.where(k == 0, 0, 2 * k - np.abs(i - j) - (np.minimum(i, j) > 0))


CLOSED_FORM = pairs_claim(
    "LENS-X-distance",
    place=BEYOND,
    statement="the distance in the lens is 2k - |i-j|, less 1 if i and j are both positive",
    claimed=closed_form,
    measured=distances,
    grid=U,
)


def lens_diameter(p: int, q: int, n: int) -> int:
    """Return the lens's diameter: 2n-1, or 2n-2 if p=2, or n-1 if p=q=2."""
    if p >= 3:
        return 2 * n - 1
    return 2 * n - 2 if q > 2 else n - 1


claim_beyond = section(place=BEYOND)

DIAMETER = claim_beyond(
    "LENS-X-diameter",
    statement="the lens's diameter is 2n-1 if p>=3, 2n-2 if p=2<q, n-1 if p=q=2",
    corrects="LENS-S8-diameter-lens",
    claimed=of(lens_diameter),
    grid=U,
    cost=pairs_of,
    measured=lambda topology: largest(topology, distances(topology)),
)


@claim_beyond(
    "LENS-X-distance-completed",
    statement="the routing's rule for the completed lens gives shortest routes, by pattern A and "
    "by both patterns (hops beyond the distance)",
    claimed={"pattern A": 0, "both patterns": 0},
    grid=C,
    cost=pairs_of,
)
def beyond_distance(topology: str) -> Measured:
    """Return the largest excess of a route's length over the distance, for all pairs."""
    values, where = {}, {}
    for label, name, hops in (
        ("pattern A", "patternA", distances_a(topology)),
        ("both patterns", "plans", distances(topology)),
    ):
        lengths = measure.length_matrix(topology, name).astype(np.int64)
        lost = lengths < 0
        found = largest(topology, np.where(lost, size_of(topology), lengths - hops))
        values[label] = "not delivered" if lost.any() else found.value
        where[label] = found.where
    return Measured(values, where)


COMPLETED_DIAMETER = claim_beyond(
    "LENS-X-diameter-completed",
    statement="the completed lens's diameter is max(n, floor(3n/2) - 1) if p>=3, floor(n/2) if p=2",
    corrects="LENS-S8-diameter-completed",
    claimed=of(lambda p, n: max(n, 3 * n // 2 - 1) if p >= 3 else n // 2),
    grid=C_MORE,
    cost=pairs_of,
    measured=measure.diameter,
)


def butterfly(topology: str) -> Matrix:
    """Return whether two nodes of the wrapped (p-1)-ary butterfly are neighbours.

    Node (level l, word w) corresponds to the processor with k mod n = l and the digits w. Digit l+1
    of the word changes from level l to the next level.
    """
    level, word = dots(topology) % digits(topology).shape[1], digits(topology)
    n = word.shape[1]
    adjacent = np.zeros((len(word), len(word)), np.int64)
    for here in range(n):
        rest = np.delete(word, here, axis=1)
        same = (rest[:, np.newaxis] == rest[np.newaxis]).all(axis=2)
        following = (level[:, np.newaxis] == here) & (level[np.newaxis] == (here + 1) % n)
        adjacent |= same & following
    return adjacent | adjacent.T


def joined_by_a(topology: str) -> Matrix:
    """Return whether pattern A joins two processors in one hop."""
    adjacent = np.zeros((size_of(topology), size_of(topology)), np.int64)
    u, v = measure.edges(pattern_a(topology)).T
    adjacent[u, v] = adjacent[v, u] = 1
    return adjacent


IS_BUTTERFLY = pairs_claim(
    "LENS-X-butterfly",
    place=BEYOND,
    statement="pattern A makes the completed lens the wrapped (p-1)-ary butterfly, processor "
    "(k, d) being node (k mod n, d) (1 = neighbours, 0 = not)",
    claimed=butterfly,
    measured=joined_by_a,
    grid=C,
)


@claim_beyond(
    "LENS-X-cayley",
    statement="H and G generate a group of n(p-1)^n elements that is regular on the processors",
    claimed=of(lambda p, n: {"order": n * (p - 1) ** n, "images of a processor": n * (p - 1) ** n}),
    grid=circles(
        "completed lenses, N<=64",
        [(2, 2), (2, 3), (2, 6), (3, 2), (3, 3), (3, 4), (4, 2), (5, 2), (6, 2)],
    ),
)
def group(topology: str) -> dict[str, int]:
    """Return the size of the group generated by permutations of the emulator's processors."""
    generators = [image(topology, name) for name in ("H", "G")]
    identity = np.arange(size_of(topology))
    elements, fresh = {identity.tobytes(): identity}, [identity]
    # A group that acts regularly has as many elements as points. Twice as many elements are enough
    # to refute this.
    while fresh and len(elements) <= 2 * len(identity):
        made = [generator[element] for element in fresh for generator in generators]
        fresh = [e for e in {e.tobytes(): e for e in made}.values() if e.tobytes() not in elements]
        elements |= {element.tobytes(): element for element in fresh}
    return {
        "order": len(elements),
        "images of a processor": len({int(element[0]) for element in elements.values()}),
    }


NEIGHBOURS = claim_beyond(
    "LENS-X-processor-degree",
    statement="a processor of the completed lens has 3p-4 neighbours, 3p-5 if n=2",
    claimed=of(lambda p, n: [3 * p - 5 if n == 2 else 3 * p - 4]),
    grid=C,
    measured=lambda topology: list(measure.degrees(topology)),
)

HISTOGRAMS = claim_beyond(
    "LENS-X-degrees-uncompleted",
    statement="in the uncompleted lens (p-1)^n processors are on q-1 busses, the others on q; "
    "(q-1)^n busses have p-1 processors, the others p",
    claimed=of(
        lambda p, q, n: {
            "processors by busses": {
                q - 1: (p - 1) ** n,
                q: sum((p - 1) ** k * (q - 1) ** (n - k) for k in range(1, n)),
            },
            "busses by processors": {
                p - 1: (q - 1) ** n,
                p: sum((p - 1) ** k * (q - 1) ** (n - k) for k in range(1, n)),
            },
        }
    ),
    grid=FIVE,
    measured=lambda topology: {
        "processors by busses": busses_of_processors(topology),
        "busses by processors": processors_of_busses(topology),
    },
)

CONNECTIVITY = claim_beyond(
    "LENS-X-connectivity",
    statement="p processors and busses, and no fewer, have to go until the completed lens is in "
    "pieces",
    claimed=of(lambda p, n: p),
    grid=C_FIVE,
    cost=lambda topology: 10 * size_of(topology) ** 2,
    measured=measure.incidence_connectivity,
)

DUAL = claim_beyond(
    "LENS-X-dual-uncompleted",
    statement="reversing labels takes lens(p,q,n) to the dual of lens(q,p,n)",
    claimed=True,
    grid=FIVE,
    measured=lambda topology: is_dual(topology, "lens:{1},{0},{2}".format(*numbers(topology))),
)

ACROSS = 0
"""Move of pattern B in the tokens of `fair_tokens`."""


def merged(tokens: list[int]) -> list[int]:
    """Return a plan's moves, with the first turn from left to right merged into one move across."""
    turn = next((i for i, pair in enumerate(pairwise(tokens)) if pair == (LEFT, RIGHT)), None)
    return tokens if turn is None else [*tokens[:turn], ACROSS, *tokens[turn + 2 :]]


@remembered(most=4096)
def fair_tokens(a: int, agree: tuple[bool, ...]) -> list[list[int]]:
    """Return the shortest plans of the completed lens's rule; arguments as `circle.least_words`."""
    n, plans = len(agree), []
    for go, arc in ((RIGHT, agree[:a]), (LEFT, agree[a:][::-1])):
        size = len(arc)
        b = next(run for run in range(size, -1, -1) if any(runs(arc, run)))
        starts = [x for x, there in enumerate(runs(arc, b)) if there]
        for x in starts if b else [0 if go == RIGHT else size]:
            y = size - x - b
            plans.append(merged([go] * x + [-go] * (x + n - size + y) + [go] * y))
    return [plan for plan in plans if len(plan) == min(map(len, plans))]


@claim_beyond(
    "LENS-X-fair-random",
    statement="a random one of the least plans with random arbitrary digits, each as likely, gives "
    "equal expected loads of processors and of busses (largest less least)",
    claimed={"processors": 0.0, "busses": 0.0},
    tolerance=EQUAL,
    grid=circles("completed lenses (3,2), (3,3), (4,2)", [(3, 2), (3, 3), (4, 2)]),
    cost=lambda topology: 100 * size_of(topology) ** 2,
)
def fair(topology: str) -> Measured:
    """Return expected loads, by following every plan over the busses with all its choices."""
    a, agree, size = right_arcs(topology), agreements(topology), size_of(topology)
    processors, busses = np.zeros(size), np.zeros(open_topology(topology).busses or 0)
    for source in range(size):
        for target in range(size):
            plans = fair_tokens(int(a[source, target]), tuple(agree[source, target].tolist()))
            for plan in plans if source != target else []:
                follow(topology, plan, source, target, 1 / len(plans), processors, busses)
    return both_spreads(processors, busses)


def follow(
    topology: str,
    plan: list[int],
    source: int,
    target: int,
    weight: float,
    processors: np.ndarray,
    busses: np.ndarray,
) -> None:
    """Add the loads of a plan with the given probability."""
    table, goal = moves(topology), digits(topology)[target]
    crossed = crossings(plan, int(dots(topology)[source]), len(goal))
    here = {source: weight}
    for i, (move, place) in enumerate(zip(plan, crossed, strict=True)):
        # A position that is crossed again gets its final digit later, so any digit may be written
        # now.
        free = place in crossed[i + 1 :]
        written = range(table.right.shape[1]) if free else [int(goal[place])]
        following: dict[int, float] = defaultdict(float)
        for node, share in here.items():
            if node != source or i:
                processors[node] += share
            for digit in written:
                part = share / len(written)
                if move == ACROSS:
                    across = int(table.right[table.left[node, 0], digit])
                    busses[table.lower[node]] += part / table.lower.shape[1]
                    following[across] += part
                elif move == RIGHT:
                    busses[table.own[node]] += part
                    following[int(table.right[node, digit])] += part
                else:
                    busses[table.lower[node, digit]] += part
                    following[int(table.left[node, digit])] += part
        here = following
    assert set(here) == {target}


def partial_level(p: int, size: int) -> int:
    """Return the least n >= 2 with n(p-1)^n >= size."""
    n = 2
    while n * (p - 1) ** n < size:
        n += 1
    return n


@claim_beyond(
    "LENS-X-partial",
    statement="partial lenses of every size are connected, and every route arrives after 5n hops "
    "at most",
    relation="<=",
    claimed=of(lambda p, size: 5 * partial_level(p, size)),
    grid=by_size(
        "partial lenses, p=3 up to 160, p=4 up to 324",
        [f"plens:{p},{size}" for p, most in ((3, 160), (4, 324)) for size in range(2, most + 1)],
    ).quick(up_to(81)),
    cost=size_of,
)
def partial_routes(topology: str) -> Measured:
    """Return the longest route of all pairs; a lost route exceeds every allowed length."""
    lost = 10**6
    if not measure.is_connected(topology):
        return Measured(lost, {"not connected": topology})
    routes = measure.route_lengths(topology)
    if routes.delivered < routes.pairs:
        return Measured(lost, {"not delivered": routes.undelivered_pair})
    if routes.longest_pair is None:
        return Measured(0)
    return Measured(routes.longest, ends(topology, *routes.longest_pair))
