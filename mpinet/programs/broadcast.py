"""Broadcast: by a family's own schedule, by passes, along a tree, or by flooding on busses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arguments import ScheduleRule
from mpinet.base.arrays import Ints, Shorts
from mpinet.compiled import Rule, kernel
from mpinet.errors import UsageError
from mpinet.machine import Machine, PortModel, Spent
from mpinet.machine.state import Fields, Located, Numbered, State
from mpinet.networks.schedule import SPAN, SPAN_BITS, Schedule
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import broadcast_bound
from mpinet.programs.collective import CollectiveOutcome, require_processor
from mpinet.programs.holdings import NOTHING, ChunkSends, SingleNumbers
from mpinet.programs.offers import Offers
from mpinet.programs.passes import broadcast_timetable, sees_whole
from mpinet.programs.playing import StepProgram, play, rows_of
from mpinet.programs.preparation import NONE, Preparation
from mpinet.programs.tree import FloodTree, RoutingTree

Times = NDArray[np.int32]
"""Steps in which processors were informed, or `UNINFORMED`."""

TREE = "tree"
"""Name of the broadcast for networks of links of any size."""

FLOOD_TREE = "floodtree"
"""Name of the broadcast along a tree of shortest paths, ordered by the subtrees' steps."""

PASSES = "passes"
"""Name of the broadcast found by a search, for any network small enough for a rank to examine."""

BEST = "best"
"""Name for the shortest of a network's broadcasts."""

FLOODING = "flooding"
"""Name of the broadcast for all networks of busses."""


def broadcast(
    machine: Machine,
    root: int,
    algorithm: str | None = None,
    message: SingleNumbers | None = None,
) -> CollectiveOutcome:
    """Bring the root's message to all processors (collective).

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    root : int
        Processor that holds the message.
    algorithm : str, optional
        A schedule of the family, ``"passes"``, ``"tree"`` and ``"floodtree"`` (links),
        ``"flooding"`` (busses), or ``"best"``: all broadcasts that fit the port model are tried and
        the shortest is used. Default: the family's first schedule that fits, or its default with
        one port, otherwise passes. On networks too large for passes the default is the tree, or
        flooding if all ports of busses may be used.
    message : SingleNumbers, optional
        Holds the message. Default: a new one.

    Raises
    ------
    UsageError
        The network has no such algorithm, or none for the port model, or the root is a switch.
    ModelViolation
        The algorithm exceeds the machine's port model.

    Examples
    --------
    >>> found = broadcast(Machine("hypercube:4", "one"), root=0)
    >>> found.algorithm, found.steps, found.messages, found.lower_bound
    ('binomial', 4, 15, 4)
    """
    name, schedule = require_algorithm(machine.topology, root, algorithm, machine.model)
    skipped: tuple[str, ...] = ()
    if name == BEST:
        name, schedule = shortest(machine, root)
        skipped = () if sees_whole(machine.topology) else (PASSES,)

    def inform() -> tuple[int, int, int, int, int]:
        held = message or message_of(machine, root)
        spent, preparation = inform_all(machine, root, name, schedule, held)
        steps, informed = held.last_step(spent.begun) - spent.begun, held.count(CONTENT + root)
        return steps, spent.messages, informed, preparation.steps, preparation.messages

    with State(machine, "broadcast") as state:
        steps, messages, informed, *before = state.once("informed", inform)
        whole = informed == machine.topology.hosts
        bound = broadcast_bound(machine, root, steps if whole else None)
    phases = _begun(schedule.phases if schedule is not None else (), steps) or ((name, steps),)
    preparation = Preparation(*before)
    return CollectiveOutcome(
        name, steps, messages, phases, bound, whole, preparation, skipped, informed
    )


def _begun(phases: tuple[tuple[str, int], ...], steps: int) -> tuple[tuple[str, int], ...]:
    """Return the phases cut after `steps` steps: the last is shortened, later ones dropped."""
    begun, left = [], steps
    for name, length in phases:
        if length > 0 and left == 0:
            break
        begun.append((name, min(length, left)))
        left -= begun[-1][1]
    return tuple(begun)


CONTENT = 0x6D70696E
"""Content of processor 0's message; the content of root r is larger by r."""


def message_of(machine: Machine, root: int) -> SingleNumbers:
    """Return the broadcast's message as a number held only by the root."""
    return SingleNumbers(machine, np.where(machine.nodes == root, CONTENT + root, NOTHING))


def inform_all(
    machine: Machine,
    root: int,
    name: str,
    schedule: Schedule | None,
    message: SingleNumbers | None = None,
) -> tuple[Spent, Preparation]:
    """Run the steps of a broadcast without computing its bounds or result (collective).

    Parameters
    ----------
    machine, root
        As in `broadcast`.
    name, schedule
        Result of `require_algorithm`.
    message : SingleNumbers, optional
        Holds the message. Default: a new one.
    """
    message, preparation = message or message_of(machine, root), NONE
    if schedule is not None:
        program = _by_schedule(machine, schedule, message)
    elif name == FLOODING:
        program = _by_flooding(machine, root, message)
    elif name == PASSES:
        table = broadcast_timetable(machine.topology, root, machine.model)
        program = rows_of(machine, table, message)
    else:
        tree = (FloodTree if name == FLOOD_TREE else RoutingTree)(machine, root)
        preparation = Preparation.on(tree.survey)
        program = _along_tree(machine, tree, root, message)
    return play(machine, program, message), preparation


def require_algorithm(
    topology: Topology, root: int, algorithm: str | None, model: PortModel
) -> tuple[str, Schedule | None]:
    """Return name and schedule of the algorithm; the tree and flooding have no schedule.

    Raises
    ------
    NodeError, UsageError
        The root is not a processor, the network has no such algorithm, or no algorithm fits the
        port model.
    """
    require_processor(topology, root)
    own = topology.schedules(root)
    if not topology.links and algorithm in (TREE, FLOOD_TREE):
        raise UsageError(
            f"{topology.name} has busses, on which a tree's branches would collide; available "
            f"broadcasts: {', '.join([*own, *_general(topology)])}."
        )
    if algorithm is None:
        made = {name: make() for name, make in own.items()}
        name = next(iter([*_fitting(made, model), _default(topology, model)]))
        return name, made.get(name)
    if algorithm in own:
        return algorithm, own[algorithm]()
    if algorithm not in (*_general(topology), BEST):
        raise UsageError(
            f"{topology.name} has no broadcast {algorithm!r}; it has: "
            f"{', '.join([*own, *_general(topology)])}."
        )
    return algorithm, None


def _general(topology: Topology) -> tuple[str, ...]:
    """Return the names of the broadcasts available on all networks of links, or of busses."""
    return (PASSES, TREE, FLOOD_TREE) if topology.links else (PASSES, FLOODING)


def _default(topology: Topology, model: PortModel) -> str:
    """Return the name of the default broadcast for a port model, without family schedules."""
    if topology.one_port_broadcast is not None and model.send == 1:
        return topology.one_port_broadcast
    if sees_whole(topology):
        return PASSES
    if topology.links:
        return TREE
    return FLOODING if model.send is None and model.receive is None else PASSES


def _fitting(own: dict[str, Schedule], model: PortModel) -> list[str]:
    """Return the schedules that fit the port model, first those that use all allowed sends."""
    fitting = [
        name
        for name, schedule in own.items()
        if _allows(model.send, schedule.send) and _allows(model.receive, schedule.receive)
    ]
    return sorted(fitting, key=lambda name: own[name].send != model.send)


def shortest(machine: Machine, root: int) -> tuple[str, Schedule | None]:
    """Return the shortest broadcast for the port model, by trial runs (collective).

    The trials run on separate machines.

    Returns
    -------
    name, schedule
        Broadcast with the fewest steps; on a tie the first by the order of defaults.
    """
    topology, model = machine.topology, machine.model
    own = {name: make() for name, make in topology.schedules(root).items()}
    taken = []
    names = [*_fitting(own, model), _default(topology, model)]
    names += [PASSES] if sees_whole(topology) else []
    if topology.links:
        names.append(TREE)
    elif model.send is None and model.receive is None:
        names.append(FLOODING)
    for name in dict.fromkeys(names):
        beside = Machine(topology, model, machine.transport, machine.mapping)
        message = message_of(beside, root)
        inform_all(beside, root, name, own.get(name), message)
        if message.count(CONTENT + root) == topology.hosts:
            taken.append((message.last_step(0), name))
    name = min(taken, key=lambda each: each[0])[1]
    return name, own.get(name)


def _allows(limit: int | None, needed: int | None) -> bool:
    """Return whether a limit of a port model satisfies the need of a schedule."""
    return limit is None or (needed is not None and needed <= limit)


def _by_schedule(machine: Machine, schedule: Schedule, message: SingleNumbers) -> StepProgram:
    """Yield the sends of all informed processors by the schedule's rules."""
    informed = Informed(machine, schedule.root)
    sends = ScheduledPorts(machine, schedule.rule)
    listening = None if schedule.listen is None else ScheduledPorts(machine, schedule.listen)
    with State(machine, "schedule", message, informed, step=0) as state:
        while not schedule.phases or state.step < schedule.steps:
            state.step += 1
            slots, ports = sends.ports(schedule, informed, state.step, 0)
            # A schedule of unknown length ends with the first step in which no processor sends.
            if not schedule.phases and machine.sum(len(slots))[0] == 0:
                return
            listen = None
            if listening is not None:
                listeners, accepting = listening.ports(schedule, informed, state.step, UNINFORMED)
                listen = machine.nodes[listeners], accepting
            came = yield ChunkSends(slots, ports, listen=listen)
            informed.note(came.slots, state.step)
            state.boundary()


UNINFORMED = -1

RUN = 64
"""Number of processors per run; a run without informed processors is skipped as a whole."""


class Informed:
    """Steps in which this rank's processors were informed.

    Parameters
    ----------
    machine : Machine
        Machine with the processors.
    root : int
        Processor informed before the first step.
    """

    since: Times
    """Step in which each processor was informed, or `UNINFORMED`. Shape (hosted,)."""
    latest: Times
    """Largest step of each run of `RUN` processors."""

    def __init__(self, machine: Machine, root: int):
        self._nodes = machine.nodes
        since = np.full(len(self._nodes), UNINFORMED, np.int32)
        since[self._nodes == root] = 0
        self._set(since)

    def _set(self, since: Times) -> None:
        self.since = since
        begins = np.arange(0, len(since), RUN)
        self.latest = np.maximum.reduceat(since, begins) if len(since) else since.copy()

    def note(self, slots: Ints, step: int) -> None:
        """Record the step of processors that received the message; earlier steps are kept."""
        note_informed(slots, step, self.since, self.latest)

    def state(self) -> Fields:
        """Return the fields for a checkpoint."""
        return {"since": Numbered(self.since, self._nodes)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the fields saved by `state`, possibly on another number of ranks."""
        self._set(found["since"])


@kernel
def note_informed(slots: Ints, step: int, since: Shorts, latest: Shorts) -> None:
    """Write the step of processors that were not informed before."""
    for i in range(slots.size):
        slot = slots[i]
        if since[slot] == UNINFORMED:
            since[slot] = latest[slot // RUN] = np.int32(step)


class ScheduledPorts:
    """Ports given by a schedule's rule for the processors of this rank.

    Parameters
    ----------
    machine : Machine
        Machine with the processors.
    rule : Rule
        The schedule's rule for sending, or for listening.
    """

    def __init__(self, machine: Machine, rule: Rule):
        self._nodes = machine.nodes
        self._rule = rule
        self._resize(len(self._nodes))

    def ports(
        self, schedule: Schedule, informed: Informed, step: int, asked: int
    ) -> tuple[Ints, Ints]:
        """Return slots and ports, in order, for the processors informed in step `asked` or later.

        The arrays are valid until the next call.
        """
        count = self._ask(schedule, informed, step, asked)
        if count > len(self._slots):
            self._resize(count)
            self._ask(schedule, informed, step, asked)
        return self._slots[:count], self._ports[:count]

    def _resize(self, room: int) -> None:
        self._slots, self._ports = np.empty(room, np.int64), np.empty(room, np.int64)

    def _ask(self, schedule: Schedule, informed: Informed, step: int, asked: int) -> int:
        return int(
            ask_schedule(
                self._rule.native,
                self._nodes,
                informed.since,
                informed.latest,
                asked,
                schedule.root,
                step,
                schedule.params,
                self._slots,
                self._ports,
            )
        )


@kernel
def ask_schedule(
    schedule_rule: ScheduleRule,
    nodes: Ints,
    since: Shorts,
    latest: Shorts,
    asked: int,
    root: int,
    step: int,
    params: Ints,
    slots: Ints,
    ports: Ints,
) -> int:
    """Write the rule's ports for processors informed in step `asked` or later; return their number.

    Ports beyond the size of the arrays are counted, but not written.
    """
    call, count = schedule_rule.call, 0
    for run in range(latest.size):
        if latest[run] < asked:
            continue
        for slot in range(run * RUN, min((run + 1) * RUN, nodes.size)):
            if since[slot] < asked:
                continue
            answer = call(nodes[slot], root, np.int64(since[slot]), step, params)
            if answer < 0:
                continue
            first, last = answer & (SPAN - 1), (answer & (SPAN - 1)) + (answer >> SPAN_BITS)
            for port in range(first, last + 1):
                if count < slots.size:
                    slots[count], ports[count] = slot, port
                count += 1
    return count


def _along_tree(
    machine: Machine, tree: RoutingTree, root: int, message: SingleNumbers
) -> StepProgram:
    """Yield the sends of a broadcast along a tree.

    Every informed node serves one child per step, the deepest subtree first.
    """
    served = Numbered(np.zeros(machine.placement.count, np.int64), machine.nodes)
    first = Located(machine.nodes[machine.nodes == root])
    with State(machine, "tree", message, served=served, informed=first) as state:
        while True:
            active = machine.slots(state.informed)
            active = active[state.served[active] < tree.children[active]]
            ports = tree.child_port(active, state.served[active])
            state.served[active] += 1
            # The ranks must end together, and only all of them know that no node has children left.
            if machine.sum(len(active))[0] == 0:
                return
            came = yield ChunkSends(active, ports)
            state.informed = np.concatenate([machine.nodes[active], came.nodes])
            state.boundary()


def _by_flooding(machine: Machine, root: int, message: SingleNumbers) -> StepProgram:
    """Yield the sends of a flood over busses.

    Every informed processor offers the first bus that has not carried the message (ALL).
    """
    informed = Numbered(machine.nodes == root, machine.nodes)
    offers = Offers(machine)
    missing = machine.topology.hosts - 1
    state = State(machine, "flooding", message, offers, informed=informed, missing=missing)
    with state:
        while state.missing:
            slots, ports = offers.sends(np.flatnonzero(state.informed))
            came = yield ChunkSends(slots, ports)
            offers.mark_used(slots, ports)
            offers.mark_used(came.slots, came.ports)
            fresh = np.unique(came.slots[~state.informed[came.slots]])
            state.informed[fresh] = True
            active, new = machine.sum(len(slots), len(fresh))
            if active == 0:
                return
            state.missing -= new
            state.boundary()
