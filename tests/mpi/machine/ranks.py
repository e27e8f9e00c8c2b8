"""The ranks that run these tests: their transport, what they have together, and mappings."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from mpinet.compiled import rule
from mpinet.machine.machine import Machine
from mpinet.machine.placement import Mapping, blocks, scattered
from mpinet.machine.transport import Local, Mpi, world
from mpinet.networks.topology import NetworkLike, Topology

MAPPINGS = ["blocks", "random", "table"]


@cache
def transport() -> Local:
    """One for all tests: ranks that got out of step in one would show it in the next."""
    return world()


def everyone(mine: Any) -> list[Any]:
    """What all ranks have, rank 0 first (collective)."""
    return MPI.COMM_WORLD.allgather(mine)


@cache
def some_ranks(count: int) -> tuple[Local, bool]:
    """A transport of the first ranks, and whether this one is of them (collective)."""
    if transport().size == 1:
        return Local(), True
    inside = transport().rank < count
    part = MPI.COMM_WORLD.Split(0 if inside else 1)
    return (Mpi(part) if count > 1 else Local()), inside


@contextmanager
def shared_folder() -> Iterator[Path]:
    """An empty folder that all ranks know, on rank 0's disk."""
    own = tempfile.mkdtemp(prefix="mpinet-checkpoint-") if transport().rank == 0 else ""
    folder = Path(transport().share(own.encode()).decode())
    yield folder
    transport().sum(np.zeros(1))
    if transport().rank == 0:
        shutil.rmtree(folder)


@rule
def looked_up(node, direction, params):
    """A table: N positions, then N nodes."""
    return params[2 + direction * params[0] + node]


def mapping_of(topology: Topology, name: str) -> Mapping:
    """One of `MAPPINGS`."""
    if name == "random":
        return scattered(topology, seed=11)
    if name == "table":
        size, positions = topology.size, np.random.default_rng(5).permutation(topology.size)
        params = np.concatenate([[size, 2], positions, np.argsort(positions)])
        return Mapping("table", looked_up, params)
    return blocks(topology)


def machine_of(topology: NetworkLike, ports: Any = "all", **options: Any) -> Machine:
    """A machine on all ranks."""
    return Machine(topology, ports, transport(), **options)


def own(machine: Machine, nodes: Any) -> np.ndarray:
    """Places in `nodes` of this rank's processors."""
    return np.flatnonzero(np.isin(nodes, machine.nodes))
