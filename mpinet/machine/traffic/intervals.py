"""Intervals of a window: generated and accepted flits, and flits of each channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Counts, Ints
from mpinet.machine.machine import Machine
from mpinet.machine.state import Fields, Numbered, Same
from mpinet.machine.traffic.layout import TrafficLedger
from mpinet.machine.traffic.parameters import MOST_INTERVALS, Window

COLUMNS = ("begin", "steps", "generated_flits", "accepted_flits", "backlog", "loads_sum")

MOST_LISTED = 4096
"""Largest number of ports of a network for which every interval lists the flits of each channel."""


class Intervals:
    """Counts of a run by intervals of its window, with a collective at the end of each.

    Parameters
    ----------
    machine : Machine
        The processors and their ranks.
    window : Window
        The window, with the steps of an interval; the last interval may be shorter.
    loads : ndarray of uint32
        Flits over each channel of this rank so far, updated by the run.
    """

    def __init__(self, machine: Machine, window: Window, loads: Counts):
        self._machine, self._window, self._loads = machine, window, loads
        self._before = loads.copy()
        self._totals = np.zeros(2, np.int64)
        self.rows = np.empty((0, len(COLUMNS) + 2), np.int64)
        ports = machine.topology.size * machine.topology.ports
        self.channels = np.empty((0, ports if ports <= MOST_LISTED else 0), np.int64)

    @property
    def next(self) -> int:
        """First step after the current interval; a very large number after the last interval."""
        window, count = self._window, len(self.rows)
        if count * window.interval >= window.steps or count >= MOST_INTERVALS:
            return 1 << 62
        return window.warmup + min((count + 1) * window.interval, window.steps)

    def note(self, ledger: TrafficLedger) -> None:
        """Record the intervals that have ended (collective)."""
        while ledger.now >= self.next:
            end, window = self.next, self._window
            begin = window.warmup + len(self.rows) * window.interval
            transport, ports = self._machine.transport, self._machine.topology.ports
            totals = np.array([ledger.generated_flits, ledger.accepted_flits], np.int64)
            made = self._loads - self._before
            sums = np.array([*(totals - self._totals), ledger.backlog, int(made.sum())], np.int64)
            places = self._machine.nodes[:, np.newaxis] * ports + np.arange(ports)
            # The lowest of the busiest channels: one number for its flits and its place.
            keys = made.astype(np.int64) << 40 | ((1 << 40) - 1 - places.ravel())
            busiest = int(transport.max(np.array([keys.max(initial=0)], np.int64))[0])
            most, place = busiest >> 40, (1 << 40) - 1 - (busiest & (1 << 40) - 1)
            row = [begin, end - begin, *transport.sum(sums).tolist(), most, place]
            self.rows = np.concatenate([self.rows, np.array([row], np.int64)])
            self._list(made, places.ravel())
            self._before, self._totals = self._loads.copy(), totals

    def _list(self, made: Counts, places: Ints) -> None:
        """Append a row with the flits of every channel in the interval that has ended (collective).

        Networks with more than `MOST_LISTED` ports get no such rows.
        """
        if self.channels.shape[1]:
            flits = np.zeros((1, self.channels.shape[1]), np.int64)
            flits[0, places] = made
            self.channels = np.concatenate([self.channels, self._machine.transport.sum(flits)])

    def fields(self) -> Fields:
        """Return the fields of a checkpoint between two steps."""
        shape = len(self._machine.nodes), -1
        return {
            "intervals": Same(self.rows),
            "interval_channels": Same(self.channels),
            "interval_loads": Numbered(self._before.reshape(shape), self._machine.nodes),
        }

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the counts from the fields of `fields`, on any number of ranks.

        Rank 0 counts the flits of earlier intervals, as for the ledger's totals.
        """
        self.rows, self.channels = found["intervals"], found["interval_channels"]
        self._before = found["interval_loads"].reshape(-1).astype(np.uint32)
        if self._machine.transport.rank == 0:
            self._totals = self.rows[:, 2:4].sum(axis=0)

    def results(self) -> list[dict[str, Any]]:
        """Return the finished intervals, with rates per processor, channel and step."""
        topology, found = self._machine.topology, []
        for number, row in enumerate(self.rows.tolist()):
            each: dict[str, Any] = dict(zip(COLUMNS, row, strict=False))
            share = topology.hosts * each["steps"]
            each["offered"] = each["generated_flits"] / share
            each["throughput"] = each["accepted_flits"] / share
            each["loads_max"] = row[-2]
            each["utilisation_max"] = row[-2] / each["steps"]
            each["busiest"] = list(divmod(row[-1], topology.ports)) if row[-2] else []
            listed = self.channels.shape[1] > 0
            each["loads"] = self.channels[number].tolist() if listed else None
            found.append(each)
        return found
