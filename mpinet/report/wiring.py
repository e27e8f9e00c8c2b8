"""Measures of a network's wiring, each rank looking at a share of the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.report.hashes import WINDOW, dealt_lines, hashed, incidence_lines, links_of


def degree_histogram(topology: Topology, transport: Local) -> dict[int, int]:
    """How many nodes have how many different neighbours (collective).

    Returns
    -------
    dict of int to int
        Number of nodes by degree, ascending.
    """
    counts = np.zeros(topology.ports + 1, np.int64)
    stride = WINDOW * transport.size
    for begin in range(WINDOW * transport.rank, topology.size, stride):
        end = min(begin + WINDOW, topology.size)
        nodes, _ = links_of(topology, begin, end)
        degrees = np.bincount(nodes - begin, minlength=end - begin)
        counts += np.bincount(degrees, minlength=topology.ports + 1)
    counts = transport.sum(counts)
    return {int(degree): int(counts[degree]) for degree in np.flatnonzero(counts)}


def bus_measures(topology: Topology, transport: Local) -> dict[str, Any]:
    """Number of busses, and the sha256 of the lines ``processor bus`` (collective)."""
    lines = dealt_lines(transport, topology.size, incidence_lines(topology))
    return {"busses": topology.busses, "incidence_sha256": hashed(lines)}
