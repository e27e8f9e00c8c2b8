"""Broadcasts run step by step, from many roots, and what they send."""

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
from mpinet.programs.collective import CollectiveResult

MENDED, PRINTED = "algorithm2", "printed"

ROOTS = 16
"""Roots that are drawn in networks beyond R1."""

MESSAGES, INFORMED, LAST, ENDED, SENT, RECEIVED, AGAIN, COUNTS = range(8)
"""Counts of a run: messages; informed nodes; the last step with a message to a node
that had none; the last one with any message; most messages that a node sent, and received, in a
step; messages to nodes that had one already."""


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
    """Run a schedule; write the step in which each node was informed (0: the root, -1: not)."""
    send, neighbor = schedule_rule.call, wiring.call
    counts[:] = 0
    since[:] = -1
    since[root] = 0
    counts[INFORMED] = 1
    for step in range(1, steps + 1):
        receptions[:] = 0
        for u in range(since.size):
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


@dataclass(frozen=True)
class Runs:
    """The extremes of broadcasts from several roots, each with the first root that has it."""

    steps: Measured
    """Length of the shortest schedule, in steps."""
    most_steps: Measured
    """Length of the longest schedule, in steps."""
    last: Measured
    """Earliest step in which the last node was informed."""
    most_last: Measured
    """Latest step in which the last node was informed."""
    most_ended: Measured
    """Latest step in which any node, informed or not, received something."""
    fewest_informed: Measured
    """Informed nodes."""
    messages: Measured
    """Most messages."""
    sent: Measured
    """Most messages that a node sent in a step."""
    received: Measured
    """Most messages that a node received in a step."""
    again: Measured
    """Most messages to nodes that had one already."""


def roots_of(size: int) -> list[int]:
    """All nodes; in large networks the first, the last and some random ones."""
    if size <= MOST:
        return list(range(size))
    drawn = np.random.default_rng(size).choice(size, ROOTS, replace=False)
    return sorted({0, size - 1, *drawn.tolist()})


@remembered
def runs(topology: str, algorithm: str) -> Runs:
    """Broadcast from every root (see `roots_of`)."""
    network = open_topology(topology)
    roots = roots_of(network.size)
    found = np.empty((len(roots), COUNTS + 1), np.int64)
    for row, root in zip(found, roots, strict=True):
        row[:COUNTS], _, row[COUNTS] = broadcast_from(network, root, algorithm)

    def extreme(column: int, place: int) -> Measured:
        return Measured(int(found[place, column]), {"root": roots[place]})

    highest, lowest = found.argmax(axis=0), found.argmin(axis=0)
    return Runs(
        steps=extreme(COUNTS, lowest[COUNTS]),
        most_steps=extreme(COUNTS, highest[COUNTS]),
        last=extreme(LAST, lowest[LAST]),
        most_last=extreme(LAST, highest[LAST]),
        most_ended=extreme(ENDED, highest[ENDED]),
        fewest_informed=extreme(INFORMED, lowest[INFORMED]),
        messages=extreme(MESSAGES, highest[MESSAGES]),
        sent=extreme(SENT, highest[SENT]),
        received=extreme(RECEIVED, highest[RECEIVED]),
        again=extreme(AGAIN, highest[AGAIN]),
    )


def broadcast_from(
    network: Topology, root: int, algorithm: str
) -> tuple[np.ndarray, np.ndarray, int]:
    """Run a broadcast: its counts, when each node was informed, and its length in steps."""
    schedule = network.schedules(root)[algorithm]()
    since, receptions = np.empty(network.size, np.int64), np.empty(network.size, np.int64)
    counts = np.empty(COUNTS, np.int64)
    rules = schedule.rule.native, network.neighbor.native
    run(*rules, root, schedule.steps, schedule.params, network.params, since, receptions, counts)
    return counts, since, schedule.steps


@remembered
def on_machine(topology: str, algorithm: str, ports: str) -> CollectiveResult:
    """Broadcast from node 0 on the machine, which counts the steps and polices its ports."""
    return broadcast(Machine(topology, ports), 0, algorithm)
