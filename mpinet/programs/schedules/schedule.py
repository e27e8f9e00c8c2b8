"""The face of every schedule of ASCEND and DESCEND: where elements are, and how pairs meet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.state import Fields, Frame, Numbered, State, Total
from mpinet.networks.topology import Topology
from mpinet.programs.operators.operator import Pass

Phase = tuple[str, int]


class PassSchedule(ABC):
    """Way in which a network carries out passes: which elements are where, and how pairs meet.

    Parameters
    ----------
    machine : Machine
        What it runs on.
    """

    name: ClassVar[str]
    """The name for ``--algorithm``."""
    dimensions: int
    """q: there are 2^q elements."""
    index: Ints
    """The elements at home on this rank: row k of a state array is element ``index[k]``. Between
    passes every element is at home. Shape (k,)."""
    instances: int = 1
    """Sets of 2^q elements that are under way at once; usually one."""
    instance: Ints | int = 0
    """The sets of the elements of `index`, from 0. Shape (k,), or int."""
    astray: int = 0
    """Number of wrong states among the witnessed ones on this rank (see `witness`). A wrong state
    differs from what its processor computes from its own and the received state."""

    def __init__(self, machine: Machine):
        self.machine = machine

    def require_no_switches(self) -> None:
        """Raise `UsageError` unless every node of the network is a processor."""
        topology = self.machine.topology
        if topology.hosts != topology.size:
            raise UsageError(
                f"The algorithm {self.name} needs a network without switches, unlike "
                f"{topology.name}; the algorithm routed goes with them."
            )

    def carry_out(self, program: Sequence[Pass], state: Array) -> list[list[Phase]]:
        """Carry out a program in place (collective).

        Parameters
        ----------
        program : sequence of Pass
            One pass after the other.
        state : ndarray, shape (k,)
            States of the elements at home here.

        Returns
        -------
        list of list of (str, int)
            For every pass the names and steps of its stages.
        """
        with Passes(self, state) as passes:
            while len(passes.stages) < len(program):
                stages = self.carry_out_pass(program[len(passes.stages)], state)
                passes.stages.append(stages)
                passes.boundary()
        return passes.stages

    def state(self) -> Fields:
        """Return what a checkpoint holds of a schedule that remembers something between passes."""
        return {}

    def restore(self, found: Mapping[str, Any]) -> None:  # noqa: B027 (most have nothing)
        """Go on from what `state` gave on any ranks."""

    @abstractmethod
    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Carry out one pass in place (collective): names and steps of its stages."""


class Passes(Frame):
    """A program of passes under way: the elements' states, and the stages of the passes made.

    Parameters
    ----------
    schedule : PassSchedule
        Carries it out.
    values : ndarray, shape (k,)
        The states; they change in place.
    """

    def __init__(self, schedule: PassSchedule, values: Array):
        super().__init__(schedule.machine, "passes", self._fields, self._take)
        self._schedule, self._values = schedule, values
        self.stages: list[list[Phase]] = []

    def _fields(self) -> Fields:
        schedule = self._schedule
        own = dict(schedule.state())  # first: it may find states astray
        own |= {"astray": Total(schedule.astray), "stages": self.stages}
        return own | {"values": Numbered(self._values, self._keys)}

    @property
    def _keys(self) -> Ints:
        """Return what tells the states apart, over all ranks."""
        # Worked out where a checkpoint asks: two fresh arrays take as long as five dimensions of a
        # transform, and few runs write checkpoints.
        schedule = self._schedule
        return schedule.index + (np.asarray(schedule.instance) << schedule.dimensions)

    def _take(self, found: Mapping[str, Any]) -> None:
        self._values[:] = found["values"]
        self._schedule.astray = found["astray"]
        self.stages = [[(name, steps) for name, steps in parts] for parts in found["stages"]]
        self._schedule.restore(found)


class Dimensions(State):
    """A pass under way, one dimension after the other, with all elements at home between them.

    Parameters
    ----------
    machine : Machine
        What it steps.
    """

    def __init__(self, machine: Machine):
        super().__init__(machine, "dimensions", each=[], begun=machine.steps)
        self.each: list[int]
        """Steps of the machine for each dimension that is done."""
        self.begun: int

    def note(self) -> None:
        """Note that a dimension is done; a boundary (collective)."""
        self.each.append(self.steps - self.begun)
        self.begun = self.steps
        self.boundary()

    def stages(self, sweep: Pass) -> list[Phase]:
        """Names and steps of the dimensions."""
        names = (f"dimension {j}" for j in sweep.dimensions)
        return list(zip(names, self.each, strict=True))


def require_power_of_two(topology: Topology) -> int:
    """The q of a network of 2^q processors.

    Raises
    ------
    UsageError
        It has another number of them.
    """
    q = topology.hosts.bit_length() - 1
    if topology.hosts != 1 << q:
        raise UsageError(
            f"ASCEND and DESCEND need 2^q processors, and {topology.name} has {topology.hosts}."
        )
    return q


def is_one_port(machine: Machine) -> bool:
    """Tell if a processor of the machine is limited to one message in a step."""
    return 1 in (machine.model.send, machine.model.receive)
