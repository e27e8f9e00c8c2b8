"""``mpinet ascend`` and ``mpinet descend``: programs over all dimensions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Annotated

from mpinet.commands.fields import Count, Phase
from mpinet.commands.forms import Downwards
from mpinet.commands.job import Job, Watch
from mpinet.commands.machinejob import MachineJob
from mpinet.commands.opening import Network, topology_of
from mpinet.commands.options import Common, OnMachine, Ports, SavedOften, Views
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row, phase_rows
from mpinet.report.tables import with_phases

if TYPE_CHECKING:
    from mpinet.machine.dry import Dry
    from mpinet.machine.transport import Local
    from mpinet.programs.operators.operator import Operator
    from mpinet.programs.rehearsal import Rehearsal


Computed = Annotated[
    str,
    Typed(
        "Operator to compute, or one's own, as ``path/file.py:Class`` or ``module:Class``",
        metavar="NAME",
        listed="mpinet.programs.operators:listed",
    ),
]
Pairing = Annotated[
    str | None,
    Typed(
        "Schedule that brings pairs together: the network's own (default; its name is in the "
        "result), or one of these",
        metavar="NAME",
        listed="mpinet.programs.schedules:SCHEDULES",
    ),
]


class ProgramResult(Result):
    """Result of ``ascend`` and ``descend``."""

    operator: str
    algorithm: str
    elements: Count
    steps: Count
    correct: Annotated[bool, "against the serial computation"]
    phases: list[Phase]


@command(Downwards, Views, SavedOften, Common)
def ascend(
    topology: Network,
    *,
    operator: Computed,
    algorithm: Pairing = None,
    ports: Ports = "all",
    **options: Unpack[OnMachine],
) -> ProgramResult:
    """Run an ASCEND program, checked against the serial computation (collective).

    Examples
    --------
    ``mpinet ascend hypercube:4 --operator sum``

    ``mpinet ascend hypercube:4 --operator bitonic-merge --down``

    >>> import mpinet
    >>> mpinet.ascend("hypercube:4", operator="sum").steps
    4
    """
    return perform(ascend, locals())


@command(Views, SavedOften, Common)
def descend(
    topology: Network,
    *,
    operator: Computed,
    algorithm: Pairing = None,
    ports: Ports = "all",
    **options: Unpack[OnMachine],
) -> ProgramResult:
    """Run a DESCEND program, checked against the serial computation (collective).

    Examples
    --------
    ``mpinet descend hypercube:4 --operator sum``

    ``mpinet descend hypercube:4 --operator bitonic-merge``

    >>> import mpinet
    >>> mpinet.descend("hypercube:4", operator="sum").steps
    4
    """
    return perform(descend, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check the operator."""
    from mpinet.programs.operators import open_operator

    operator = open_operator(options.operator)
    operator.require_form(options.command)
    return Ascend(options, topology_of(options), operator)


class Ascend(MachineJob):
    """An ASCEND or DESCEND program, checked against the serial computation."""

    def __init__(self, options: argparse.Namespace, topology: Topology, operator: Operator):
        super().__init__(options, topology)
        self._operator = operator

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the program."""
        from mpinet.programs import ascend

        options = self.options
        machine = self.make_machine(transport, watch)
        found = ascend.run(
            machine,
            self._operator,
            options.command,
            options.seed,
            options.algorithm,
        )
        self.note_crossing(machine)
        return {
            "operator": found.operator,
            "algorithm": found.algorithm,
            "elements": found.elements,
            "steps": found.steps,
            "correct": found.correct,
            "phases": phase_rows(found.phases),
        }

    def needs(self, ranks: int) -> int:
        """Bytes of the states, and of the serial results that they are compared with."""
        from mpinet.programs import needs
        from mpinet.programs.schedules import find_schedule

        schedule = find_schedule(self.network, self.options.algorithm)
        return needs.ascend(self.share(ranks), self._operator, schedule)

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Play one rank."""
        from mpinet.programs.rehearsal import rehearse_ascend

        options = self.options
        machine = self.make_machine(dry)
        return rehearse_ascend(
            machine, dry, self._operator, options.command, options.seed, options.algorithm
        )

    def show(self, result: Row) -> str:
        """The counts, and the phases."""
        return with_phases(f"{self.options.command} on {self.topology}", result)
