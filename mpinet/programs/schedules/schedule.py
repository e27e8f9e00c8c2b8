"""Interface of all schedules of ASCEND and DESCEND: places of elements, and meetings of pairs."""

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
    """A network's method of running passes: places of elements, and meetings of pairs.

    Parameters
    ----------
    machine : Machine
        Machine for the passes.
    """

    name: ClassVar[str]
    """Name for ``--algorithm``."""
    dimensions: int
    """Number q of dimensions, for 2^q elements."""
    index: Ints
    """Elements at home on this rank: row k of a state array is element ``index[k]``. Between passes
    every element is at home. Shape (k,).
    """
    instances: int = 1
    """Number of concurrent sets of 2^q elements; usually one."""
    instance: Ints | int = 0
    """Sets of the elements of `index`, from 0. Shape (k,), or int."""
    astray: int = 0
    """Number of wrong states among the witnessed ones on this rank (see `witness`). A wrong state
    differs from the result computed from the processor's own state and the received state.
    """

    def __init__(self, machine: Machine):
        self.machine = machine

    def require_no_switches(self) -> None:
        """Raise `UsageError` unless every node of the network is a processor."""
        topology = self.machine.topology
        if topology.hosts != topology.size:
            raise UsageError(
                f"The algorithm {self.name} needs a network without switches, unlike "
                f"{topology.name}; give --algorithm routed."
            )

    def carry_out(self, program: Sequence[Pass], state: Array) -> list[list[Phase]]:
        """Run a program in place (collective).

        Parameters
        ----------
        program : sequence of Pass
            Passes to run one after the other.
        state : ndarray, shape (k,)
            States of the elements at home on this rank.

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
        """Return the fields for a checkpoint of a schedule with memory between passes."""
        return {}

    def restore(self, found: Mapping[str, Any]) -> None:  # noqa: B027 (most have nothing)
        """Restore the fields saved by `state`, possibly on another number of ranks."""

    @abstractmethod
    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Run one pass in place (collective); return names and steps of its stages."""


class Passes(Frame):
    """A running program of passes: the elements' states, and the stages of finished passes.

    Parameters
    ----------
    schedule : PassSchedule
        Schedule that runs the program.
    values : ndarray, shape (k,)
        The states, which change in place.
    """

    def __init__(self, schedule: PassSchedule, values: Array):
        super().__init__(schedule.machine, "passes", self._fields, self._take)
        self._schedule, self._values = schedule, values
        self.stages: list[list[Phase]] = []

    def _fields(self) -> Fields:
        schedule = self._schedule
        own = dict(schedule.state())  # first: this may find wrong states
        own |= {"astray": Total(schedule.astray), "stages": self.stages}
        return own | {"values": Numbered(self._values, self._keys)}

    @property
    def _keys(self) -> Ints:
        """Return unique keys of the states, over all ranks."""
        # Computed only for a checkpoint: two new arrays take as long as five dimensions of a
        # transform, and few runs write checkpoints.
        schedule = self._schedule
        return schedule.index + (np.asarray(schedule.instance) << schedule.dimensions)

    def _take(self, found: Mapping[str, Any]) -> None:
        self._values[:] = found["values"]
        self._schedule.astray = found["astray"]
        self.stages = [[(name, steps) for name, steps in parts] for parts in found["stages"]]
        self._schedule.restore(found)


class Dimensions(State):
    """A running pass, one dimension after the other, with all elements at home in between.

    Parameters
    ----------
    machine : Machine
        Machine that makes the steps.
    """

    def __init__(self, machine: Machine):
        super().__init__(machine, "dimensions", each=[], begun=machine.steps)
        self.each: list[int]
        """Number of steps of the machine for each finished dimension."""
        self.begun: int

    def note(self) -> None:
        """Record the end of a dimension; a boundary (collective)."""
        self.each.append(self.steps - self.begun)
        self.begun = self.steps
        self.boundary()

    def stages(self, sweep: Pass) -> list[Phase]:
        """Return the name and number of steps of each finished dimension."""
        names = (f"dimension {j}" for j in sweep.dimensions)
        return list(zip(names, self.each, strict=True))


def require_power_of_two(topology: Topology) -> int:
    """Return q for a network of 2^q processors.

    Raises
    ------
    UsageError
        The number of processors is not a power of two.
    """
    q = topology.hosts.bit_length() - 1
    if topology.hosts != 1 << q:
        raise UsageError(
            f"ASCEND and DESCEND need 2^q processors, and {topology.name} has {topology.hosts}."
        )
    return q


def is_one_port(machine: Machine) -> bool:
    """Return whether a processor of the machine is limited to one message per step."""
    return 1 in (machine.model.send, machine.model.receive)
