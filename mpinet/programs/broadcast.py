"""One-port broadcast: by a family's own schedule, or along a tree of the routing on any network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import broadcast_bound
from mpinet.programs.tree import Tree

Numbers = NDArray[np.int64]

TREE = "tree"
"""Name of the broadcast that every network has."""


@dataclass(frozen=True)
class BroadcastResult:
    """What a broadcast took.

    Attributes
    ----------
    algorithm : str
        Its name.
    steps, messages : int
        Steps until the last processor is informed, and messages sent.
    informed : int
        Processors that have the root's message, the root included.
    phases : tuple of (str, int)
        Names and lengths, in steps, of its phases.
    lower_bound : int
        Steps that no broadcast from this root can beat under the machine's port model.
    """

    algorithm: str
    steps: int
    messages: int
    informed: int
    phases: tuple[tuple[str, int], ...]
    lower_bound: int


def broadcast(
    machine: Machine,
    root: int,
    algorithm: str | None = None,
    watch: Callable[[int], None] | None = None,
) -> BroadcastResult:
    """Bring the root's message to all processors (collective).

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts. The schedules are one-port ones and legal on any machine.
    root : int
        The processor that has the message.
    algorithm : str, optional
        A schedule of the family, or ``"tree"``. Default: the family's first, else the tree.
    watch : callable, optional
        Called with the number of steps after every step.

    Raises
    ------
    UsageError
        The network has no such algorithm, or the root is a switch.
    """
    schedule = require_algorithm(machine.topology, root, algorithm)
    bound = broadcast_bound(machine, root)
    before, sent = machine.steps, machine.meters.messages
    if schedule is None:
        informed = _along_tree(machine, root, watch)
    else:
        informed = _by_schedule(machine, schedule, watch)
    steps = machine.steps - before
    messages = machine.sum(machine.meters.messages - sent)[0]
    if schedule is None:
        return BroadcastResult(TREE, steps, messages, informed, ((TREE, steps),), bound)
    return BroadcastResult(schedule.name, steps, messages, informed, schedule.phases, bound)


def require_algorithm(topology: Topology, root: int, algorithm: str | None) -> Schedule | None:
    """The schedule of that name, None for the tree.

    Raises
    ------
    NodeError, UsageError
        The root is no processor, or the network has no such algorithm.
    """
    topology.require_node(root)
    if root >= topology.hosts:
        raise UsageError(
            f"Node {root} of {topology.name} is a switch; processors are 0..{topology.hosts - 1}."
        )
    own = topology.schedules(root)
    if not topology.links and (algorithm == TREE or not own):
        raise UsageError(
            f"{topology.name} has busses, and a tree's branches would meet on them; its own "
            f"broadcasts: {', '.join(own) or 'none yet'}."
        )
    name = algorithm or next(iter(own), TREE)
    if name != TREE and name not in own:
        raise UsageError(
            f"{topology.name} has no broadcast {name!r}; it has: {', '.join([*own, TREE])}."
        )
    return own[name]() if name in own else None


def _by_schedule(machine: Machine, schedule: Schedule, watch: Callable[[int], None] | None) -> int:
    """Every informed processor asks the schedule's rule; how many are informed in the end."""
    since = np.full(machine.placement.count, UNINFORMED, np.int64)
    since[machine.nodes == schedule.root] = 0
    ports = np.empty(machine.placement.count, np.int64)
    message = _Message(machine, schedule.root)
    for step in range(1, schedule.steps + 1):
        asked = ask_schedule(
            schedule.rule.native, machine.nodes, since, schedule.root, step, schedule.params, ports
        )
        slots = np.flatnonzero(ports >= 0) if asked else np.empty(0, np.int64)
        inbox = machine.step(machine.nodes[slots], ports[slots], message.of(slots))
        receivers = machine.slots(inbox.nodes)
        since[receivers] = np.where(since[receivers] == UNINFORMED, step, since[receivers])
        message.store(receivers, inbox.payload)
        if watch is not None:
            watch(machine.steps)
    return message.informed()


UNINFORMED = -1


@kernel("int64(schedule_rule, int64[::1], int64[::1], int64, int64, int64[::1], int64[::1])")
def ask_schedule(schedule_rule, nodes, since, root, step, params, ports):
    """Write the port that every informed processor sends on in this step, or -1; how many send."""
    call, senders = schedule_rule.call, 0
    for i in range(nodes.size):
        ports[i] = -1
        if since[i] >= 0:
            ports[i] = call(nodes[i], root, since[i], step, params)
            senders += ports[i] >= 0
    return senders


def _along_tree(machine: Machine, root: int, watch: Callable[[int], None] | None) -> int:
    """Every informed node serves its children, one a step, the deepest subtree first."""
    tree = Tree(machine, root)
    message = _Message(machine, root)
    served = np.zeros(machine.placement.count, np.int64)
    active = np.flatnonzero(machine.nodes == root)
    while True:
        active = active[served[active] < tree.children[active]]
        ports = tree.child_port(active, served[active])
        served[active] += 1
        if machine.sum(len(active))[0] == 0:
            return message.informed()
        inbox = machine.step(machine.nodes[active], ports, message.of(active))
        receivers = machine.slots(inbox.nodes)
        message.store(receivers, inbox.payload)
        active = np.concatenate([active, receivers])
        if watch is not None:
            watch(machine.steps)


class _Message:
    """The broadcast's message on this rank's processors: a number that only the root knows."""

    def __init__(self, machine: Machine, root: int):
        self._machine = machine
        self._value = 0x6D70696E + root
        self._held = np.zeros(machine.placement.count, np.int64)
        self._held[machine.nodes == root] = self._value

    def of(self, slots: Numbers) -> Numbers:
        """What these processors send."""
        return self._held[slots]

    def store(self, slots: Numbers, payload: Numbers) -> None:
        """Keep what these processors received."""
        self._held[slots] = payload

    def informed(self) -> int:
        """How many processors hold the right message (collective)."""
        hosts = self._machine.nodes < self._machine.topology.hosts
        return self._machine.sum(int((self._held[hosts] == self._value).sum()))[0]
