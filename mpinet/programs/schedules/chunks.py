"""Chunks of collectives: how they are numbered, who has them first and who needs them last."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.programs.collective import items
from mpinet.programs.kinds import OWNED, SUMS
from mpinet.programs.schedules.timetable import Timetable

UNSTATED = "unstated"
"""Stand-in for a collective: nobody said what the messages carry."""

SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""An odd factor: it spreads 62 random bits over 64, each number to another one."""


def count_chunks(collective: str, processors: int, chunks: int) -> int:
    """Count the chunk numbers."""
    if collective == "exchange":
        return processors * processors * chunks
    return processors * chunks if collective in OWNED else chunks


def holds_first(table: Timetable, nodes: Ints, chunks: Ints) -> Flags:
    """Tell if these processors have these chunks before the first step."""
    per, hosts = table.chunks, table.processors
    if table.collective in ("broadcast", "scatter"):
        return nodes == table.root
    if table.collective in SUMS:
        return nodes < hosts
    owners = chunks // (per * hosts if table.collective == "exchange" else per)
    return owners == nodes


def starts(table: Timetable, nodes: Ints) -> tuple[Ints, Ints]:
    """Return what these processors have first: pairs of processor and chunk."""
    per, hosts = table.chunks, table.processors
    total = count_chunks(table.collective, hosts, per)
    if table.collective in ("broadcast", "scatter"):
        return _each(nodes[nodes == table.root], 0, total)
    if table.collective in SUMS:
        return _each(nodes, 0, total)
    length = per * hosts if table.collective == "exchange" else per
    return _each(nodes, nodes * length, length)


def needs(table: Timetable, nodes: Ints) -> tuple[Ints, Ints]:
    """Return what these processors need in the end: pairs of processor and chunk."""
    per, hosts = table.chunks, table.processors
    total = count_chunks(table.collective, hosts, per)
    if table.collective in ("reduce", "gather"):
        return _each(nodes[nodes == table.root], 0, total)
    if table.collective in ("broadcast", "allreduce", "gossip"):
        return _each(nodes, 0, total)
    if table.collective == "exchange":
        owners, chunks = _each(nodes, 0, hosts * per)
        return owners, (chunks // per * hosts + owners) * per + chunks % per
    return _each(nodes, nodes * per, per)


def _each(nodes: Ints, first: Ints | int, count: int) -> tuple[Ints, Ints]:
    """Pair every processor with as many chunks, from its first one on."""
    begin = np.broadcast_to(np.asarray(first, np.int64), nodes.shape)
    return np.repeat(nodes, count), (begin[:, None] + np.arange(count)).ravel()


def contents(table: Timetable, seed: int, nodes: Ints, chunks: Ints) -> np.ndarray:
    """Return what these processors contribute to these chunks: 64-bit numbers of the seed."""
    givers = nodes if table.collective in SUMS else chunks
    return items(seed, givers, chunks).view(np.uint64) * SPREAD


def results(table: Timetable, seed: int, chunks: Ints, combine: np.ufunc = np.add) -> np.ndarray:
    """Return what these chunks have to come to: of sums that of every processor once."""
    if table.collective not in SUMS:
        return contents(table, seed, chunks, chunks)
    different, place = np.unique(chunks, return_inverse=True)
    everybody = np.arange(table.processors)
    sums = [
        combine.reduce(contents(table, seed, everybody, np.full_like(everybody, chunk)))
        for chunk in different.tolist()
    ]
    return np.array(sums, np.uint64)[place]
