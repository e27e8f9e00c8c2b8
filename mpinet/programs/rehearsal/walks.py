"""Walks of messages' paths by the routing's rules alone, to count crossings between ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Flags, Ints, Shorts
from mpinet.compiled import inlined
from mpinet.errors import RoutingError
from mpinet.machine.placement import Placement, owner_of
from mpinet.networks import walks
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology

AT_ONCE = 2**16
"""Number of paths walked, or messages made, at a time, to save memory."""


@dataclass(frozen=True, eq=False)
class Walks:
    """Paths from sources to targets."""

    hops: NDArray[np.int32]
    """Length of each path, in hops. Shape (k,)."""
    crossing: Ints
    """Number of hops from each rank to another rank. Shape (ranks,)."""
    partners: Flags
    """True for ranks entered by hops from the placement's rank. Shape (ranks,)."""


def walk(
    topology: Topology,
    routing: Routing,
    placement: Placement,
    count: int,
    ends: Callable[[Ints], tuple[Ints, Ints]],
) -> Walks:
    """Walk from sources to targets, without other messages on the machine; contiguous blocks.

    Parameters
    ----------
    placement : Placement
        Hosting of processors; partners are counted for its rank.
    count : int
        Number of paths.
    ends : callable
        ``ends(numbers)`` returns sources and targets of the paths of these numbers, 0..count-1.

    Raises
    ------
    RoutingError
        A path does not end.
    """
    hops = np.empty(count, np.int32)
    crossing = np.zeros(placement.ranks, np.int64)
    partners = np.zeros(placement.ranks, np.bool_)
    for begin in range(0, count, AT_ONCE):
        numbers = np.arange(begin, min(begin + AT_ONCE, count))
        sources, targets = ends(numbers)
        notes = Crossings(
            placement.split,
            placement.rank,
            np.empty(1, np.int64),
            hops[begin : begin + len(numbers)],
            crossing,
            partners,
        )
        ends_of = np.ascontiguousarray(sources), np.ascontiguousarray(targets)
        lost = walk_paths(walks.rules(topology, routing), *ends_of, notes)
        if lost >= 0:
            raise RoutingError(
                f"Routing {routing.name} on {topology.name} does not lead from {sources[lost]} to "
                f"{targets[lost]}."
            )
    return Walks(hops, crossing, partners)


class Crossings(NamedTuple):
    """Arguments and results of `walk_paths`: ranks, owner of the message, and fields of `Walks`."""

    split: Ints
    rank: int
    owner: Ints
    hops: Shorts
    crossing: Ints
    partners: Flags


@inlined
def note_crossing(visit, header, notes):
    """Count a hop from one rank to another."""
    owner, split = notes.owner, notes.split
    if visit.hops == 0:
        owner[0] = owner_of(visit.node, split)
    other = owner_of(visit.following, split)
    if other != owner[0]:
        notes.crossing[owner[0]] += 1
        if owner[0] == notes.rank:
            notes.partners[other] = True
    owner[0] = other
    return False


@inlined
def note_length(visit, header, notes):
    """Write the length of a finished path; return True if it does not end at its target."""
    notes.hops[visit.pair] = visit.hops
    return visit.port >= 0 or visit.node != visit.target


walk_paths = walks.walk.bind("walk_paths", notes=Crossings, hop=note_crossing, ended=note_length)
