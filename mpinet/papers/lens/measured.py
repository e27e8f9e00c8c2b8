"""Measures of bus networks shared by several claims of the lens."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from mpinet import measure
from mpinet.base.arrays import Ints, Matrix
from mpinet.claims.remembered import remembered
from mpinet.compiled import rule
from mpinet.networks.catalogue import open_topology
from mpinet.networks.lens.labels import first_row, row_of
from mpinet.networks.lens.wiring import LensNetwork
from mpinet.networks.shortest import neighbor_table
from mpinet.networks.topology import Topology, wiring


@rule
def between_rows(node, port, params):
    """Return the neighbour on a port if its dot is at another place; otherwise -1."""
    other = wiring(node, port, params)
    if other < 0:
        return -1
    first = first_row(params)
    if row_of(node + first, params) == row_of(other + first, params):
        return -1
    return other


class PatternA(Topology):
    """Hops of pattern A of a lens: links between members of a bus with different dots.

    Parameters
    ----------
    lens : LensNetwork
        The lens. Port numbers are unchanged.
    """

    family = "pattern A of "
    neighbor = between_rows.bind("PatternA.neighbor", wiring=LensNetwork.neighbor)
    reverse_port = LensNetwork.reverse_port

    def __init__(self, lens: Topology):
        params = lens.params[2:].tolist()
        super().__init__(lens.name, size=lens.size, ports=lens.ports, params=params)


def pattern_a(topology: str) -> Topology:
    """Return the network of the pattern-A hops of a lens."""
    return PatternA(open_topology(topology))


@remembered
def distances(topology: str) -> Matrix:
    """Return distances over the busses, by floods; shape (N, N)."""
    return measure.distance_matrix(topology).astype(np.int64)


@remembered
def distances_a(topology: str) -> Matrix:
    """Return distances by pattern A, by floods; -1 for pairs without a path."""
    return measure.distance_matrix(pattern_a(topology)).astype(np.int64)


@remembered
def incidences(topology: str) -> Ints:
    """Return rows (processor, bus)."""
    return measure.incidences(topology)


def busses(topology: str) -> int:
    """Return the number of busses with processors."""
    return len(np.unique(incidences(topology)[:, 1]))


def busses_of_processors(topology: str) -> dict[int, int]:
    """Return the number of processors by their number of busses."""
    return _histogram(incidences(topology)[:, 0])


def processors_of_busses(topology: str) -> dict[int, int]:
    """Return the number of busses by their number of processors."""
    return _histogram(incidences(topology)[:, 1])


def incidence_degrees(topology: str) -> dict[str, list[int]]:
    """Return the occurring numbers of busses per processor, and of processors per bus."""
    return {
        "busses of a processor": list(busses_of_processors(topology)),
        "processors of a bus": list(processors_of_busses(topology)),
    }


def _histogram(numbers: Ints) -> dict[int, int]:
    counts = Counter(np.unique(numbers, return_counts=True)[1].tolist())
    return dict(sorted(counts.items()))


def members(topology: str) -> dict[int, list[int]]:
    """Return the processors of each bus, ascending."""
    found: dict[int, list[int]] = {}
    for processor, bus in incidences(topology).tolist():
        found.setdefault(bus, []).append(processor)
    return found


@remembered
def ways(topology: str) -> Matrix:
    """Return the number of busses shared by two different processors, by ports; shape (N, N)."""
    table = neighbor_table(open_topology(topology))
    shared = np.zeros((len(table), len(table)), np.int64)
    rows, ports = np.nonzero(table >= 0)
    np.add.at(shared, (rows, table[rows, ports]), 1)
    return shared


@remembered
def path_counts(topology: str) -> NDArray[np.float64]:
    """Return numbers of shortest paths; paths over different busses differ; shape (N, N)."""
    hops, steps = distances(topology), ways(topology).astype(float)
    counts = np.eye(len(hops))
    for length in range(1, int(hops.max()) + 1):
        reached = np.where(hops == length - 1, counts, 0.0) @ steps
        # Doubles hold the counts exactly up to 2^53, far above the counts of these grids.
        counts = np.where(hops == length, reached, counts)
    return counts
