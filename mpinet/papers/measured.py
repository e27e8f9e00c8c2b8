"""Measures of networks that the claims of several papers share; each is taken once a network."""

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
    """Number of nodes: about the time of a claim that looks at each."""
    return open_topology(topology).size


def checked_distances(
    topology: str, sources: range | None = None, dead: tuple[int, ...] = ()
) -> Distances:
    """Distances from some nodes (default: all) to all, by floods; -1 for dead nodes only.

    Raises
    ------
    Disconnected
        Two living nodes have no distance.
    """
    found = distance_matrix(topology, sources, dead=dead)
    # A dead node has no distance, which is no fault of the network; any other missing distance is
    # one.
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
    """All distances; see `checked_distances`."""
    return checked_distances(topology)


def diameter(topology: str) -> Measured:
    """The largest distance, and the first pair that has it."""
    return farthest(distances(topology))


def informed(topology: str) -> int:
    """Number of nodes that a flood from node 0 reaches."""
    return sum(measure.distance_profile(topology, 0))


@remembered
def degrees(topology: str) -> dict[int, int]:
    """Count the nodes by their number of different neighbours."""
    return measure.degrees(topology)


def links(topology: str) -> int:
    """Number of pairs of neighbours."""
    return sum(degree * nodes for degree, nodes in degrees(topology).items()) // 2


def common(found: dict[Any, int], row: str = "{} ({} times)") -> Any:
    """The one value that all have; in words how many have which one, if there are several.

    Parameters
    ----------
    found : dict
        How often each value was found.
    row : str
        How a value and its number are printed.
    """
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(row.format(value, count) for value, count in found.items())


def counted(values: Iterable[Any] | Array) -> Any:
    """Measure as `common`, of the values themselves."""
    different, counts = np.unique(np.asarray(values), return_counts=True)
    return common(dict(zip(different.tolist(), counts.tolist(), strict=True)))


def alike(topology: str) -> Measured:
    """Tell if all nodes have the same distance profile; if not, the first that differs from 0."""
    profiles = measure.distance_profiles(topology)
    # Equal profiles are necessary for symmetry: a single difference refutes it, without any search
    # for automorphisms.
    other = np.flatnonzero((profiles != profiles[0]).any(axis=1))
    if not len(other):
        return Measured(True)
    node = int(other[0])
    where = {"node": node, "nodes at distance 0, 1, ..": profiles[node].tolist()}
    return Measured(False, where | {"of node 0": profiles[0].tolist()})
