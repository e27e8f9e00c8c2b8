"""The mappings by name, and the choice between them by what they would make cross."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpinet.errors import UsageError
from mpinet.machine.placement import Mapping, Placement, blocks, clustered, scattered
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology

CANDIDATES: dict[str, Callable[[Topology], Mapping]] = {"blocks": blocks, "clusters": clustered}
"""Mappings that `least_crossing` chooses from, by name; the first wins a tie."""

MEASURED, RANDOM = "measured", "random"

MAPPINGS = (*CANDIDATES, MEASURED, RANDOM)
"""All names that `open_mapping` knows."""

# Fewer crossings do not pay for a rank with far more work than the others: all wait for it in each
# step.
LONGEST = 1.25
"""Longest block that a measured choice accepts, in even shares."""

SAMPLE = 2**20
"""Most ports of a rank that are looked at (but never fewer than all of one processor)."""


def open_mapping(name: str, topology: Topology, transport: Local, seed: int = 0) -> Mapping:
    """The mapping of this name (collective).

    Parameters
    ----------
    name : str
        One of `MAPPINGS`.
    topology : Topology
        Whose processors are hosted.
    transport : Local
        The ranks that host them.
    seed : int
        For a random mapping.

    Raises
    ------
    UsageError
        There is no such mapping.
    """
    if name == RANDOM:
        return scattered(topology, seed)
    if name == MEASURED:
        return least_crossing(topology, transport)
    if name not in CANDIDATES:
        raise UsageError(f"There is no mapping {name!r}: give one of {', '.join(MAPPINGS)}.")
    return CANDIDATES[name](topology)


def least_crossing(topology: Topology, transport: Local) -> Mapping:
    """Choose the mapping of `CANDIDATES` with the fewest ports between ranks (collective).

    It is counted on the processors themselves, a sample where a rank has very many. Mappings by
    which a rank would host much more than its share are left out.
    """
    best, fewest = blocks(topology), np.inf
    if transport.size == 1:
        return best
    for make in CANDIDATES.values():
        mapping = make(topology)
        placement = Placement(mapping, transport.rank, transport.size)
        crossing = transport.sum(np.array([crossing_ports(topology, placement)]))[0]
        # Measured by all ranks together, since every rank must choose the same mapping.
        longest = transport.max(np.array([placement.count]))[0]
        if longest <= LONGEST * -(-topology.size // transport.size) and crossing < fewest:
            best, fewest = mapping, crossing
    return best


def crossing_ports(topology: Topology, placement: Placement) -> int:
    """Number of ports of this rank's processors that lead to other ranks."""
    processors = max(SAMPLE // max(topology.ports, 1), 1)
    # An even sample of the block: neighbouring processors often have alike neighbours.
    stride = -(-placement.count // processors) or 1
    nodes = placement.hosted(np.arange(placement.first, placement.first + placement.count, stride))
    others = topology.neighbor(nodes[:, np.newaxis], np.arange(topology.ports))
    owners = placement.owners(others[others >= 0])
    found = int((owners != placement.rank).sum())
    return found * placement.count // max(len(nodes), 1)
