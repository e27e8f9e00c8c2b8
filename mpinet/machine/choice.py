"""The mappings by name, and the choice of the mapping with the fewest crossing ports."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpinet.errors import UsageError
from mpinet.machine.placement import Mapping, Placement, blocks, clustered, scattered
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology

CANDIDATES: dict[str, Callable[[Topology], Mapping]] = {"blocks": blocks, "clusters": clustered}
"""Candidates of `least_crossing`, by name; the first candidate wins a tie."""

MEASURED, RANDOM = "measured", "random"

MAPPINGS = (*CANDIDATES, MEASURED, RANDOM)
"""All names accepted by `open_mapping`."""

# Fewer crossings do not compensate for a rank with far more work than the others: all ranks wait
# for this rank in each step.
LONGEST = 1.25
"""Largest block accepted by a measured choice, as a multiple of an even share."""

SAMPLE = 2**20
"""Largest number of a rank's ports to examine, but at least all ports of one processor."""


def open_mapping(name: str, topology: Topology, transport: Local, seed: int = 0) -> Mapping:
    """Return the mapping of this name (collective).

    Parameters
    ----------
    name : str
        One of `MAPPINGS`.
    topology : Topology
        The network of the processors.
    transport : Local
        The hosting ranks.
    seed : int
        Seed of a random mapping.

    Raises
    ------
    UsageError
        The name is unknown.
    """
    if name == RANDOM:
        return scattered(topology, seed)
    if name == MEASURED:
        return least_crossing(topology, transport)
    if name not in CANDIDATES:
        raise UsageError(f"There is no mapping {name!r}: give one of {', '.join(MAPPINGS)}.")
    return CANDIDATES[name](topology)


def least_crossing(topology: Topology, transport: Local) -> Mapping:
    """Return the mapping of `CANDIDATES` with the fewest ports between ranks (collective).

    Ports are counted at the processors themselves; a rank with very many processors counts a
    sample. Mappings that give a rank much more than its share are excluded.
    """
    best, fewest = blocks(topology), np.inf
    if transport.size == 1:
        return best
    for make in CANDIDATES.values():
        mapping = make(topology)
        placement = Placement(mapping, transport.rank, transport.size)
        crossing = transport.sum(np.array([crossing_ports(topology, placement)]))[0]
        # All ranks measure together, because every rank must choose the same mapping.
        longest = transport.max(np.array([placement.count]))[0]
        if longest <= LONGEST * -(-topology.size // transport.size) and crossing < fewest:
            best, fewest = mapping, crossing
    return best


def crossing_ports(topology: Topology, placement: Placement) -> int:
    """Return the number of ports of this rank's processors that lead to other ranks."""
    processors = max(SAMPLE // max(topology.ports, 1), 1)
    # An even sample of the block: neighbouring processors often have similar neighbours.
    stride = -(-placement.count // processors) or 1
    nodes = placement.hosted(np.arange(placement.first, placement.first + placement.count, stride))
    others = topology.neighbor(nodes[:, np.newaxis], np.arange(topology.ports))
    owners = placement.owners(others[others >= 0])
    found = int((owners != placement.rank).sum())
    return found * placement.count // max(len(nodes), 1)
