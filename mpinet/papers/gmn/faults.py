"""G(m,N) with one dead node (section 5).

Nodes at the same position of different sectors count as equivalent if the translation by a sector
is an automorphism, and if routes in other sectors are equal in a sample. Both are checked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.claims import BEYOND, Claim, Measured, PointGrid, claim, points, section
from mpinet.claims.remembered import remembered
from mpinet.compiled import inlined
from mpinet.measure.cuts import biconnected
from mpinet.networks import open as open_topology
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.networks.walks import arrived, rules, walk
from mpinet.papers.gmn import floods
from mpinet.papers.gmn.grids import MID, listed, parameters, size_of
from mpinet.papers.gmn.orders import best_orders
from mpinet.papers.gmn.routing import CHOSEN, cost_of_pairs, longest_stated
from mpinet.papers.measured import checked_distances
from mpinet.papers.witness import farthest

LOST = -1
"""Length recorded for a route that does not arrive or meets the dead node."""

SAMPLE = 500
"""Number of pairs in the comparison of routes with another sector."""


def up_to(most: int) -> PointGrid:
    """Return the grid of all G(m,N) up to a size."""
    return points(f"N <= {most}", lambda: listed(3, 12, most))


UP_TO_704 = up_to(704).quick(lambda topology: size_of(topology) <= 360)
UP_TO_300 = up_to(300).quick(lambda topology: size_of(topology) <= 112)

claim_5 = section(place="5", relation="<=")

two_connected = claim_5(
    "GMN-FT-bicon", relation="all", grid=UP_TO_704, cost=size_of, measured=biconnected
)


@remembered
def worst_diameter(topology: str) -> Measured:
    """Return the largest diameter with one dead node, with that node and a farthest pair."""
    network = open_topology(topology)
    m, N = parameters(topology)
    worst = Measured(-1)
    # By the checked symmetry, the dead nodes of one sector represent all others.
    for dead in range(m if floods.looks_alike(network, m) else N):
        found = farthest(checked_distances(topology, dead=(dead,)))
        if found.value > worst.value:
            worst = Measured(found.value, {"dead": dead, **found.where})
    return worst


@claim(
    "GMN-FT-diam",
    relation="<=",
    claimed=6,
    grid=UP_TO_704,
    cost=lambda topology: 100 * size_of(topology),
)
def increase(topology: str) -> Measured:
    """Return the largest increase of the diameter by one dead node, by floods for each node."""
    worst = worst_diameter(topology)
    return Measured(worst.value - floods.diameter(topology).value, worst.where)


diameter_with_dead_node = claim_5(
    "GMN-FT-Lhat",
    claimed=lambda topology: longest_stated(topology) + 6,
    grid=UP_TO_704,
    cost=lambda topology: 100 * size_of(topology),
    measured=worst_diameter,
)


def longest_around(topology: str, routing: str) -> Measured:
    """Return the longest route with one dead node, with node and pair; 4N for a lost route."""
    network = open_topology(topology)
    m, N = parameters(topology)
    sectors_alike = floods.looks_alike(network, m) and all(
        moved_alike(network, network.routing(routing), dead, m) for dead in range(m)
    )
    worst = Measured(0)
    for dead in range(m if sectors_alike else N):
        around = network.routing(routing).around([dead])
        pairs = pairs_without(N, dead)
        lengths = lengths_around(network, around, dead, pairs)
        if lengths.min() == LOST:
            # A lost route must refute any bound on lengths, so its length exceeds that of all
            # routes.
            lengths = np.where(lengths == LOST, 4 * N, lengths)
        at = int(lengths.argmax())
        if lengths[at] > worst.value:
            source, target = pairs[at].tolist()
            worst = Measured(int(lengths[at]), {"dead": dead, "source": source, "target": target})
    return worst


def pairs_without(N: int, dead: int) -> Ints:
    """Return all ordered pairs of different living nodes, shape (k, 2)."""
    nodes = np.delete(np.arange(N), dead)
    pairs = np.stack(np.meshgrid(nodes, nodes, indexing="ij"), axis=-1).reshape(-1, 2)
    return pairs[pairs[:, 0] != pairs[:, 1]]


def moved_alike(network: Topology, routing: Routing, dead: int, m: int) -> bool:
    """Return whether routes in another sector have equal lengths, in a sample of pairs."""
    generator = np.random.default_rng(dead)
    pairs = pairs_without(network.size, dead)
    pairs = pairs[generator.integers(len(pairs), size=SAMPLE)]
    # Routing is code that may treat sectors differently by mistake. Symmetric wiring does not
    # exclude such a mistake.
    by = m * int(generator.integers(1, network.size // m))
    other, moved = (dead + by) % network.size, (pairs + by) % network.size
    here = lengths_around(network, routing.around([dead]), dead, pairs)
    there = lengths_around(network, routing.around([other]), other, moved)
    return bool(np.array_equal(here, there))


def lengths_around(network: Topology, routing: Routing, dead: int, pairs: Ints) -> Ints:
    """Return the hops of the routes of some pairs; `LOST` for routes that do not arrive."""
    lengths = np.zeros(len(pairs), np.int64)
    ends = pairs[:, 0].copy(), pairs[:, 1].copy()
    walk_around(rules(network, routing), *ends, Around(dead, lengths))
    return lengths


class Around(NamedTuple):
    """Arguments and results of `walk_around`: dead node, and hops of each route or `LOST`."""

    dead: int
    lengths: Ints


@inlined
def shun_dead(visit, header, notes):
    """Mark a route as lost if a hop leads to the dead node."""
    if visit.following == notes.dead:
        notes.lengths[visit.pair] = LOST
    return False


@inlined
def note_length(visit, header, notes):
    """Record the length of a finished route, unless it is lost."""
    if not arrived(visit):
        notes.lengths[visit.pair] = LOST
    elif notes.lengths[visit.pair] != LOST:
        notes.lengths[visit.pair] = visit.hops
    return False


walk_around = walk.bind("walk_around", notes=Around, hop=shun_dead, ended=note_length)


def routed_around(routing: str, detour: int, cost: float) -> Claim:
    """Return our row on the longest route around a dead node, with the cost of a pair."""
    return claim_5(
        f"GMN-X-FT-{routing}",
        place=BEYOND,
        claimed=lambda topology: longest_stated(topology) + detour,
        grid=UP_TO_300,
        cost=lambda topology: cost * size_of(topology) ** 2,
        measured=lambda topology: longest_around(topology, routing),
    )


ROUTES_AROUND = (
    claim_5(
        "GMN-FT-route",
        claimed=lambda topology: longest_stated(topology) + 6,
        grid=UP_TO_300,
        cost=lambda topology: 120 * size_of(topology) ** 2,
        measured=lambda topology: longest_around(topology, "planned"),
    ),
    claim_5(
        "GMN-FT-length",
        claimed=lambda topology: -(-11 * parameters(topology)[0] // 8) + 1,
        grid=MID,
        cost=cost_of_pairs,
        measured=lambda topology: best_orders(topology)[0],
        reading=CHOSEN,
    ),
    routed_around("substituted", 6, 120),
    routed_around("discovered", 18, 30),
    routed_around("online", 8, 30),
)
