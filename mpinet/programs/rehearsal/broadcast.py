"""Broadcast: the schedule's tree is walked from the root, so that a rank knows what comes when."""

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
"""Most processors of a machine whose tree is walked."""

MESSAGE_BYTES = record_type(np.dtype(np.int64), ()).itemsize
"""Receiver, port, and the broadcast's content."""


def rehearse_broadcast(
    machine: Machine, dry: Dry, root: int, algorithm: str | None = None
) -> Rehearsal:
    """Play a rank's part of a broadcast by a family's schedule; every number is exact.

    Parameters
    ----------
    machine : Machine
        On `dry`.
    root, algorithm
        As in `mpinet.programs.broadcast.broadcast`.

    Raises
    ------
    UsageError
        The broadcast has no schedule of known length in which everybody receives once, or the
        machine is too large to walk all of it.
    """
    require_rehearsable(machine, "broadcast")
    topology = machine.topology
    name, schedule = require_algorithm(topology, root, algorithm, machine.model)
    if schedule is None or not schedule.phases or schedule.listen is not None:
        raise UsageError(
            f"predict knows broadcasts by a family's schedule of phases; {name} on "
            f"{topology.name} is none."
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
        Messages that each rank sends to others.
    arrivals : dict
        What comes to this rank from others: by step, receivers and ports in the senders' order.
    last : int
        The step in which the last one is informed.

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
            f"predict knows broadcasts in which everybody receives once; in {schedule.name} on "
            f"{topology.name} somebody receives twice."
        )
    order = np.lexsort((senders[:found], steps[:found]))
    ends = np.searchsorted(steps[order], np.arange(schedule.steps + 1), side="right")
    parts = {step: order[ends[step - 1] : ends[step]] for step in range(1, schedule.steps + 1)}
    return sent, {step: (nodes[at], ports[at]) for step, at in parts.items()}, int(last[0])


class Told:
    """The arrivals of a broadcast, each step's once, in the form of the messages that leave.

    Parameters
    ----------
    arrivals : dict
        As of `walk_schedule`; used up.
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
    """Walk the tree depth first, a frame for every node between the root and this one.

    A node's children were informed later than itself, so that there are never more frames than
    steps. Returns the number of arrivals, or -1 if there are more visits than nodes.
    """
    ask, neighbor, back = schedule_rule.call, neighbor_rule.call, back_rule.call
    node, since = np.empty(steps + 1, np.int64), np.empty(steps + 1, np.int64)
    step, port = np.empty(steps + 1, np.int64), np.empty(steps + 1, np.int64)
    last = np.empty(steps + 1, np.int64)
    latest[0] = 0
    node[0], since[0], step[0], port[0], last[0] = root, 0, 0, 0, -1
    # A stack of one frame for each step replaces recursion. Memory then grows with the steps, not
    # with the processors of the machine.
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
        # More visits than nodes mean that some node receives twice. Without this test such a
        # schedule would be walked exponentially long.
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
