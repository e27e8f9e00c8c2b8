"""Flooding: a processor is informed in the step that is its distance from the root."""

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
"""Processors of the whole machine that are asked how far they are and where their links lead."""

MESSAGE_BYTES = np.dtype(np.int64).itemsize
"""A beep is the receiver's number."""

SAMPLED = ("steps", "messages", "bytes", "all_messages", "all_bytes", "partners")
"""Fields that rest on the routing's paths, or on a sample of the processors."""


def rehearse_flood(machine: Machine, dry: Dry, root: int) -> Rehearsal:
    """Play a rank's part of a flood: every processor joins in at its distance from the root.

    Distances are the lengths of the routing's paths: longer than true where it has no shortest
    ones, which makes the flood seem to last longer. The last step's processors send nothing.

    Parameters
    ----------
    machine : Machine
        All-port, on `dry`.
    root : int
        Where it starts.
    """
    require_rehearsable(machine, "flooding")
    if machine.model.half_duplex:  # then every beep's port is needed, and not its receiver alone
        raise UsageError("predict knows flooding with full-duplex links.")
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
    """The network's first routing along shortest paths, or its first one.

    Routings whose tables would be too large are passed over.

    Raises
    ------
    UsageError
        None is left.
    """
    routings = []
    for make in topology.routings.values():
        with suppress(UsageError):
            routings.append(make())
    if not routings:
        raise UsageError(f"predict knows no distances in {topology.name}: it is too large.")
    return next((routing for routing in routings if routing.shortest), routings[0])


def _from_root(root: int, nodes: Ints, numbers: Ints) -> tuple[Ints, Ints]:
    """The root, and those of the nodes that have these numbers."""
    return np.full(len(numbers), root), nodes[numbers]


def _play(machine: Machine, dry: Dry, distances: NDArray[np.int32], steps: int) -> None:
    """The rank's steps, with arrivals for every beep that leaves it."""
    informed = np.zeros(machine.placement.count, bool)
    for step in range(steps):
        fresh = machine.nodes[np.flatnonzero(distances == step)]
        dry.arrivals = RehearsedWave(machine.nodes[np.flatnonzero(distances == step + 1)])
        slots = machine.slots(machine.beep(fresh))
        informed[slots[~informed[slots]]] = True


class RehearsedWave:
    """Arrivals of a flood: as many beeps as leave, for those who are to be informed next."""

    def __init__(self, following: Ints):
        self._following = following

    def __call__(self, called: Array) -> Array:
        """Numbers of hosted processors."""
        return np.resize(self._following, len(called) if len(self._following) else 0)


def _links_away(topology: Topology, placement: Placement, nodes: Ints) -> int:
    """Count the ports of these processors that lead from one rank to another."""
    senders, ports = wired(topology, nodes)
    others = topology.neighbor(senders, ports)
    return int((placement.owners(others) != placement.owners(senders)).sum())
