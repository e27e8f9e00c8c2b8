"""Slowdown of emulating the BSN on the GBSN (section IV, Proposition 4.1)."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np

from mpinet.base.arrays import Flags
from mpinet.claims import Measured, claim, over, section
from mpinet.claims.remembered import remembered
from mpinet.measure.libraries import library
from mpinet.papers.gbsn.grids import blocks, guest_of, is_small, powers
from mpinet.papers.gbsn.measured import links
from mpinet.papers.measured import Distances, diameter, distances

HOSTS = powers("N = 4, 8, 16, k >= 2, a_i maximal, all b, a | b, a <= lg max m", 2).quick(is_small)
"""GBSNs and BSNs with equal b and equal size."""


def smallest_lg(topology: str) -> float:
    """Return the x of the proposition: lg of the smallest block."""
    return log2(min(blocks(topology).m))


@remembered
def least_slowdown(topology: str, a: int) -> Measured:
    """Return a lower bound on the slowdown of any mapping of the BSN's nodes to the GBSN's.

    The image of a link has at most `slowdown` hops, so each distance grows at most by this factor.
    Unless all links are mapped to links, some image has at least two hops.
    """
    guest = guest_of(topology, a)
    spans = is_spanning_subgraph(guest, topology)
    sums = [int(distances(name).sum()) for name in (topology, guest)]
    diameters = [diameter(name).value for name in (topology, guest)]
    bounds = [sums[0] / sums[1], diameters[0] / diameters[1]] + [2.0] * (not spans)
    there = {"guest": guest, "diameters": diameters, "distance sums": sums, "spans": spans}
    return Measured(max(bounds), there)


def is_spanning_subgraph(guest: str, host: str) -> bool:
    """Return whether some bijection maps all links of the guest to links of the host.

    Such a bijection increases no distance, so around each node, the host must have at least as many
    near nodes as the guest. If these counts fit, a solver searches for the bijection.
    """
    # Inexpensive counts decide nearly all pairs before a solver is needed.
    if len(links(guest)) > len(links(host)):
        return False
    own, there = distances(guest), distances(host)
    far = np.arange(1, own.max() + 1)[:, np.newaxis, np.newaxis]
    near_own, near_there = (own <= far).sum(axis=2), (there <= far).sum(axis=2)
    if (np.sort(near_own) > np.sort(near_there)).any():
        return False
    allowed = (near_own[:, :, np.newaxis] <= near_there[:, np.newaxis]).all(axis=0)
    return _is_mapped(own, there, allowed)


def _is_mapped(own: Distances, there: Distances, allowed: Flags) -> bool:
    """Return whether some bijection maps links to links and each node to an allowed node."""
    cp_model: Any = library("ortools.sat.python.cp_model")
    model, nodes = cp_model.CpModel(), range(len(own))
    images = {(u, x): model.new_bool_var("") for u, x in np.argwhere(allowed).tolist()}
    for node in nodes:
        model.add_exactly_one(images[node, x] for x in nodes if allowed[node, x])
        model.add_exactly_one(images[u, node] for u in nodes if allowed[u, node])
    beside = [np.flatnonzero(row == 1).tolist() for row in there]
    for u, x in images:
        for v in np.flatnonzero(own[u] == 1).tolist():
            reached = (images[v, y] for y in beside[x] if allowed[v, y])
            model.add_bool_or(images[u, x].negated(), *reached)
    solver = cp_model.CpSolver()
    # One worker and a fixed seed make the running time repeatable. The answer does not depend on
    # them.
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    return bool(solver.solve(model) == cp_model.OPTIMAL)


claim_prop_4_1 = section(place="Prop. 4.1", grid=HOSTS, relation="<=", cause="slowdown")

PROPOSITION_4_1 = (
    claim_prop_4_1(
        "GBSN-P41-slowdown",
        claimed=lambda topology, a: min(a, a / smallest_lg(topology)),
        cost=lambda topology, a: 10.0,
        measured=least_slowdown,
    ),
    claim_prop_4_1(
        "GBSN-P41-slowdown-max",
        claimed=lambda topology, a: max(1, a / smallest_lg(topology)),
        measured=least_slowdown,
    ),
)


@claim(
    "GBSN-P41-range",
    relation="all",
    grid=over("a, x in 1..4", a=range(1, 5), x=range(1, 5)),
    measures=False,
    fails_where=("x > a", lambda a, x: x > a),
)
def within_range(a: int, x: int) -> Measured:
    """Return whether the factor is within 1..a; nothing is measured."""
    factor = min(a, a / x)
    return Measured(1 <= factor <= a, {"factor": factor})
