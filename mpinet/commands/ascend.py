"""``mpinet ascend`` and ``mpinet descend``: programs over all dimensions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.job import Job, Watch
from mpinet.commands.machinejob import MachineJob
from mpinet.commands.options import Bytes, Duplex, File, Hosted, Network, Ports, topology_of
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row, phase_rows
from mpinet.report.tables import with_phases

if TYPE_CHECKING:
    from mpinet.machine.dry import Dry
    from mpinet.machine.transport import Local
    from mpinet.programs.operators.operator import Operator
    from mpinet.programs.rehearsal import Rehearsal


def ascend(
    topology: Network,
    *,
    operator: str,
    algorithm: str | None = None,
    ports: Ports = "all",
    duplex: Duplex = "full",
    mapping: Hosted = "blocks",
    record: File | None = None,
    record_steps: str | None = None,
    record_nodes: str | None = None,
    memory_limit: Bytes | None = None,
    force: bool = False,
    seed: int = 0,
) -> Result:
    """Run an ASCEND program, checked against the serial computation (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    operator : str
        What is computed: ``sum``, ``fft``, .., or one's own as ``path/file.py:Class``.
    algorithm : str, optional
        How pairs are brought together; default: the network's own way.
    ports : {'one', 'all'}
        Ports that a processor uses in a step.
    duplex : {'full', 'half'}
        Messages that a link carries in a step: one each way, or one.
    mapping : {'blocks', 'clusters', 'measured', 'random'}
        How ranks host processors; changes no result.
    record, record_steps, record_nodes : str, optional
        The file that gets what moved in which step; the steps ``A..B`` and the nodes ``0..15,20``
        that it is limited to.
    memory_limit : int or str, optional
        Bytes that the ranks of a host may take together, such as ``"4GiB"``.
    force : bool
        Whether to try what does not fit into the memory there is.
    seed : int
        For everything random.

    Examples
    --------
    >>> import mpinet
    >>> mpinet.ascend("hypercube:4", operator="sum").steps
    4
    """
    return perform(ascend, locals())


def descend(
    topology: Network,
    *,
    operator: str,
    algorithm: str | None = None,
    ports: Ports = "all",
    duplex: Duplex = "full",
    mapping: Hosted = "blocks",
    record: File | None = None,
    record_steps: str | None = None,
    record_nodes: str | None = None,
    memory_limit: Bytes | None = None,
    force: bool = False,
    seed: int = 0,
) -> Result:
    """Run a DESCEND program, checked against the serial computation (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    operator : str
        What is computed: ``sum``, ``fft``, .., or one's own as ``path/file.py:Class``.
    algorithm : str, optional
        How pairs are brought together; default: the network's own way.
    ports : {'one', 'all'}
        Ports that a processor uses in a step.
    duplex : {'full', 'half'}
        Messages that a link carries in a step: one each way, or one.
    mapping : {'blocks', 'clusters', 'measured', 'random'}
        How ranks host processors; changes no result.
    record, record_steps, record_nodes : str, optional
        The file that gets what moved in which step; the steps ``A..B`` and the nodes ``0..15,20``
        that it is limited to.
    memory_limit : int or str, optional
        Bytes that the ranks of a host may take together, such as ``"4GiB"``.
    force : bool
        Whether to try what does not fit into the memory there is.
    seed : int
        For everything random.

    Examples
    --------
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
        """States, and what they are compared with."""
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
