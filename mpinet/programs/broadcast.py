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
from mpinet.programs.tree import RoutingTree

Times = NDArray[np.int32]
"""Steps in which processors were informed, or `UNINFORMED`."""

TREE = "tree"
"""Name of the broadcast that every network of links has, however large it is."""

PASSES = "passes"
"""Name of the broadcast that a search finds on any network that a rank can look at as a whole."""

BEST = "best"
"""Stands for the shortest of a network's broadcasts."""

FLOODING = "flooding"
"""Name of the broadcast that every network of busses has."""


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
        Moves, polices and counts.
    root : int
        The processor that has the message.
    algorithm : str, optional
        A schedule of the family, ``"passes"``, ``"tree"`` (links) or ``"flooding"`` (busses), or
        ``"best"``, the shortest of all that fit the machine's port model, on trial. Default: the
        family's first that fits, else passes; on a network too large for these the tree, or
        flooding where all ports of busses may be used.
    message : SingleNumbers, optional
        Keeps the message. Default: a new one.

    Raises
    ------
    UsageError
        The network has no such algorithm, or none for the port model, or the root is a switch.
    ModelViolation
        The algorithm asks more of processors than the machine's port model allows.

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
    """The phases of so many steps: the last one ends with them, later ones have not begun."""
    begun, left = [], steps
    for name, length in phases:
        if length > 0 and left == 0:
            break
        begun.append((name, min(length, left)))
        left -= begun[-1][1]
    return tuple(begun)


CONTENT = 0x6D70696E
"""Content of processor 0's message; those of other roots follow it."""


def message_of(machine: Machine, root: int) -> SingleNumbers:
    """Return the broadcast's message as a number that only the root knows."""
    return SingleNumbers(machine, np.where(machine.nodes == root, CONTENT + root, NOTHING))


def inform_all(
    machine: Machine,
    root: int,
    name: str,
    schedule: Schedule | None,
    message: SingleNumbers | None = None,
) -> tuple[Spent, Preparation]:
    """Make the steps of a broadcast, and nothing else (collective).

    Parameters
    ----------
    machine, root
        As for `broadcast`.
    name, schedule
        As of `require_algorithm`.
    message : SingleNumbers, optional
        Keeps the message. Default: a new one.
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
        tree = RoutingTree(machine, root)
        preparation = Preparation.on(tree.survey)
        program = _along_tree(machine, tree, root, message)
    return play(machine, program, message), preparation


def require_algorithm(
    topology: Topology, root: int, algorithm: str | None, model: PortModel
) -> tuple[str, Schedule | None]:
    """Name and schedule of the algorithm; no schedule for the tree and for flooding.

    Raises
    ------
    NodeError, UsageError
        The root is no processor, or the network has no such algorithm, or none of its algorithms
        fits the port model.
    """
    require_processor(topology, root)
    own = topology.schedules(root)
    if not topology.links and algorithm == TREE:
        raise UsageError(
            f"{topology.name} has busses, and a tree's branches would meet on them; its own "
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


def _general(topology: Topology) -> tuple[str, str]:
    """The broadcasts that networks have without any of their own."""
    return (PASSES, TREE) if topology.links else (PASSES, FLOODING)


def _default(topology: Topology, model: PortModel) -> str:
    """The general broadcast for a port model."""
    if sees_whole(topology):
        return PASSES
    if topology.links:
        return TREE
    return FLOODING if model.send is None and model.receive is None else PASSES


def _fitting(own: dict[str, Schedule], model: PortModel) -> list[str]:
    """The schedules that fit the port model, before all one that sends as much as it may."""
    fitting = [
        name
        for name, schedule in own.items()
        if _allows(model.send, schedule.send) and _allows(model.receive, schedule.receive)
    ]
    return sorted(fitting, key=lambda name: own[name].send != model.send)


def shortest(machine: Machine, root: int) -> tuple[str, Schedule | None]:
    """Try all broadcasts that fit the port model on machines beside (collective).

    Returns
    -------
    name, schedule
        Of the one with the fewest steps, of several the one that is the default before others.
    """
    topology, model = machine.topology, machine.model
    own = {name: make() for name, make in topology.schedules(root).items()}
    taken = []
    names = [*_fitting(own, model), _default(topology, model)]
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
    """Tell if a limit of a port model leaves a schedule what it needs."""
    return limit is None or (needed is not None and needed <= limit)


def _by_schedule(machine: Machine, schedule: Schedule, message: SingleNumbers) -> StepProgram:
    """Every informed processor asks the schedule's rules."""
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
"""Processors that are passed over together where none of them is asked."""


class Informed:
    """The steps in which this rank's processors were informed.

    Parameters
    ----------
    machine : Machine
        Has the processors.
    root : int
        The one that is informed before the first step.
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
        """Note who received the message in this step; those that had it stay as they are."""
        note_informed(slots, step, self.since, self.latest)

    def state(self) -> Fields:
        """Return what a checkpoint holds of it."""
        return {"since": Numbered(self.since, self._nodes)}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Go on from what `state` gave on any ranks."""
        self._set(found["since"])


@kernel
def note_informed(slots: Ints, step: int, since: Shorts, latest: Shorts) -> None:
    """Write the step of those of these processors that were not informed before."""
    for i in range(slots.size):
        slot = slots[i]
        if since[slot] == UNINFORMED:
            since[slot] = latest[slot // RUN] = np.int32(step)


class ScheduledPorts:
    """The ports that a schedule's rule gives for the processors of this rank.

    Parameters
    ----------
    machine : Machine
        Has the processors.
    rule : Rule
        The schedule's rule, or that for listening.
    """

    def __init__(self, machine: Machine, rule: Rule):
        self._nodes = machine.nodes
        self._rule = rule
        self._resize(len(self._nodes))

    def ports(
        self, schedule: Schedule, informed: Informed, step: int, asked: int
    ) -> tuple[Ints, Ints]:
        """Slots and ports, in order, of the processors informed in step `asked` or later.

        They are valid until the next call.
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
    """Write what those answer that were informed in step `asked` or later; how many ports.

    Only as many are written as there is room for.
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
    """Every informed node serves its children, one a step, the deepest subtree first."""
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
    """Every informed processor offers the first bus that has not carried the message (ALL)."""
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
