"""Network measures shared by the claims of several papers; each is computed once per network."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpinet import measure
from mpinet.base.arrays import Array
from mpinet.claims import Measured
from mpinet.claims.remembered import remembered
from mpinet.errors import Disconnected
from mpinet.measure.distance import distance_matrix
from mpinet.networks.catalogue import open_topology
from mpinet.papers.witness import farthest

Distances = NDArray[np.int16]


def size_of(topology: str) -> int:
    """Return the number of nodes, as the cost of a claim about all nodes."""
    return open_topology(topology).size


def checked_distances(
    topology: str, sources: range | None = None, dead: tuple[int, ...] = ()
) -> Distances:
    """Return distances from some or all nodes to all nodes, by flooding; -1 for dead nodes only.

    Raises
    ------
    Disconnected
        No path connects two living nodes.
    """
    found = distance_matrix(topology, sources, dead=dead)
    # A missing distance of a dead node is expected. Every other missing distance is an error.
    lost = found < 0
    rows = np.arange(len(found)) if sources is None else np.array(sources)
    lost[np.isin(rows, dead)] = False
    lost[:, list(dead)] = False
    if lost.any():
        without = f" without {', '.join(map(str, dead))}" if dead else ""
        raise Disconnected(f"{topology}{without} is not connected: some nodes have no distance.")
    return found


@remembered(most=16)
def distances(topology: str) -> Distances:
    """Return all distances; see `checked_distances`."""
    return checked_distances(topology)


def diameter(topology: str) -> Measured:
    """Return the largest distance, with the first pair at this distance."""
    return farthest(distances(topology))


def informed(topology: str) -> int:
    """Return the number of nodes reached by a flood from node 0."""
    return sum(measure.distance_profile(topology, 0))


@remembered
def degrees(topology: str) -> dict[int, int]:
    """Return the number of nodes with each degree (number of different neighbours)."""
    return measure.degrees(topology)


def links(topology: str) -> int:
    """Return the number of pairs of neighbours."""
    return sum(degree * nodes for degree, nodes in degrees(topology).items()) // 2


def common(found: dict[Any, int], row: str = "{} ({} times)") -> Any:
    """Return the only value in `found`; if there are several, a text with each value's count.

    Parameters
    ----------
    found : dict
        Number of occurrences of each value.
    row : str
        Format of a value with its number of occurrences.
    """
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(row.format(value, count) for value, count in found.items())


def counted(values: Iterable[Any] | Array) -> Any:
    """Return the common value of some values, or a text with counts, as `common`."""
    different, counts = np.unique(np.asarray(values), return_counts=True)
    return common(dict(zip(different.tolist(), counts.tolist(), strict=True)))


def alike(topology: str) -> Measured:
    """Return whether all nodes have equal distance profiles, with the first node unlike node 0."""
    profiles = measure.distance_profiles(topology)
    # Equal profiles are necessary for symmetry, so one difference refutes symmetry without a search
    # for automorphisms.
    other = np.flatnonzero((profiles != profiles[0]).any(axis=1))
    if not len(other):
        return Measured(True)
    node = int(other[0])
    where = {"node": node, "nodes at distance 0, 1, ..": profiles[node].tolist()}
    return Measured(False, where | {"of node 0": profiles[0].tolist()})
