"""Chunks of collectives: initial holders, processors that need them, and contents."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.programs.collective import items
from mpinet.programs.kinds import Place, Purpose

SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""An odd factor that maps 62 random bits one-to-one to 64 bits."""


def holds_first(purpose: Purpose, nodes: Ints, chunks: Ints) -> Flags:
    """Return whether these processors hold these chunks before the first step."""
    place, hosts = purpose.kind.starts, purpose.processors
    if place == "own":
        return chunks // (purpose.chunks * (hosts if purpose.kind.pairs else 1)) == nodes
    return nodes == purpose.root if place == "root" else nodes < hosts


def starts(purpose: Purpose, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the initial holdings of these processors: pairs of processor and chunk."""
    if not purpose.kind.pairs:
        return _at(purpose, purpose.kind.starts, nodes)
    per = purpose.processors * purpose.chunks
    return _each(nodes, nodes * per, per)


def needs(purpose: Purpose, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the final needs of these processors: pairs of processor and chunk."""
    if not purpose.kind.pairs:
        return _at(purpose, purpose.kind.needs, nodes)
    per, hosts = purpose.chunks, purpose.processors
    owners, chunks = _each(nodes, 0, hosts * per)
    return owners, (chunks // per * hosts + owners) * per + chunks % per


def _at(purpose: Purpose, place: Place | None, nodes: Ints) -> tuple[Ints, Ints]:
    """Return pairs of the processors at `place` and their chunks."""
    if place == "own":
        return _each(nodes, nodes * purpose.chunks, purpose.chunks)
    if place != "all":
        nodes = nodes[nodes == purpose.root] if place == "root" else nodes[:0]
    return _each(nodes, 0, purpose.total)


def _each(nodes: Ints, first: Ints | int, count: int) -> tuple[Ints, Ints]:
    """Return pairs of every processor with `count` chunks, starting at its first one."""
    begin = np.broadcast_to(np.asarray(first, np.int64), nodes.shape)
    return np.repeat(nodes, count), (begin[:, None] + np.arange(count)).ravel()


def contents(purpose: Purpose, seed: int, nodes: Ints, chunks: Ints) -> np.ndarray:
    """Return the contributions of processors to chunks: 64-bit numbers derived from the seed."""
    givers = nodes if purpose.kind.adds else chunks
    return items(seed, givers, chunks).view(np.uint64) * SPREAD


def results(purpose: Purpose, seed: int, chunks: Ints, combine: np.ufunc = np.add) -> np.ndarray:
    """Return the final values of chunks; a sum contains each processor's contribution once."""
    if not purpose.kind.adds:
        return contents(purpose, seed, chunks, chunks)
    different, place = np.unique(chunks, return_inverse=True)
    everybody = np.arange(purpose.processors)
    sums = [
        combine.reduce(contents(purpose, seed, everybody, np.full_like(everybody, chunk)))
        for chunk in different.tolist()
    ]
    return np.array(sums, np.uint64)[place]
