"""The pairs whose routes are measured: all ordered pairs, a traffic pattern, or a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.effort import require_walk
from mpinet.base.memory import require_memory
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.programs.traffic import Traffic, traffic

Pair = tuple[int, int]

BYTES_A_PAIR = 56
"""Bytes per stored pair: its ends, and arrays for sorting."""

AT_ONCE = 1 << 20
"""Number of pairs whose routes are measured at a time."""


def as_routing(topology: Topology, routing: Routing | str | None) -> Routing:
    """Return a routing of the network, given as an object or by name; default: the first."""
    return routing if isinstance(routing, Routing) else topology.routing(routing)


def own_share(transport: Local, count: int) -> slice:
    """Return this rank's share of `count` ordered objects as a slice."""
    rank, size = transport.rank, transport.size
    return slice(count * rank // size, count * (rank + 1) // size)


def own_pairs(transport: Local, sources: Ints, targets: Ints) -> tuple[Ints, Ints]:
    """Return this rank's share of some pairs as new arrays, suitable for kernels."""
    share = own_share(transport, len(sources))
    return sources[share].copy(), targets[share].copy()


class Pairs:
    """Ordered pairs (source, target) of processors, ascending.

    Parameters
    ----------
    topology : Topology
        The network; switches neither send nor receive.
    pairs : str or array-like of int, shape (k, 2)
        A traffic pattern of `mpinet.programs.traffic.traffic` (``all``: every ordered pair of
        different processors), or rows (source, target).
    seed : int
        Seed of random patterns.

    Raises
    ------
    TooLarge
        There are too many pairs to walk, or to store if necessary.
    """

    def __init__(self, topology: Topology, pairs: Any = "all", seed: int = 0):
        self._listed: Ints | None = None
        self._pattern: Traffic | None = None
        if isinstance(pairs, str):
            self._pattern = traffic(topology, pairs, seed)
            self.total: int = self._pattern.total
            """Number of pairs."""
            what = f"A walk over the routes of {topology.name}"
            require_walk(self.total, what, of="pairs")
            if pairs != "all":
                require_memory(BYTES_A_PAIR * self.total, what)
        # The pattern "all" is ascending, and is generated part by part. Other pairs must be stored
        # for sorting.
        if not isinstance(pairs, str) or pairs != "all":
            self._listed = self._sorted(topology, pairs)
            self.total = len(self._listed)

    def _sorted(self, topology: Topology, pairs: Any) -> Ints:
        if self._pattern is not None:
            rows = np.stack(self._pattern.ends(np.arange(self.total)), axis=1)
        else:
            rows = np.asarray(pairs, np.int64)
            if rows.ndim != 2 or rows.shape[1] != 2:
                raise UsageError("Pairs are rows (source, target), or a traffic pattern.")
        for node in np.unique(rows[(rows < 0) | (rows >= topology.hosts)]):
            raise UsageError(
                f"{topology.name} has no processor {node}: they are 0..{topology.hosts - 1}."
            )
        # Ascending, so that the first of several equally bad pairs, the witness, is the smallest.
        return rows[np.lexsort((rows[:, 1], rows[:, 0]))]

    def parts(self, at_once: int = AT_ONCE) -> Iterator[tuple[Ints, Ints]]:
        """Yield sources and targets of the pairs, in order, at most `at_once` at a time."""
        for begin in range(0, self.total, at_once):
            numbers = np.arange(begin, min(begin + at_once, self.total))
            if self._listed is not None:
                sources, targets = self._listed[numbers].T
                yield np.ascontiguousarray(sources), np.ascontiguousarray(targets)
            elif self._pattern is not None:
                yield self._pattern.ends(numbers)
