"""Reduction to one root: a broadcast run backwards, in which every processor combines its messages.

Consider a processor first reached in step t of a broadcast of T steps. In step T + 1 - t of the
reduction the processor sends its combined value back over the same link. By then its children in
the broadcast have sent their values. A broadcast on a separate machine, whose steps do not count,
determines the step and the link of every processor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine, PortModel
from mpinet.machine.state import Fields, Numbered, State
from mpinet.machine.step import gather_claims
from mpinet.networks.topology import Topology
from mpinet.programs import broadcast as forwards
from mpinet.programs.bounds import Bound
from mpinet.programs.collective import CollectiveOutcome, items
from mpinet.programs.holdings import OPERATORS, ChunksCame, ChunkSends, SingleNumbers
from mpinet.programs.playing import StepProgram, play
from mpinet.programs.preparation import Preparation

NEUTRAL = {"min": 2**63 - 1, "max": -(2**63), "sum": 0}
"""Initial value of a switch, which has no item of its own."""

CHUNK = 2**16
"""Number of items computed at a time in the serial check."""


def reduce(
    machine: Machine,
    root: int,
    operator: str = "min",
    algorithm: str | None = None,
    seed: int = 0,
    values: Callable[[Ints], Ints] | None = None,
) -> CollectiveOutcome:
    """Combine the items of all processors at the root (collective).

    On links a reduction takes as many steps as the reversed broadcast. On a bus, the members
    reached by one transmission reply one after the other, in member order. Switches on the way
    combine messages, just as they copy the message of a broadcast.

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    root : int
        Processor that receives the result.
    operator : str
        ``"min"``, ``"max"`` or ``"sum"``.
    algorithm : str, optional
        Broadcast to reverse; default: as in `broadcast.broadcast`.
    seed : int
        Seed of the items, 62 random bits each. Ignored if `values` is given.
    values : callable, optional
        ``values(nodes)`` returns the items of processors `nodes` as 64-bit integers; nodes has
        shape (k,). The function must return the same values on all ranks.

    Returns
    -------
    CollectiveOutcome
        `correct` is True if the root holds the result of the serial computation.

    Raises
    ------
    NodeError, UsageError
        The root is not a processor, or the operator or the broadcast does not exist.
    ModelViolation
        The broadcast exceeds the machine's port model.

    Examples
    --------
    >>> cube = Machine("hypercube:4", "one")
    >>> found = reduce(cube, root=0, operator="sum", values=lambda nodes: nodes)
    >>> found.value, found.steps, found.messages
    (120, 4, 15)
    """
    require_operator(operator)
    beside = Machine(
        machine.topology, turned_round(machine.model), machine.transport, machine.mapping
    )
    reached = _Reached(beside, root)
    inputs = values or (lambda nodes: items(seed, nodes, nodes))
    items_of = np.full(len(machine.nodes), NEUTRAL[operator])
    hosts = np.flatnonzero(machine.nodes < machine.topology.hosts)
    items_of[hosts] = inputs(machine.nodes[hosts])
    held = SingleNumbers(machine, items_of, OPERATORS[operator])
    with State(beside, "reduce", reached) as reducing:
        name, bound, shown_by, steps, messages = reducing.once(
            "broadcast", lambda: _broadcast(beside, root, algorithm, reached)
        )
        spent = play(machine, _back(machine, reached, held), held)
    at_root = held.values[machine.nodes == root].tolist()
    wrong = sum(value != _serially(machine, operator, inputs) for value in at_root)
    wrong, value = machine.sum(wrong, sum(at_root))
    preparation = Preparation(steps, messages)
    return CollectiveOutcome.of(
        name, spent, Bound(bound, shown_by), wrong == 0, preparation, value=value
    )


def _broadcast(
    machine: Machine, root: int, algorithm: str | None, reached: _Reached
) -> tuple[str, int, str, int, int]:
    """Run the broadcast to reverse; return name, bound, reason of the bound, steps, messages."""
    found = forwards.broadcast(machine, root, algorithm, reached)
    require_all_reached(machine.topology, found)
    preparation = found.preparation + Preparation.on(machine)
    bound = found.lower_bound
    return found.algorithm, bound, bound.by, preparation.steps, preparation.messages


def _back(machine: Machine, reached: _Reached, held: SingleNumbers) -> StepProgram:
    """Yield the sends of the broadcast from the last step to the first."""
    with State(machine, "back", held, left=reached.latest) as state:
        # In reverse: a node combines the values of its children before its own send.
        while state.left:
            slots = np.flatnonzero(reached.since == state.left)
            # A bus carries one message per step, while a broadcast reaches all members at once.
            for senders in _turns(machine, slots, reached.ports[slots]):
                yield ChunkSends(senders, reached.ports[senders])
            state.left -= 1
            state.boundary()


def require_operator(operator: str) -> None:
    """Raise `UsageError` unless the operator exists."""
    if operator not in OPERATORS:
        raise UsageError(f"There is no reduction {operator!r}: give one of {', '.join(OPERATORS)}.")


def turned_round(model: PortModel) -> PortModel:
    """Return the port model of the broadcast, with send and receive limits swapped."""
    return PortModel(model.receive, model.send, model.half_duplex)


def require_all_reached(topology: Topology, found: CollectiveOutcome) -> None:
    """Raise `UsageError` if a broadcast did not reach all processors."""
    if found.informed < topology.hosts:
        raise UsageError(
            f"The broadcast {found.algorithm} of {topology.name} reaches {found.informed} of "
            f"{topology.hosts} processors: reversed, it would leave items out."
        )


class _Reached(SingleNumbers):
    """Holdings of a broadcast that record step and port of each processor's first message."""

    def __init__(self, machine: Machine, root: int):
        held = forwards.message_of(machine, root)
        super().__init__(machine, held.values)
        self._root = root
        self.since: Ints = np.zeros(len(machine.nodes), np.int64)
        """Step in which each processor is first reached; 0 at the root and at processors not yet
        reached. Shape (hosted,).
        """
        self.ports: Ints = np.full(len(machine.nodes), -1)
        """Port of each processor's first message; -1 at the root and at processors not yet reached.
        Shape (hosted,).
        """

    def state(self) -> Fields:
        """Return the fields for a checkpoint."""
        nodes = self._machine.nodes
        # Other names than the attributes: a schedule's part of the same frame has a field `since`.
        noted = {"reached_in": Numbered(self.since, nodes), "by_port": Numbered(self.ports, nodes)}
        return {**super().state(), **noted}

    def restore(self, found: Mapping[str, Any]) -> None:
        """Restore the fields saved by `state`, possibly on another number of ranks."""
        super().restore(found)
        self.since, self.ports = found["reached_in"], found["by_port"]

    @property
    def latest(self) -> int:
        """Return the step in which the last processor is reached (collective)."""
        return self._machine.max(int(self.since.max(initial=0)))[0]

    def take(self, came: ChunksCame, step: int) -> None:
        """Store received messages; the message at the lowest port of a processor counts."""
        super().take(came, step)
        fresh = (self.since[came.slots] == 0) & (came.nodes != self._root)
        # Messages are ordered by port, so the first message of a receiver has the lowest port.
        slots, first = np.unique(came.slots[fresh], return_index=True)
        self.since[slots], self.ports[slots] = step, came.ports[fresh][first]


def _turns(machine: Machine, slots: Ints, ports: Ints) -> list[Ints]:
    """Divide senders into turns (collective): one sender per bus and turn, in member order."""
    if machine.topology.links:
        return [slots]
    nodes = machine.nodes[slots]
    busses = machine.topology.channel(nodes, ports)
    seats = machine.topology.seats_of(nodes, busses)
    claims = gather_claims(machine, np.stack([nodes, busses, seats], axis=1))
    order = np.lexsort((claims[:, 2], claims[:, 1]))
    claimed = claims[order, 1]
    turns = np.empty_like(order)
    turns[order] = np.arange(len(order)) - np.searchsorted(claimed, claimed)
    turns = turns[: len(slots)]
    last = machine.max(int(turns.max(initial=0)))[0]
    return [slots[turns == turn] for turn in range(last + 1)]


def _serially(machine: Machine, operator: str, inputs: Callable[[Ints], Ints]) -> int:
    """Return the reduction of all processors' items, computed serially by NumPy."""
    combine, hosts = OPERATORS[operator], machine.topology.hosts
    numbers = (np.arange(at, min(at + CHUNK, hosts)) for at in range(0, hosts, CHUNK))
    parts = [combine.reduce(np.asarray(inputs(index), np.int64)) for index in numbers]
    return int(combine.reduce(parts))
