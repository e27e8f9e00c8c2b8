"""Placements of a program's processors on the processors of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from math import prod
from pathlib import Path

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.files import read_bytes
from mpinet.base.numerals import quoted
from mpinet.draws import uniform_permutation
from mpinet.errors import FileError, NodeError, UsageError
from mpinet.machine.timed.layout import CALC, RECV
from mpinet.machine.timed.program import Program
from mpinet.networks.classic.grid import Grid
from mpinet.networks.classic.hypercube import Hypercube
from mpinet.networks.cycle import cycle_order
from mpinet.networks.topology import Topology

NAMES = ("identity", "random", "snake", "cycle")

MOST_TEXT = 1 << 30

MOST_AXES = 5
"""Maximum number of dimensions of a network that are tried in all orders for a grid."""


def places_of(
    how: str, topology: Topology, processors: int, seed: int = 0, searched: bool = False
) -> Ints | None:
    """Return the network's processor for each processor of a program; None: the same number.

    Parameters
    ----------
    how : str
        One of `NAMES`, or a file with one processor per line, by number or address. Searches play
        the program and are in `mpinet.programs.messages.placesearch`.
    topology : Topology
        The network.
    processors : int
        Number of processors of the program.
    seed : int
        Seed of a random placement.
    searched : bool
        True if the caller also offers a search; errors about `how` then mention the search.

    Raises
    ------
    UsageError
        The network does not have this order, or has fewer processors.
    FileError
        The file cannot be read, or has invalid lines.
    """
    if processors > topology.hosts:
        raise UsageError(
            f"The program is for {processors} processors, and {topology.name} has {topology.hosts}."
        )
    if how == "search":
        raise UsageError("--place search needs a single program: see mpinet replay.")
    if how == "identity":
        return None
    if how == "random":
        order = uniform_permutation(topology.hosts, seed)
    elif how == "snake":
        order = snake(topology)
    elif how == "cycle":
        order = along_cycle(topology)
    else:
        order = _listed(Path(how), topology, processors, (*NAMES, *["search"][: int(searched)]))
    return order[:processors]


def snake(topology: Topology) -> Ints:
    """Return a mesh's or torus's processors along its rows, every other row backwards.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> snake(open("mesh:2x3")).tolist()
    [0, 1, 2, 5, 4, 3]
    """
    if not isinstance(topology, Grid):
        raise UsageError(f"--place snake is for meshes and tori, not for {topology.name}.")
    order = np.zeros(1, np.int64)
    for side, stride in zip(reversed(topology.sides), reversed(topology.strides), strict=True):
        rows = [order if row % 2 == 0 else order[::-1] for row in range(side)]
        order = np.concatenate([row * stride + nodes for row, nodes in enumerate(rows)])
    return order


def along_cycle(topology: Topology) -> Ints:
    """Return a network's processors along its Hamiltonian cycle, from 0."""
    cycle = topology.cycle()
    if cycle is None:
        raise UsageError(f"--place cycle: no Hamiltonian cycle of {topology.name} is known.")
    return cycle_order(topology, cycle)


def along_grid(topology: Topology, sides: Sequence[int]) -> Ints | None:
    """Return processors for a grid, with neighbours in the grid next to each other, if possible.

    On a hypercube each dimension follows a Gray code. On a mesh or torus each dimension follows one
    or several dimensions of the network, back and forth. A ring follows a Hamiltonian cycle.

    Parameters
    ----------
    topology : Topology
        The network.
    sides : sequence of int
        Sides of the grid; neighbours along the last side have consecutive numbers.

    Returns
    -------
    ndarray of int64, shape (product of sides,) or None
        Processor at each position of the grid; None if no placement is known.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> along_grid(open("hypercube:3"), [2, 4]).tolist()
    [0, 1, 3, 2, 4, 5, 7, 6]
    >>> along_grid(open("mesh:2x3"), [3, 2]).tolist()
    [0, 3, 1, 4, 2, 5]
    """
    sides = [side for side in sides if side > 1]
    size = prod(sides)
    if isinstance(topology, Hypercube) and size & (size - 1) == 0:
        return _joined([(np.arange(side) ^ np.arange(side) >> 1, side) for side in sides])
    if size != topology.hosts or size != topology.size:
        return None
    if len(sides) == 1 and topology.cycle() is not None:
        return along_cycle(topology)
    if not isinstance(topology, Grid):
        return None
    axes = list(zip(topology.sides, topology.strides, strict=True))
    for order in permutations(axes) if len(axes) <= MOST_AXES else [tuple(axes)]:
        lines = _along_axes(list(order), sides)
        if lines is not None:
            return sum(np.meshgrid(*lines, indexing="ij"), start=np.int64(0)).reshape(-1)
    return None


def _joined(lines: Sequence[tuple[Ints, int]]) -> Ints:
    """Return the numbers with the bits of all dimensions joined, the last dimension lowest."""
    found = np.zeros(1, np.int64)
    for places, side in lines:
        found = (found[:, None] * side + places).reshape(-1)
    return found


def _along_axes(axes: list[tuple[int, int]], sides: Sequence[int]) -> list[Ints] | None:
    """Return each side's line along the next axes of a grid; None if the sides do not fit."""
    lines = []
    for side in sides:
        line = np.zeros(1, np.int64)
        while len(line) < side and axes:
            length, stride = axes.pop(0)
            rows = [line if row % 2 == 0 else line[::-1] for row in range(length)]
            line = np.concatenate([row * stride + nodes for row, nodes in enumerate(rows)])
        if len(line) != side:
            return None
        lines.append(line)
    return lines if all(length == 1 for length, _ in axes) else None


def _listed(file: Path, topology: Topology, processors: int, names: Sequence[str]) -> Ints:
    """Return the processors listed in a file, one per line."""
    try:
        text = read_bytes(file, MOST_TEXT).decode(errors="replace")
    except OSError as error:
        raise FileError(
            f"--place is {', '.join(names)} or a file: cannot read {file}: {error.strerror}."
        ) from None
    words = [line.partition("#")[0].strip() for line in text.splitlines()]
    try:
        order = [topology.find(word) for word in words if word]
    except NodeError as error:
        raise FileError(f"{file}: {error}") from None
    if len(order) < processors:
        raise FileError(f"{file}: the file places {len(order)} processors instead of {processors}.")
    seen = set[int]()
    for number, node in enumerate(order):
        if node >= topology.hosts:
            raise FileError(f"{file}: {node} is a switch of {topology.name}.")
        if node in seen:
            raise FileError(f"{file}: {quoted(str(node))}, in place {number}, is taken already.")
        seen.add(node)
    return np.array(order, np.int64)


def placed(program: Program, places: Ints, processors: int) -> Program:
    """Return a program with renumbered processors.

    Parameters
    ----------
    program : Program
        The program.
    places : ndarray of int64, shape (program.processors,)
        New number of each processor, all different.
    processors : int
        Number of processors of the new program, larger than all new numbers.
    """
    counts = np.zeros(processors, np.int64)
    counts[places] = np.diff(program.first)
    starts = np.zeros(processors, np.int64)
    starts[places] = program.first[:-1]
    moved = program.taken(starts, counts)
    named = (moved.kind != CALC) & ((moved.kind != RECV) | (moved.peer >= 0))
    peer = np.where(named, places[np.where(named, moved.peer, 0)], moved.peer)
    return replace(moved, peer=peer.astype(np.int32))
