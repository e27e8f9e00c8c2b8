"""``mpinet flood``: flood the machine from one node."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.job import Job, Watch
from mpinet.commands.machinejob import MachineJob
from mpinet.commands.options import (
    Bytes,
    Duplex,
    File,
    Hosted,
    Network,
    Place,
    Ports,
    require_all_port,
    topology_of,
)
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.dry import Dry
    from mpinet.machine.transport import Local
    from mpinet.programs.rehearsal import Rehearsal


def flood(
    topology: Network,
    *,
    root: Place = 0,
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
    """Flood the machine from one node (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    root : int or str
        Where it starts: a number or an address.
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
    >>> mpinet.flood("ring:8").steps
    4
    """
    return perform(flood, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find the root."""
    topology = topology_of(options)
    require_all_port(options, "flood")
    return Flood(options, topology, topology.find(str(options.root)))


class Flood(MachineJob):
    """A flood from one root."""

    def __init__(self, options: argparse.Namespace, topology: Topology, root: int):
        super().__init__(options, topology)
        self._root = root

    def run(self, transport: Local, watch: Watch) -> Row:
        """Flood."""
        from mpinet.programs.flood import flood

        machine = self.make_machine(transport, watch)
        found = flood(machine, self._root)
        self.note_crossing(machine)
        return {name: getattr(found, name) for name in FIELDS}

    def needs(self, ranks: int) -> int:
        """Marks of all processors, and the largest wave."""
        from mpinet.programs import needs

        return needs.flood(self.share(ranks))

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Play one rank."""
        from mpinet.programs.rehearsal import rehearse_flood

        machine = self.make_machine(dry)
        return rehearse_flood(machine, dry, self._root)

    def show(self, result: Row) -> str:
        """The counts."""
        return f"flood of {self.topology} from {self._root}\n{fields(result)}"


FIELDS = ("steps", "messages", "informed", "eccentricity")
