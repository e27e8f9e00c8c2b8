"""Rehearsal of a broadcast: a walk of the schedule's tree gives all arrivals at a rank."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arguments import PortRule, ScheduleRule
from mpinet.base.arrays import Array, Ints, Shorts
from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.dry import Dry
from mpinet.machine.placement import owner_of
from mpinet.machine.step import record_type
from mpinet.networks.schedule import SPAN, SPAN_BITS, Schedule
from mpinet.programs.broadcast import inform_all, require_algorithm
from mpinet.programs.rehearsal.rehearsal import Rehearsal, require_rehearsable

MOST = 2**30
"""Maximum number of processors of a machine whose tree is walked."""

MESSAGE_BYTES = record_type(np.dtype(np.int64), ()).itemsize
"""Bytes of a message: receiver, port, and the broadcast's content."""


def rehearse_broadcast(
    machine: Machine, dry: Dry, root: int, algorithm: str | None = None
) -> Rehearsal:
    """Run one rank's part of a broadcast by a family's schedule; every number is exact.

    Parameters
    ----------
    machine : Machine
        Machine on `dry`.
    root, algorithm
        As in `mpinet.programs.broadcast.broadcast`.

    Raises
    ------
    UsageError
        The broadcast has no schedule of known length in which every processor receives once, or the
        machine is too large to walk.
    """
    require_rehearsable(machine, "broadcast")
    topology = machine.topology
    name, schedule = require_algorithm(topology, root, algorithm, machine.model)
    if schedule is None or not schedule.phases or schedule.listen is not None:
        raise UsageError(
            f"predict supports broadcasts by a family's schedule of phases, but not {name} on "
            f"{topology.name}."
        )
    if topology.size > MOST:
        raise UsageError(
            f"predict walks all of a broadcast's tree: at most {MOST} processors, not "
            f"{topology.size}."
        )
    sent, arrivals, last = walk_schedule(machine, schedule)
    dry.arrivals = Told(arrivals)
    del arrivals
    began = time.process_time()
    inform_all(machine, root, name, schedule)
    every = {"all_messages": int(sent.sum()), "all_bytes": int(sent.sum()) * MESSAGE_BYTES}
    return Rehearsal.played(machine, dry, began, steps=last, **every)


def walk_schedule(
    machine: Machine, schedule: Schedule
) -> tuple[Ints, dict[int, tuple[Ints, NDArray[np.int32]]], int]:
    """Walk a schedule's tree from its root.

    Returns
    -------
    sent : ndarray of int64, shape (ranks,)
        Number of messages from each rank to other ranks.
    arrivals : dict
        Arrivals at this rank from other ranks: for each step, receivers and ports in the senders'
        order.
    last : int
        Step in which the last processor is informed.

    Raises
    ------
    UsageError
        A processor is informed twice.
    """
    placement, topology = machine.placement, machine.topology
    sent, last = np.zeros(placement.ranks, np.int64), np.zeros(1, np.int64)
    steps, ports = np.empty((2, placement.count), np.int32)
    senders, nodes = np.empty((2, placement.count), np.int64)
    found = walk_tree(
        schedule.rule.native,
        topology.neighbor.native,
        topology.reverse_port.native,
        schedule.params,
        topology.params,
        placement.split,
        placement.rank,
        schedule.root,
        schedule.steps,
        last,
        sent,
        steps,
        ports,
        senders,
        nodes,
    )
    if found < 0:
        raise UsageError(
            f"predict supports broadcasts in which each processor receives once; in "
            f"{schedule.name} on {topology.name} a processor receives twice."
        )
    order = np.lexsort((senders[:found], steps[:found]))
    ends = np.searchsorted(steps[order], np.arange(schedule.steps + 1), side="right")
    parts = {step: order[ends[step - 1] : ends[step]] for step in range(1, schedule.steps + 1)}
    return sent, {step: (nodes[at], ports[at]) for step, at in parts.items()}, int(last[0])


class Told:
    """Arrivals of a broadcast for each step, as records of messages.

    Parameters
    ----------
    arrivals : dict
        Result of `walk_schedule`; entries are removed during use.
    """

    def __init__(self, arrivals: dict[int, tuple[Ints, NDArray[np.int32]]]):
        self._arrivals = arrivals
        self._step = 0

    def __call__(self, records: Array) -> Array:
        """Return the records of the next step."""
        self._step += 1
        nodes, ports = self._arrivals.pop(self._step)
        received = np.zeros(len(nodes), records.dtype)
        received["node"], received["port"] = nodes, ports
        return received


@kernel
def walk_tree(
    schedule_rule: ScheduleRule,
    neighbor_rule: PortRule,
    back_rule: PortRule,
    params: Ints,
    wiring: Ints,
    split: Ints,
    rank: int,
    root: int,
    steps: int,
    latest: Ints,
    sent: Ints,
    told_steps: Shorts,
    told_ports: Shorts,
    told_senders: Ints,
    told_nodes: Ints,
) -> int:
    """Walk a broadcast's tree depth first; write the arrivals at one rank.

    The stack has one frame per node between the root and the current node.

    A node's children are informed later than the node, so frames never outnumber steps. Return the
    number of arrivals, or -1 if visits outnumber nodes.
    """
    ask, neighbor, back = schedule_rule.call, neighbor_rule.call, back_rule.call
    node, since = np.empty(steps + 1, np.int64), np.empty(steps + 1, np.int64)
    step, port = np.empty(steps + 1, np.int64), np.empty(steps + 1, np.int64)
    last = np.empty(steps + 1, np.int64)
    latest[0] = 0
    node[0], since[0], step[0], port[0], last[0] = root, 0, 0, 0, -1
    # A stack with one frame per step replaces recursion. Memory then grows with the number of
    # steps, not of processors.
    depth, visits, found = 0, 1, 0
    while depth >= 0:
        u = node[depth]
        if port[depth] > last[depth]:
            step[depth] += 1
            if step[depth] > steps:
                depth -= 1
                continue
            answer = ask(u, root, since[depth], step[depth], params)
            port[depth], last[depth] = 0, -1
            if answer >= 0:
                port[depth] = answer & (SPAN - 1)
                last[depth] = port[depth] + (answer >> SPAN_BITS)
            continue
        p, t = port[depth], step[depth]
        port[depth] += 1
        v = neighbor(u, p, wiring)
        visits += 1
        # More visits than nodes mean that some node receives twice. Without this test the walk of
        # such a schedule would take exponential time.
        if v < 0 or visits > wiring[0]:
            return -1
        latest[0] = max(latest[0], t)
        sender, receiver = owner_of(u, split), owner_of(v, split)
        if sender != receiver:
            sent[sender] += 1
            if receiver == rank:
                if found >= told_nodes.size:
                    return -1
                told_steps[found], told_ports[found] = t, back(u, p, wiring)
                told_senders[found], told_nodes[found] = u, v
                found += 1
        if t < steps:
            depth += 1
            node[depth], since[depth], step[depth] = v, t, t
            port[depth], last[depth] = 0, -1
    return found
