"""The paper's conclusions (section 8)."""

from __future__ import annotations

import numpy as np

from mpinet import measure
from mpinet.claims import Corrected, Measured, OutOfReach, claim, over
from mpinet.claims.remembered import remembered
from mpinet.compiled import inlined
from mpinet.errors import TopologyError
from mpinet.networks.catalogue import open_topology
from mpinet.networks.lens import arcs, routing
from mpinet.papers.grids import numbers, of, pairs_of
from mpinet.papers.lens import own
from mpinet.papers.lens.grids import C_FIVE, C_MORE, C_WIDE, COMPLETED, FURTHER, U_WIDE, C, circles
from mpinet.papers.lens.measured import (
    distances,
    incidence_degrees,
    path_counts,
)
from mpinet.papers.lens.pairs import ends, largest
from mpinet.papers.lens.symmetry import lens
from mpinet.papers.measured import informed, size_of
from mpinet.papers.witness import farthest, smallest_pair

ALL_SOURCES = 2100
"""Largest number of processors of a lens with floods from each of them."""


@remembered
def diameter(topology: str) -> Measured:
    """Return the diameter, by floods from all processors, or from one if all are equivalent."""
    if size_of(topology) <= ALL_SOURCES:
        return largest(topology, distances(topology))
    if not measure.vertex_transitive(topology):
        raise OutOfReach(
            f"{topology} has processors that are not equivalent, so one flood is not enough."
        )
    return farthest(measure.distance_matrix(topology, [0]))


COMPLETED_DIAMETER = claim(
    "LENS-S8-diameter-completed",
    claimed=of(lambda p, n: 3 * n // 2),
    grid=C_WIDE,
    cost=pairs_of,
    measured=diameter,
)

FORMULA = claim(
    "LENS-S8-diameter-formula",
    measures=False,
    claimed=lambda p, n: 3 * n // 2,
    grid=over(p=range(3, 8), n=range(2, 12)),
    measured=lambda p, n: half_floor(3, open_topology(f"clens:{p},{n}").size, n, p - 1),
)


def half_floor(factor: int, N: int, n: int, R: int) -> int:
    """Return floor(factor log_R(N/n) / 2): the largest m with R^(2m) <= (N/n)^factor."""
    m = 0
    # Computed in integers, because a floating-point logarithm of an exact power may round to either
    # side.
    while R ** (2 * (m + 1)) * n**factor <= N**factor:
        m += 1
    return m


LENS_DIAMETER = claim(
    "LENS-S8-diameter-lens",
    claimed=of(lambda p, q, n: 2 * n),
    grid=U_WIDE,
    cost=pairs_of,
    measured=diameter,
)

DEGREES = claim(
    "LENS-S8-degrees",
    claimed=of(lambda p, n: {"busses of a processor": [p], "processors of a bus": [p]}),
    grid=C,
    measured=incidence_degrees,
)


def numbers_of_neighbours(p: int, first: int = 2) -> Measured:
    """Return the different numbers of neighbours of processors."""
    levels = [n for radix, n in [*COMPLETED, *FURTHER] if radix == p and n >= first]
    if p == 2:
        levels = list(range(first, 7))
    found = {n: list(measure.degrees(f"clens:{p},{n}")) for n in sorted(levels)}
    return Measured(len({d for numbers in found.values() for d in numbers}), {"by n": found})


neighbour_numbers = claim(
    "LENS-S8-fixed-neighbours",
    claimed=1,
    grid=over("p in 2..5, all n of C and larger ones", p=range(2, 6)),
    note="It holds from n = 3 on (LENS-C-fixed-neighbours); two levels share a bus once more.",
    measured=numbers_of_neighbours,
    corrected=Corrected(
        "LENS-C-fixed-neighbours", measured=lambda p: numbers_of_neighbours(p, first=3)
    ),
)


@claim("LENS-S8-linear-algorithm", relation="<=", claimed=lambda n: n, grid=over(n=range(4, 65)))
def comparisons(n: int) -> Measured:
    """Return the most comparisons of the routing's start rule over 60 pairs (seed n)."""
    try:
        network = lens(f"clens:3,{n}")
    except TopologyError as too_large:
        raise OutOfReach("its n 2^n processors have no numbers of 64 bits.") from too_large
    # Each compared digit costs two counted divisions, one for each end. The rule runs as plain
    # Python here, which allows a counter in it.
    divisions = [0]

    @inlined
    def counted(number: int, params: np.ndarray) -> int:
        divisions[0] += 1
        return int(arcs.fast_division.function(number, params))

    agreement = arcs.agreement.bind("counted agreement", fast_division=counted)
    plan = arcs.circle_plan.bind("counted plan", agreement=agreement)
    start = routing.start.bind("counted start", circle_plan=plan)
    way = routing.by_plans(network)
    most, where = 0, {}
    for source, target in np.random.default_rng(n).integers(0, network.size, (60, 2)).tolist():
        divisions[0] = 0
        start(source, target, np.zeros(way.words, np.int64), way.params)
        if divisions[0] // 2 > most:
            most, where = divisions[0] // 2, {"source": source, "target": target}
    return Measured(most, where)


@claim(
    "LENS-S8-multiple-minimal",
    relation=">",
    claimed=1,
    grid=circles("completed lens, p=3, n 2..5", [(3, n) for n in range(2, 6)]),
    cost=pairs_of,
)
def fewest_paths(topology: str) -> Measured:
    """Return the least number of shortest paths of a pair of two or more hops."""
    counts = np.where(distances(topology) > 1, path_counts(topology), np.inf)
    return Measured(int(counts.min()), ends(topology, *smallest_pair(counts)))


@claim(
    "LENS-S8-survives-one-failure",
    claimed=True,
    grid=C_FIVE,
    cost=lambda topology: 10 * size_of(topology) ** 2,
)
def survives(topology: str) -> Measured:
    """Remove each processor and each bus in turn, and check that the rest is connected."""
    failed = measure.fault_diameter(topology, 1)
    if failed.value == float("inf"):
        return Measured(False, {"processor": failed.removed[0]})
    for bus in range(lens(topology).busses):
        if not measure.is_connected(measure.without(topology, busses=[bus])):
            return Measured(False, {"bus": bus})
    return Measured(True)


SIZES = claim(
    "LENS-S8-sizes",
    claimed=of(lambda p, n: n * (p - 1) ** n),
    grid=C_MORE,
    cost=size_of,
    measured=informed,
)


@claim(
    "LENS-S8-partial",
    claimed={"in one piece": True, "at most p on a bus": True, "at most p busses": True},
    grid=own.partial_routes.grid,
    cost=size_of,
    reading="the report leaves these lenses to a future paper; the lenses of docs/papers/lens, 9, "
    "are tested.",
)
def partial_lens(topology: str) -> dict[str, bool]:
    """Return whether the network is connected, with at most p members and busses."""
    p, size = numbers(topology)
    degrees = incidence_degrees(topology)
    return {
        "in one piece": informed(topology) == size,
        "at most p on a bus": max(degrees["processors of a bus"]) <= p,
        "at most p busses": max(degrees["busses of a processor"]) <= p,
    }
