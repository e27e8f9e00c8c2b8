"""Chunks of collectives: which processors have them first, need them last, and their contents."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.programs.collective import items
from mpinet.programs.kinds import Place, Purpose

SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""An odd factor: it spreads 62 random bits over 64, each number to another one."""


def holds_first(purpose: Purpose, nodes: Ints, chunks: Ints) -> Flags:
    """Tell if these processors have these chunks before the first step."""
    place, hosts = purpose.kind.starts, purpose.processors
    if place == "own":
        return chunks // (purpose.chunks * (hosts if purpose.kind.pairs else 1)) == nodes
    return nodes == purpose.root if place == "root" else nodes < hosts


def starts(purpose: Purpose, nodes: Ints) -> tuple[Ints, Ints]:
    """Return the first holdings of these processors: pairs of processor and chunk."""
    if not purpose.kind.pairs:
        return _at(purpose, purpose.kind.starts, nodes)
    per = purpose.processors * purpose.chunks
    return _each(nodes, nodes * per, per)


def needs(purpose: Purpose, nodes: Ints) -> tuple[Ints, Ints]:
    """Return what these processors need in the end: pairs of processor and chunk."""
    if not purpose.kind.pairs:
        return _at(purpose, purpose.kind.needs, nodes)
    per, hosts = purpose.chunks, purpose.processors
    owners, chunks = _each(nodes, 0, hosts * per)
    return owners, (chunks // per * hosts + owners) * per + chunks % per


def _at(purpose: Purpose, place: Place | None, nodes: Ints) -> tuple[Ints, Ints]:
    """Pair each processor of a place with its chunks."""
    if place == "own":
        return _each(nodes, nodes * purpose.chunks, purpose.chunks)
    if place != "all":
        nodes = nodes[nodes == purpose.root] if place == "root" else nodes[:0]
    return _each(nodes, 0, purpose.total)


def _each(nodes: Ints, first: Ints | int, count: int) -> tuple[Ints, Ints]:
    """Pair every processor with as many chunks, from its first one on."""
    begin = np.broadcast_to(np.asarray(first, np.int64), nodes.shape)
    return np.repeat(nodes, count), (begin[:, None] + np.arange(count)).ravel()


def contents(purpose: Purpose, seed: int, nodes: Ints, chunks: Ints) -> np.ndarray:
    """Return what these processors contribute to these chunks: 64-bit numbers of the seed."""
    givers = nodes if purpose.kind.adds else chunks
    return items(seed, givers, chunks).view(np.uint64) * SPREAD


def results(purpose: Purpose, seed: int, chunks: Ints, combine: np.ufunc = np.add) -> np.ndarray:
    """Return what these chunks have to come to: of sums that of every processor once."""
    if not purpose.kind.adds:
        return contents(purpose, seed, chunks, chunks)
    different, place = np.unique(chunks, return_inverse=True)
    everybody = np.arange(purpose.processors)
    sums = [
        combine.reduce(contents(purpose, seed, everybody, np.full_like(everybody, chunk)))
        for chunk in different.tolist()
    ]
    return np.array(sums, np.uint64)[place]
