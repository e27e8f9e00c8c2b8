"""Measures of a bus network's wiring; each rank reads a part of the processors."""

from __future__ import annotations

from typing import Any

from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.report.hashes import dealt_lines, hash_of, incidence_lines


def bus_measures(topology: Topology, transport: Local) -> dict[str, Any]:
    """Return the number of busses and the SHA-256 of the lines ``processor bus`` (collective)."""
    lines = dealt_lines(transport, topology.size, incidence_lines(topology))
    return {"busses": topology.busses, "incidence_sha256": hash_of(lines)}
