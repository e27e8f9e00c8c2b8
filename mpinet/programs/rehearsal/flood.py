"""Rehearsal of a flood: a processor is informed in the step equal to its distance from the root."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Array, Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.beep import wired
from mpinet.machine.dry import Dry
from mpinet.machine.placement import Placement
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.programs.rehearsal.rehearsal import Rehearsal, require_rehearsable
from mpinet.programs.rehearsal.walks import walk

SAMPLE = 2**16
"""Number of processors of the whole machine sampled for their distances and neighbours."""

MESSAGE_BYTES = np.dtype(np.int64).itemsize
"""Bytes of a beep, which contains only the receiver's number."""

SAMPLED = ("steps", "messages", "bytes", "all_messages", "all_bytes", "partners")
"""Fields that depend on the routing's paths, or on a sample of the processors."""


def rehearse_flood(machine: Machine, dry: Dry, root: int) -> Rehearsal:
    """Run one rank's part of a flood: processors send in the step of their distance.

    Distances are the lengths of the routing's paths. If the routing does not use shortest paths,
    the flood seems to last longer. The processors of the last step send nothing.

    Parameters
    ----------
    machine : Machine
        An all-port machine on `dry`.
    root : int
        The node that starts.
    """
    require_rehearsable(machine, "flooding")
    if machine.model.half_duplex:  # half duplex needs the port of every beep, not only the receiver
        raise UsageError("predict supports flooding with full-duplex links only.")
    topology, placement = machine.topology, machine.placement
    routing = shortest_of(topology)
    some = np.unique(np.linspace(0, topology.size - 1, min(topology.size, SAMPLE)).astype(np.int64))
    own, others = (
        walk(topology, routing, placement, len(nodes), partial(_from_root, root, nodes)).hops
        for nodes in (machine.nodes, some)
    )
    steps = int(max(own.max(initial=0), others.max(initial=0)))
    began = time.process_time()
    _play(machine, dry, own, steps)
    found = Rehearsal.played(machine, dry, began, steps=steps, all_messages=0, all_bytes=0)
    away = _links_away(topology, placement, some[others < steps])
    every = round(away * topology.size / len(some))
    exact = routing.shortest and len(some) == topology.size
    return replace(
        found,
        all_messages=every,
        all_bytes=every * MESSAGE_BYTES,
        modelled=() if exact else SAMPLED,
    )


def shortest_of(topology: Topology) -> Routing:
    """Return the network's first routing along shortest paths, or else its first routing.

    Routings whose tables would be too large are skipped.

    Raises
    ------
    UsageError
        All routings are too large.
    """
    routings = []
    for make in topology.routings.values():
        with suppress(UsageError):
            routings.append(make())
    if not routings:
        raise UsageError(
            f"predict cannot compute distances in {topology.name}: the network is too large."
        )
    return next((routing for routing in routings if routing.shortest), routings[0])


def _from_root(root: int, nodes: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """Return the root and the nodes with these numbers, as sources and targets."""
    return np.full(len(numbers), root), nodes[numbers]


def _play(machine: Machine, dry: Dry, distances: NDArray[np.int32], steps: int) -> None:
    """Run the rank's steps, with one modelled arrival for every beep that leaves the rank."""
    informed = np.zeros(machine.placement.count, bool)
    for step in range(steps):
        fresh = machine.nodes[np.flatnonzero(distances == step)]
        dry.arrivals = RehearsedWave(machine.nodes[np.flatnonzero(distances == step + 1)])
        slots = machine.slots(machine.beep(fresh))
        informed[slots[~informed[slots]]] = True


class RehearsedWave:
    """Modelled arrivals of a flood: as many beeps as leave, at the processors informed next."""

    def __init__(self, following: Ints):
        self._following = following

    def __call__(self, called: Array) -> Array:
        """Return as many hosted processors as beeps leave the rank."""
        return np.resize(self._following, len(called) if len(self._following) else 0)


def _links_away(topology: Topology, placement: Placement, nodes: Ints) -> int:
    """Return the number of ports of these processors that lead to another rank."""
    senders, ports = wired(topology, nodes)
    others = topology.neighbor(senders, ports)
    return int((placement.owners(others) != placement.owners(senders)).sum())
