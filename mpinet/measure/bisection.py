"""Bisection width: the fewest channels between two halves of a network, or bounds on the number.

A bisection divides the processors into halves (one more on one side if their number is odd) and
puts every switch on either side. Its width is the number of links between the sides; several links
between the same two nodes count once. In a bus network the width is the number of busses with
members on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Flags
from mpinet.base.fielddocs import described
from mpinet.errors import UsageError
from mpinet.measure.bounded import Bounded
from mpinet.measure.cutsearch import CutHypergraph, best_cut
from mpinet.measure.frontier import exact_cut
from mpinet.measure.libraries import library
from mpinet.measure.wiring import edges, incidences, to_graph
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike, Topology

LARGEST_SPECTRUM = 2048
"""Largest number of nodes of a network for eigenvalue computations."""

ROUNDING = 1e-6
"""Safety margin far above the rounding error of an eigenvalue or a sum of path fractions."""

MOST_ROUNDS = 20
"""Largest number of rounds of flow; further rounds help little."""

LENGTHS, STEEPNESS = 1000, 3
"""Length of the busiest link in the next round of flow, and the exponent k for which this length is
e^k times the length of a link without flow.
"""

FLOW_STEPS_PER_SECOND = 5e6
"""Approximate number of (node, link) pairs that a round of flow handles per second."""


@described
@dataclass(frozen=True, eq=False)
class Bisection(Bounded):
    """Bounds on a bisection width; comparisons with numbers work as far as the bounds decide.

    A comparison with different answers for `lower` and `upper` raises `OutOfReach`.

    No bisection is narrower than `lower`; `side` is a bisection of width `upper`.
    """

    side: tuple[int, ...]
    """Nodes on one side of a cut of width `upper`, ascending; node 0 is on the other side."""

    named: ClassVar[str] = "bisection width"
    effort: ClassVar[str] = "seconds"


def cut_width(topology: NetworkLike, side: Iterable[int]) -> int:
    """Return the number of links, or of busses, between these nodes and the rest.

    Parameters
    ----------
    topology : Topology or str
        The network.
    side : iterable of int
        Nodes on one side; any number of nodes.

    Raises
    ------
    NodeError
        A node is not in the network.
    """
    network = open_topology(topology)
    inside = np.zeros(network.size, bool)
    for node in side:
        network.require_node(node)
        inside[node] = True
    return cuts_of(network).width(inside)


def bisection_width(topology: NetworkLike, seconds: float = 10.0) -> Bisection:
    """Return the bisection width, exact if the effort suffices, otherwise bounds with a bisection.

    The bisection is the best result of a search by exchanges of nodes. A lower bound may prove the
    minimum. Bounds come from the second eigenvalue of the Laplacian (Fiedler 1973), and from link
    loads with the flows of all pairs split evenly over their shortest paths. Otherwise all cuts are
    enumerated while a front of few nodes passes over the network, or a constraint solver decides.
    Every rank computes the same result by itself.

    Parameters
    ----------
    topology : Topology or str
        The network; links or busses.
    seconds : float
        The effort of the exact search, counted in work: the result is the same on every computer.

    Raises
    ------
    UsageError
        The network has a single processor, the effort is invalid, or a library is not installed.

    Examples
    --------
    >>> found = bisection_width("hypercube:3")
    >>> found.lower, found.upper, found.exact
    (4, 4, True)
    """
    network = open_topology(topology)
    if not isinstance(seconds, Real) or not 0 < seconds < inf:
        raise UsageError(
            f"seconds={seconds!r}: the effort must be a number above 0, e.g. seconds=10."
        )
    if network.hosts < 2:
        raise UsageError(f"{network.name} has one processor: there are no halves.")
    cuts = cuts_of(network)
    # The order is by cost. Closed-form bounds end most searches before a table or a solver is
    # needed.
    lower = max(spectral_bound(network, cuts), flow_bound(network))
    inside = best_cut(cuts, first_cuts(network), lower)
    if lower < cuts.width(inside):
        lower = max(lower, flow_bound(network, _flow_rounds(cuts, seconds)))
    if lower < cuts.width(inside):
        found = exact_cut(cuts, seconds)
        if found is not None:
            inside, lower = inside if found.inside is None else found.inside, found.width
        else:
            lower, inside = solve(cuts, lower, inside, seconds)
    upper = cuts.width(inside)
    return Bisection(lower, upper, lower == upper, away_from_first(inside))


def cuts_of(network: Topology) -> CutHypergraph:
    """Return the hypergraph of cuttable channels: each link once, or each bus."""
    if network.links:
        ends = edges(network)
        channels = np.repeat(np.arange(len(ends)), 2)
        return CutHypergraph(network.size, network.hosts, channels, ends.ravel())
    pairs = incidences(network)
    order = np.lexsort((pairs[:, 0], pairs[:, 1]))
    nodes, busses = pairs[order].T
    return CutHypergraph(network.size, network.hosts, busses.copy(), nodes.copy())


def away_from_first(inside: Flags) -> tuple[int, ...]:
    """Return the nodes on the side without node 0."""
    return tuple(np.flatnonzero(inside != inside[0]).tolist())


def laplacian(network: Topology, cuts: CutHypergraph) -> NDArray[np.float64]:
    """Return a Laplacian in which each cut channel adds at most 1 to the quadratic form."""
    matrix = np.zeros((network.size, network.size))
    for members in cuts.by_channel():
        most_parted = (len(members) // 2) * ((len(members) + 1) // 2)
        # A cut splits a bus into i and j members and separates i*j pairs, at most as many as halves
        # do. With these weights a bus adds 1 or less to the quadratic form, and the form is no more
        # than the width.
        if most_parted:
            matrix[np.ix_(members, members)] -= 1 / most_parted
    np.fill_diagonal(matrix, 0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return matrix


def spectral_bound(network: Topology, cuts: CutHypergraph) -> int:
    """Return a lower bound on the bisection width: a b lambda_2 / N for sides of a and b nodes.

    The bound is due to Fiedler. It is 0 for large networks, and for networks with switches, because
    the sides then have unknown sizes.
    """
    # Fiedler's bound needs the sizes of both sides. Switches may be on either side, so the sizes
    # are unknown.
    if network.hosts < network.size or network.size > LARGEST_SPECTRUM:
        return 0
    second = np.linalg.eigvalsh(laplacian(network, cuts))[1]
    parted = (network.size // 2) * ((network.size + 1) // 2)
    # A bound lifted above a whole number by rounding would be false. The margin is far beyond any
    # rounding error.
    return max(0, int(np.ceil(second * parted / network.size - ROUNDING)))


def flow_bound(network: Topology, rounds: int = 1) -> int:
    """Return a lower bound on the bisection width: separated pairs over the busiest link's flow.

    Parameters
    ----------
    network : Topology
        The network.
    rounds : int
        As in `flow_of`.
    """
    return flow_of(network, rounds).bound


@dataclass(frozen=True)
class AllPairsFlow:
    """A flow between all pairs of processors, and the lower bound derived from it."""

    bound: int
    """Lower bound: no bisection has fewer channels."""
    lengths: list[list[int]]
    """Lengths of all links in each round, links ascending by their ends. The flow of a round takes
    the shortest paths.
    """


def flow_of(network: Topology, rounds: int) -> AllPairsFlow:
    """Return the all-pairs flow with the best lower bound, over a number of rounds.

    Each pair of processors sends one unit of flow, split evenly over its shortest paths. Further
    rounds repeat this with link lengths that grow with the flow so far; the mean of all rounds is
    also a flow. The bound is 0 for bus networks, large or disconnected networks, and networks with
    switches.

    Parameters
    ----------
    network : Topology
        The network.
    rounds : int
        Number of rounds.
    """
    if not network.links or network.hosts < network.size or network.size > LARGEST_SPECTRUM:
        return AllPairsFlow(0, [])
    graph = to_graph(network)
    if not graph.is_connected():
        return AllPairsFlow(0, [])
    parted = (network.size // 2) * ((network.size + 1) // 2)
    flows, best, used = np.zeros(graph.ecount()), 0.0, 0
    lengths = [[1] * graph.ecount()]
    for done in range(1, rounds + 1):
        flows += graph.edge_betweenness(directed=False, weights=lengths[-1] if done > 1 else None)
        # Pairs count once, over links of either direction: each separated pair sends its unit of
        # every round over a cut link, and no link carries more than the busiest.
        if parted * done / flows.max() > best:
            best, used = parted * done / flows.max(), done
        longer = np.ceil(LENGTHS * np.exp(STEEPNESS * (flows / flows.max() - 1)))
        lengths.append(longer.astype(int).tolist())
    return AllPairsFlow(int(np.ceil(best - ROUNDING)), lengths[:used])


def _flow_rounds(cuts: CutHypergraph, seconds: float) -> int:
    """Return the number of flow rounds that the effort permits."""
    return int(min(MOST_ROUNDS, seconds * FLOW_STEPS_PER_SECOND / (cuts.nodes * cuts.count)))


def first_cuts(network: Topology) -> list[Flags]:
    """Return initial cuts for the search: by node number, and by the lowest bits of the number."""
    nodes, hosts = np.arange(network.size), network.hosts
    scores = [nodes.astype(np.float64)]
    # Many families number nodes by bits or digits. A cut by the lowest bits is often the narrowest,
    # and random starts seldom lead to it.
    stride = 2
    while stride < network.size:
        scores.append((nodes % stride) * network.size + nodes / network.size)
        stride *= 2
    return [lowest_half(score, hosts) for score in scores]


def lowest_half(score: NDArray[np.float64], hosts: int) -> Flags:
    """Return the half of the processors with the lowest scores, and switches with lower scores."""
    first = np.lexsort((np.arange(hosts), score[:hosts]))[: hosts // 2]
    inside = score < score[first[-1]]
    inside[:hosts] = False
    inside[first] = True
    return inside


def solve(cuts: CutHypergraph, lower: int, inside: Flags, seconds: float) -> tuple[int, Flags]:
    """Search for a narrower cut with a constraint solver; return a lower bound and the best cut."""
    cp_model: Any = library("ortools.sat.python.cp_model")
    model = cp_model.CpModel()
    sides = [model.new_bool_var("") for _ in range(cuts.nodes)]
    parted = []
    for members in cuts.by_channel():
        apart = model.new_bool_var("")
        parted.append(apart)
        # If the members are on different sides, some two consecutive members are.
        for u, v in zip(members[:-1].tolist(), members[1:].tolist(), strict=True):
            model.add_bool_or(apart, sides[u], sides[v].negated())
            model.add_bool_or(apart, sides[u].negated(), sides[v])
    in_one = sum(sides[: cuts.hosts])
    model.add(in_one >= cuts.hosts // 2)
    model.add(in_one <= (cuts.hosts + 1) // 2)
    # A cut and its mirror image are the same: this halves the search.
    model.add(sides[0] == 0)
    width = sum(parted)
    upper = cuts.width(inside)
    model.add(width >= lower)
    model.add(width < upper)
    model.minimize(width)
    solver = cp_model.CpSolver()
    # Every rank solves by itself and must find the same cut. Several workers would race, and a
    # clock would depend on the load.
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = seconds
    status = solver.solve(model)
    # No cut is narrower than the known cut, which is therefore optimal.
    if status == cp_model.INFEASIBLE:
        return upper, inside
    bound = max(lower, int(np.ceil(solver.best_objective_bound - ROUNDING)))
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        inside = np.array([solver.boolean_value(side) for side in sides])
    return min(bound, cuts.width(inside)), inside
