"""Redistribution of rows: from the ranks that wrote them to the ranks that hold them now."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.machine.state import Located, Numbered
from mpinet.machine.step import by_owner
from mpinet.machine.stepping import Stepping
from mpinet.machine.transport import Local


def rows_at_home(machine: Stepping, kind: Located, rows: Array) -> Array:
    """Bring rows to the ranks that host their processors now, in order (collective)."""
    nodes = np.ascontiguousarray(kind.node(rows), np.int64)
    away, counts = by_owner(machine, nodes)
    came = machine.transport.exchange(rows[away], counts).records
    # On the same number of ranks nothing moves, and large arrays are not copied.
    if len(away) or len(came):
        rows = np.concatenate([np.delete(rows, away, axis=0), came])
    if kind.order is not None:
        return rows[kind.order(rows)]
    return rows[np.argsort(kind.node(rows), kind="stable")]


def held_again(transport: Local, kind: Numbered, keys: Ints, rows: Array) -> Array:
    """Bring rows to this rank for the numbers that it holds now (collective).

    Every number has a rank that looks after it: it gets the row from whoever has read it, and
    is asked for it by whoever holds it.
    """
    different = np.array([not np.array_equal(keys, kind.keys)], np.int64)
    # All ranks must agree on whether to exchange, so the question is a sum.
    if not transport.sum(different)[0]:
        return rows
    ranks = transport.size
    most = 1 + int(transport.max(np.array([max(keys.max(initial=0), kind.keys.max(initial=0))]))[0])
    # A directory by number: neither the reader nor the holder knows the other, but both know the
    # share.
    share = -(-most // ranks)

    def dealt(numbers: Ints) -> tuple[Ints, Ints]:
        owners = numbers // share
        return np.argsort(owners, kind="stable"), np.bincount(owners, minlength=ranks)

    order, counts = dealt(keys)
    numbers = carried(transport, keys[order], counts)
    known = carried(transport, rows[order], counts)
    by_number = np.argsort(numbers, kind="stable")
    order, counts = dealt(kind.keys)
    asked = carried(transport, kind.keys[order], counts)
    asking = carried_counts(transport, counts)
    place = np.searchsorted(numbers[by_number], asked)
    answers = carried(transport, known[by_number][place], asking)
    held = np.empty((len(kind.keys), *rows.shape[1:]), rows.dtype)
    held[order] = answers
    return held


def carried(transport: Local, rows: Array, counts: Ints) -> Array:
    """Send rows to ranks, also to this one; return those received, rank 0's first (collective)."""
    # Own rows stay here, and are put back between those of the lower and of the higher ranks.
    rank = transport.rank
    begin = int(counts[:rank].sum())
    # An exchange has no message to oneself; own rows keep their place between lower and higher
    # ranks.
    own = slice(begin, begin + int(counts[rank]))
    away = counts.copy()
    away[rank] = 0
    came = transport.exchange(np.delete(rows, own, axis=0), away)
    before = int(came.counts[:rank].sum())
    return np.concatenate([came.records[:before], rows[own], came.records[before:]])


def carried_counts(transport: Local, counts: Ints) -> Ints:
    """Number of rows that every rank sends here, as `counts` go out (collective)."""
    rows = np.repeat(np.arange(transport.size), counts)
    came = carried(transport, np.full(len(rows), transport.rank), counts)
    return np.bincount(came, minlength=transport.size)
