"""Step-by-step runs of broadcasts from many roots, with counts of messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.base.arguments import PortRule, ScheduleRule
from mpinet.base.arrays import Ints
from mpinet.claims import Measured
from mpinet.claims.remembered import remembered
from mpinet.compiled import kernel
from mpinet.machine import Machine
from mpinet.networks import open as open_topology
from mpinet.networks.schedule import SPAN
from mpinet.networks.topology import Topology
from mpinet.papers.hdn.grids import MOST
from mpinet.programs.broadcast import broadcast
from mpinet.programs.collective import CollectiveOutcome

MENDED, PRINTED = "algorithm2", "printed"

ROOTS = 16
"""Number of random roots in networks beyond R1."""

MESSAGES, INFORMED, LAST, ENDED, SENT, RECEIVED, AGAIN, COUNTS = range(8)
"""Indices of a run's counts: messages; informed nodes; last step with a message to an uninformed
node; last step with any message; most messages sent by a node in a step; most messages received by
a node in a step; messages to informed nodes.
"""


@kernel
def run(
    schedule_rule: ScheduleRule,
    wiring: PortRule,
    root: int,
    steps: int,
    params: Ints,
    wires: Ints,
    since: Ints,
    receptions: Ints,
    counts: Ints,
) -> None:
    """Run a schedule; write the step in which each node is informed (0: the root, -1: never)."""
    send, neighbor = schedule_rule.call, wiring.call
    counts[:] = 0
    since[:] = -1
    since[root] = 0
    counts[INFORMED] = 1
    for step in range(1, steps + 1):
        receptions[:] = 0
        for u in range(since.size):
            # A node that is informed in a step sends from the next step on (store-and-forward).
            if since[u] < 0 or since[u] == step:
                continue
            answer = send(u, root, since[u], step, params)
            if answer < 0:
                continue
            ports = 1 + answer // SPAN
            counts[SENT] = max(counts[SENT], ports)
            for port in range(answer % SPAN, answer % SPAN + ports):
                v = neighbor(u, port, wires)
                counts[MESSAGES] += 1
                counts[ENDED] = step
                receptions[v] += 1
                counts[RECEIVED] = max(counts[RECEIVED], receptions[v])
                if since[v] < 0:
                    since[v] = step
                    counts[INFORMED] += 1
                    counts[LAST] = step
                else:
                    counts[AGAIN] += 1


COLUMNS = ("messages", "informed", "last", "ended", "sent", "received", "again", "length")
"""Names of the counts, followed by the length of the schedule in steps."""


@dataclass(frozen=True, eq=False)
class BroadcastExtremes:
    """Broadcasts from several roots; each extreme has the first root that attains it."""

    roots: list[int]
    """The roots."""
    counts: Ints
    """Counts of each root, with the columns `COLUMNS`."""

    def most(self, column: str) -> Measured:
        """Return the largest value of a column, with its root."""
        values = self.counts[:, COLUMNS.index(column)]
        return Measured(int(values.max()), {"root": self.roots[int(values.argmax())]})

    def least(self, column: str) -> Measured:
        """Return the smallest value of a column, with its root."""
        values = self.counts[:, COLUMNS.index(column)]
        return Measured(int(values.min()), {"root": self.roots[int(values.argmin())]})


def roots_of(size: int) -> list[int]:
    """Return all nodes; in large networks only the first, the last and some random nodes."""
    if size <= MOST:
        return list(range(size))
    # Seeded by the size, so a network has the same roots in every claim.
    drawn = np.random.default_rng(size).choice(size, ROOTS, replace=False)
    return sorted({0, size - 1, *drawn.tolist()})


@remembered
def runs(topology: str, algorithm: str) -> BroadcastExtremes:
    """Run broadcasts from every root (see `roots_of`)."""
    network = open_topology(topology)
    roots = roots_of(network.size)
    found = np.empty((len(roots), COUNTS + 1), np.int64)
    for row, root in zip(found, roots, strict=True):
        row[:COUNTS], _, row[COUNTS] = broadcast_from(network, root, algorithm)
    return BroadcastExtremes(roots, found)


def broadcast_from(
    network: Topology, root: int, algorithm: str
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return counts of a broadcast, the step of each node, and the length in steps."""
    schedule = network.schedules(root)[algorithm]()
    since, receptions = np.empty(network.size, np.int64), np.empty(network.size, np.int64)
    counts = np.empty(COUNTS, np.int64)
    rules = schedule.rule.native, network.neighbor.native
    run(*rules, root, schedule.steps, schedule.params, network.params, since, receptions, counts)
    return counts, since, schedule.steps


@remembered
def on_machine(topology: str, algorithm: str, ports: str) -> CollectiveOutcome:
    """Broadcast from node 0 on the machine, which counts the steps and checks port use."""
    return broadcast(Machine(topology, ports), 0, algorithm)
