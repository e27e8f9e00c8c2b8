"""The bisection width (Section 3, Figure 9)."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from mpinet import measure
from mpinet.claims import BEYOND, Corrected, Measured, OutOfReach, claim, points
from mpinet.claims.remembered import remembered
from mpinet.measure.bisection import Bisection
from mpinet.papers.grids import networks
from mpinet.papers.hdn.grids import listed, net, nodes_of, of_r1, size_of
from mpinet.papers.hdn.measured import cross_port, dual_net
from mpinet.papers.sweeps import pieces
from mpinet.papers.widths import CERTIFIED, certified

EFFORT = 4.0
"""Effort of the exact search, in deterministic seconds."""

MOST_SEARCHED = 128
"""Largest number of nodes of a network with a search for its bisection."""

EVEN = of_r1(lambda found: found.n(found.k) % 2 == 0)
"""Networks of R1 whose clusters can be split evenly."""


ODD_NETWORKS = [
    *("hdn:3,super=-", "hdn:2x3,super=0", "hdn:5,super=-", "hdn:3x3,super=0", "hdn:3x3,super=1"),
    "hdn:7,super=-",
]
"""Networks with odd n_k, smallest first."""


def quarter(topology: str) -> int:
    """Return the claimed bisection width N/4."""
    return size_of(topology) // 4


@remembered
def width_in_cluster(topology: str) -> int:
    """Return the fewest links that separate half of a cluster's level-k super-nodes from the rest.

    Split all clusters of one class in this way. Assign each cluster of the other class to the side
    of the super-nodes that it is linked to. Then no cross-edge is cut, so the bisection width is at
    most n_k times the returned number.
    """
    found = net(topology)
    k, many = found.k, found.n(found.k)
    size = found.nodes(k - 1)
    links = measure.edges(dual_net(topology))
    inside = links[(links < size).all(axis=1)] // found.s(k)  # links between super-nodes
    sides = np.array(
        [[node in half for node in range(many)] for half in combinations(range(many), many // 2)]
    )
    return int((sides[:, inside[:, 0]] != sides[:, inside[:, 1]]).sum(axis=1).min())


@remembered
def bisection(topology: str) -> Bisection:
    """Return the bisection width, or bounds on it."""
    return measure.bisection_width(topology, EFFORT)


def is_narrow_in_cluster(topology: str) -> bool:
    """Return whether fewer than N_{k-1}/2 links separate half of a cluster's super-nodes."""
    found = net(topology)
    return 2 * width_in_cluster(topology) < found.nodes(found.k - 1)


def aligned_width(topology: str, choice: int) -> Measured:
    """Return the number of links between two halves of whole clusters, chosen at random."""
    network, k = dual_net(topology), net(topology).k
    cluster = pieces(network, cross_port(network, k, k))
    # The first half of the nodes are the clusters of class 0, in the paper's order of addresses.
    first = np.unique(cluster[: network.size // 2])
    inside = np.zeros(cluster.max() + 1, bool)
    random = np.random.default_rng(choice)
    for own in (first, np.setdiff1d(cluster, first)):
        chosen = own if choice == 0 else random.permutation(own)
        inside[chosen[: len(own) // 2]] = True
    side = np.flatnonzero(inside[cluster])
    return Measured(
        measure.cut_width(network, side.tolist()), {"clusters": np.flatnonzero(inside).tolist()}
    )


@claim(
    "HDN-S3-bisection",
    claimed=quarter,
    grid=points("R1, n_k even", lambda: listed(EVEN)).quick(
        lambda topology: size_of(topology) <= 64
    ),
    cost=lambda topology: 500 if size_of(topology) <= MOST_SEARCHED else 1,
    note=CERTIFIED,
    fails_where=(
        "fewer than N_{k-1}/2 links part half of the SN^k of a cluster from the others: as many "
        "times n_k part the network",
        is_narrow_in_cluster,
    ),
    corrected=Corrected(
        "HDN-C-bisection",
        relation="<=",
        cost=nodes_of,
        measured=lambda topology: aligned_width(topology, 0),
    ),
)
def width(topology: str) -> Measured:
    """Return the width, or a bound on one side of N/4."""
    if size_of(topology) > MOST_SEARCHED:
        raise OutOfReach(f"no bisection of {topology} was searched for: it is too large")
    found, claimed = bisection(topology), quarter(topology)
    if found.exact:
        return Measured(found.upper, certified(topology, {"exact": True, "side": found.side}))
    # A cut narrower than N/4 refutes the claim, even if the width itself is unknown.
    if found.upper < claimed:
        return Measured(found.upper, {"at most, by this side of a cut": found.side})
    if found.lower > claimed:
        bounds = {"at least": found.lower, "at most": found.upper}
        return Measured(found.lower, certified(topology, bounds))
    raise OutOfReach(f"the width of {topology} is only known to be {found.lower}..{found.upper}")


ODD = claim(
    "HDN-X-bisection-odd",
    place=BEYOND,
    relation="<=",
    claimed=lambda topology: (size_of(topology) + 2 * net(topology).s(net(topology).k)) // 4,
    grid=networks("six networks of 18 to 98 nodes", ODD_NETWORKS).quick(
        lambda topology: size_of(topology) <= 64
    ),
    cost=nodes_of,
    note="The width of the first five networks is this number. hdn:7,super=- has width 17, not 25. "
    + CERTIFIED,
    measured=lambda topology: exact_width(topology),
)


def exact_width(topology: str) -> Measured:
    """Return the width that the search has proved."""
    found = bisection(topology)
    if not found.exact:
        raise OutOfReach(
            f"the width of {topology} is only known to be {found.lower}..{found.upper}"
        )
    return Measured(found.upper, certified(topology, {"side": found.side}))


aligned = claim(
    "HDN-S3-bisection-aligned",
    claimed=lambda topology, choice: quarter(topology),
    grid=points(
        "R1, n_k even; three choices",
        lambda: [point | {"choice": c} for point in listed(EVEN) for c in range(3)],
    ),
    cost=lambda topology, choice: nodes_of(topology),
    measured=aligned_width,
)
