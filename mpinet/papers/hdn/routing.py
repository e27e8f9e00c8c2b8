"""Algorithm 1 on all pairs (Section 4, Theorem 2), its header, and our better landing nodes."""

from __future__ import annotations

import numpy as np

from mpinet import measure
from mpinet.claims import BEYOND, Measured, claim, section
from mpinet.papers.hdn.grids import (
    R1_BY_SIZE,
    R1_TO_300,
    net,
    pairs_of,
    size_of,
    within_r1,
)
from mpinet.papers.hdn.measured import dual_net, lengths, most_legs
from mpinet.papers.measured import distances
from mpinet.papers.witness import at_pair, farthest, largest_pair

ALGORITHM_1, LANDING = "algorithm1", "landing"


def routing_bound(topology: str) -> int:
    """Return Theorem 2's bound, 2^k R(B) - sum of 2^j R(SN^{k-j}) + 2^(k+1) - 2 with R = D."""
    return net(topology).closed_form(net(topology).diameter)


@claim("HDN-A1-valid", relation="all", grid=R1_BY_SIZE, cost=pairs_of)
def valid(topology: str) -> Measured:
    """Return whether all routes arrive, with the first that does not."""
    lost = lengths(topology, ALGORITHM_1) < 0
    return at_pair(False, largest_pair(lost)) if lost.any() else Measured(True)


def lands_far(topology: str) -> bool:
    """Return whether k = 2, and SN^2 has two nodes two hops apart outside SN^1."""
    found = net(topology)
    if found.k != 2:
        return False
    return found.diameter(tuple(sorted(set(found.members[1]) - set(found.members[0])))) >= 2


longest_route = claim(
    "HDN-Th2-bound",
    relation="<=",
    claimed=routing_bound,
    grid=R1_BY_SIZE,
    cost=pairs_of,
    measured=lambda topology: farthest(lengths(topology, ALGORITHM_1)),
    note="Theorem 2 itself holds: another landing node keeps to the bound (HDN-Th2-can).",
    fails_where=("k = 2 and SN^2 has two nodes two hops apart outside SN^1", lands_far),
)


def recursive_bound(topology: str) -> int:
    """Return the proof's bound on a recursive call: R_{k-1} (Theorem 2) - R(SN^k)."""
    found = net(topology)
    return routing_bound(found.lower.name) - found.diameter(found.members[-1])


@claim(
    "HDN-Th2-recursive-call",
    relation="<=",
    claimed=recursive_bound,
    grid=within_r1("k = 2", lambda found: found.k == 2),
    cost=pairs_of,
    fails_where=("SN^2 has two nodes two hops apart outside SN^1", lands_far),
)
def recursive_call(topology: str) -> Measured:
    """Return the longest route of a recursive call in a cluster, with the first pair of nodes."""
    cluster = net(topology).lower.name
    network, whole = dual_net(cluster), dual_net(topology)
    inside = [(0, 0, *network.digits(node)) for node in range(network.size)]
    N = np.array([whole.level_address(whole.node_of(digits), 2)[3] for digits in inside])
    same = N[:, np.newaxis] == N
    return farthest(np.where(same, lengths(cluster, ALGORITHM_1), -1))


claim_beyond = section(place=BEYOND)

detour = claim_beyond(
    "HDN-X-alg1-shortest-k1",
    claimed=0,
    grid=within_r1("k = 1", lambda found: found.k == 1),
    cost=pairs_of,
    measured=lambda topology: farthest(lengths(topology, ALGORITHM_1) - distances(topology)),
)

ALL_PAIRS = 600
"""Largest number of nodes of a network whose routes with chosen landing nodes are all walked."""

SOURCES = 32
"""Number of random sources in larger networks."""


@claim(
    "HDN-Th2-can",
    statement="routing can be done in at most 2^k R(B) - sum of 2^j R(SN^{k-j}) + 2^(k+1) - 2 "
    "hops, R = D: Algorithm 1 does with the landing node that makes the route shortest (all pairs "
    f"up to N = {ALL_PAIRS}, above from {SOURCES} random sources)",
    relation="<=",
    claimed=routing_bound,
    grid=R1_BY_SIZE,
    cost=lambda topology: 2 * pairs_of(topology),
)
def mended_route(topology: str) -> Measured:
    """Return the longest route with chosen landing nodes, with the first pair."""
    size = size_of(topology)
    if size <= ALL_PAIRS:
        return farthest(lengths(topology, LANDING))
    # Each route with a chosen landing node tries all of them, so all pairs are walked only in small
    # networks.
    sources = np.random.default_rng(0).choice(size, SOURCES, replace=False)
    pairs = np.stack([np.repeat(sources, size), np.tile(np.arange(size), SOURCES)], axis=1)
    found = measure.route_lengths(topology, LANDING, pairs[pairs[:, 0] != pairs[:, 1]])
    if found.longest_pair is None or found.undelivered_pair is not None:
        return Measured(size, {"not delivered": found.undelivered_pair})
    return at_pair(found.longest, found.longest_pair)


header = claim_beyond(
    "HDN-X-header",
    relation="<=",
    claimed=lambda topology: 3 * net(topology).k + 1,
    grid=R1_TO_300,
    cost=pairs_of,
    measured=lambda topology: most_legs(topology, ALGORITHM_1),
)
