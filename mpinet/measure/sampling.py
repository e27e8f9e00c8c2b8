"""Distance estimates for networks in which not every node can flood, from randomly drawn nodes.

The mean of all distances is the mean of the nodes' own mean distances. Nodes are drawn
independently with equal probability. Two inequalities for numbers in a known range give a
confidence interval: Hoeffding (1963), and the empirical Bernstein inequality, which uses the
observed variance (Maurer and Pontil, 2009, theorem 4). Each inequality gets half of the risk, and
the narrower interval counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.effort import LOOKS, require_walk
from mpinet.base.fielddocs import described
from mpinet.draws import philox
from mpinet.errors import UsageError
from mpinet.measure.distance import FaultyFloods, extent_of
from mpinet.measure.nearing import Nearing
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike
from mpinet.programs.flood import MANY
from mpinet.programs.waves import SOURCES_PER_WORD

CONFIDENCE = 0.99
"""Default probability that an interval contains the mean."""

SAMPLES = 0x73616D70
"""Stream number of the random draws of nodes."""


@described
@dataclass(frozen=True)
class DistanceEstimate:
    """Estimates of the distance measures, in hops, from floods of some nodes."""

    diameter_lower: int
    """Lower bound of the diameter, in hops; it is certain."""
    diameter_upper: int
    """Upper bound of the diameter, in hops; it is certain."""
    average: float
    """Mean distance over ordered pairs of different nodes, in hops: over all pairs, or over the
    pairs from the drawn nodes.
    """
    average_lower: float
    """Lower end of the confidence interval for the mean over all pairs, in hops."""
    average_upper: float
    """Upper end of the confidence interval for the mean over all pairs, in hops."""
    confidence: float
    """Probability, over the draws, that the mean lies in the interval; 1 if all nodes have flooded.
    """
    sources: int
    """Number of drawn nodes; a node may be drawn twice."""
    floods: int
    """Number of floods, each from one node."""
    exact: list[str]
    """Names of the exact measures: ``diameter``, ``average``."""


def distance_estimate(
    topology: NetworkLike,
    sources: int = 1024,
    confidence: float = CONFIDENCE,
    most: int | None = 1024,
    seed: int = 0,
) -> DistanceEstimate:
    """Estimate the mean distance, and tighten the bounds of the diameter (collective).

    If all nodes are equivalent (translations map any node to any other), both values are exact,
    from a single flood.

    Parameters
    ----------
    topology : Topology or str
        The network.
    sources : int
        Number of nodes to draw, at least 2. If it is the number of nodes or more, each node floods
        once, and all results are exact.
    confidence : float
        Probability that the mean is between its bounds.
    most : int, optional
        Largest number of additional floods to determine the diameter; None: no limit.
    seed : int
        Seed of the draws.

    Raises
    ------
    Disconnected
        The network is not connected.
    UsageError
        There are too few nodes to draw, or the confidence is invalid.

    Examples
    --------
    >>> found = distance_estimate("torus:40x40")
    >>> found.diameter_upper, found.average_upper, found.floods, found.exact
    (40, 20.012507817385867, 1, ['diameter', 'average'])
    """
    return estimated(FaultyFloods(open_topology(topology)), sources, confidence, most, seed)


def estimated(
    floods: FaultyFloods, sources: int, confidence: float, most: int | None, seed: int
) -> DistanceEstimate:
    """Estimate distances as in `distance_estimate`, with floods of a network without faults.

    Raises
    ------
    UsageError, Disconnected
        As in `distance_estimate`.
    """
    if sources < 2:
        raise UsageError(f"An estimate needs at least 2 drawn nodes, not {sources}.")
    if not 0 < confidence < 1:
        raise UsageError(f"A confidence is a probability between 0 and 1, not {confidence}.")
    network, ranks = floods.machine.topology, floods.machine.transport.size
    looks = network.size if most is None else min(network.size, sources) + most
    looks = -(-looks // SOURCES_PER_WORD) * network.size * network.ports
    what = f"An estimate of the distances of {network.name}"
    require_walk(looks, what, ranks, LOOKS * MANY)
    # In a network of equivalent nodes, one flood gives every distance sum. Drawing would only lose
    # exactness.
    if (alike := floods.alike) is not None:
        extent = extent_of(alike)
        mean = extent.distance_sum / max(1, extent.pairs)
        return _exact(extent.diameter, mean, 1)
    with (nearing := floods.nearing).state as state:
        sums = state.once("sums", lambda: _sums(nearing, network.size, sources, seed))
        drawn = state.once("drawn", lambda: state.floods)
        upper = nearing.settle_diameter(None if most is None else drawn + most)
    if sources >= network.size:
        pairs = max(1, network.size * (network.size - 1))
        return _exact(state.diameter, sum(sums) / pairs, state.floods)
    others = network.size - 1
    means = np.array(sums) / others
    low, high = least_sum(network.size, nearing.degree) / others, _most_sum(upper, others) / others
    mean = float(means.mean())
    half = half_width(means, high - low, 1 - confidence)
    exact = ["diameter"] if state.diameter == upper else []
    bounds = max(low, mean - half), min(high, mean + half)
    return DistanceEstimate(
        state.diameter, upper, mean, *bounds, confidence, sources, state.floods, exact
    )


def _exact(diameter: int, mean: float, floods: int) -> DistanceEstimate:
    return DistanceEstimate(
        diameter, diameter, mean, mean, mean, 1.0, floods, floods, ["diameter", "average"]
    )


def half_width(means: np.ndarray, width: float, risk: float) -> float:
    """Return the half width of a confidence interval for the mean of independent draws.

    Parameters
    ----------
    means : ndarray of float64, shape (n,)
        Draws, n >= 2.
    width : float
        Length of the range of possible draws.
    risk : float
        Probability, over draws, that the true mean is outside the interval.
    """
    count = len(means)
    # Each bound gets half of the risk, so the smaller bound may be chosen. Bernstein's is smaller
    # if the draws vary little (Maurer, Pontil 2009).
    hoeffding = width * sqrt(log(4 / risk) / (2 * count))
    bernstein = sqrt(2 * float(means.var(ddof=1)) * log(8 / risk) / count)
    bernstein += 7 * width * log(8 / risk) / (3 * (count - 1))
    return min(hoeffding, bernstein)


def least_sum(nodes: int, degree: int) -> int:
    """Return the least sum of a node's distances to all others (Cerf et al., 1974).

    At most degree * (degree - 1)^(j - 1) nodes are at distance j (Cerf, Cowan, Mullin and Stanton).

    Raises
    ------
    UsageError
        This number of nodes of this degree cannot be connected.

    Examples
    --------
    >>> least_sum(10, 3), least_sum(256, 16) / 255
    (15, 1.9372549019607843)
    """
    left, fresh, total, hops = nodes - 1, degree, 0, 0
    while left > 0:
        if fresh == 0:
            raise UsageError(f"{nodes} nodes of degree {degree} cannot be connected.")
        hops += 1
        total += hops * min(left, fresh)
        left -= fresh
        fresh *= degree - 1
    return total


def _most_sum(farthest: int, others: int) -> int:
    """Return the largest sum of a node's distances: one node per distance, the rest farthest."""
    return farthest * (farthest + 1) // 2 + (others - farthest) * farthest


def _sums(nearing: Nearing, size: int, sources: int, seed: int) -> list[int]:
    """Return the distance sums of randomly drawn nodes, in the order of the draws (collective)."""
    if sources >= size:
        drawn = np.arange(size)
    else:
        drawn = (philox(SAMPLES, seed).random_raw(sources) % np.uint64(size)).astype(np.int64)
    nodes, places = np.unique(drawn, return_inverse=True)
    # Sixty-four floods fit into the bits of one word and cost as much as one.
    sums: list[Ints] = [
        nearing.narrow(nodes[begin : begin + SOURCES_PER_WORD]).sums
        for begin in range(0, len(nodes), SOURCES_PER_WORD)
    ]
    found: list[int] = np.concatenate(sums)[places].tolist()
    return found
