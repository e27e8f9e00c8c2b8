"""Walking messages' paths by the routing's rules alone, to see where they cross between ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpinet.arguments import DecideRule, PortRule, StartRule
from mpinet.arrays import Flags, Ints, Shorts
from mpinet.compiled import kernel
from mpinet.errors import RoutingError
from mpinet.machine.placement import Placement, owner_of
from mpinet.networks.routing import Routing, hop_limit, rules
from mpinet.networks.topology import Topology

AT_ONCE = 2**16
"""Paths that are walked, or messages that are made, at a time: they need little memory beside."""


@dataclass(frozen=True, eq=False)
class Walks:
    """Paths from sources to targets.

    Attributes
    ----------
    hops : ndarray of int32, shape (k,)
        The paths' lengths.
    crossing : ndarray of int64, shape (ranks,)
        Hops that leave each rank for another.
    partners : ndarray of bool, shape (ranks,)
        The ranks that one of them is entered from.
    """

    hops: NDArray[np.int32]
    crossing: Ints
    partners: Flags


def walk(
    topology: Topology,
    routing: Routing,
    placement: Placement,
    count: int,
    ends: Callable[[Ints], tuple[Ints, Ints]],
) -> Walks:
    """Walk from sources to targets, alone on the machine; contiguous blocks.

    Parameters
    ----------
    placement : Placement
        How ranks host processors; the partners are those of its rank.
    count : int
        How many paths.
    ends : callable
        ``ends(numbers)``: sources and targets of the paths of these numbers, 0..count-1.

    Raises
    ------
    RoutingError
        A path has no end.
    """
    hops = np.empty(count, np.int32)
    crossing = np.zeros(placement.ranks, np.int64)
    partners = np.zeros(placement.ranks, np.bool_)
    for begin in range(0, count, AT_ONCE):
        numbers = np.arange(begin, min(begin + AT_ONCE, count))
        sources, targets = ends(numbers)
        lost = walk_paths(
            *rules(topology, routing),
            placement.split,
            placement.rank,
            np.ascontiguousarray(sources),
            np.ascontiguousarray(targets),
            hops[begin : begin + len(numbers)],
            crossing,
            partners,
        )
        if lost >= 0:
            raise RoutingError(
                f"Routing {routing.name} on {topology.name} does not lead from {sources[lost]} to "
                f"{targets[lost]}."
            )
    return Walks(hops, crossing, partners)


@kernel
def walk_paths(
    neighbor_rule: PortRule,
    start_rule: StartRule,
    decide_rule: DecideRule,
    wiring: Ints,
    wayfinding: Ints,
    words: int,
    split: Ints,
    rank: int,
    sources: Ints,
    targets: Ints,
    hops: Shorts,
    crossing: Ints,
    partners: Flags,
) -> int:
    """Walk every path; the first that does not arrive, or -1."""
    neighbor, start, decide = neighbor_rule.call, start_rule.call, decide_rule.call
    header = np.empty(words, np.int64)
    limit = hop_limit(wiring[0])
    for i in range(sources.size):
        header[:] = 0
        start(sources[i], targets[i], header, wayfinding)
        node, owner, made = sources[i], owner_of(sources[i], split), 0
        port = decide(node, header, wayfinding)
        while port >= 0:
            node = neighbor(node, port, wiring)
            if node < 0 or made >= limit:
                return i
            made += 1
            other = owner_of(node, split)
            if other != owner:
                crossing[owner] += 1
                if owner == rank:
                    partners[other] = True
            owner = other
            port = decide(node, header, wayfinding)
        if node != targets[i]:
            return i
        hops[i] = made
    return -1
