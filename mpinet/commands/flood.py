"""``mpinet flood``: flood the machine from one node."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.fields import Count, hints_of
from mpinet.commands.job import Job, Watch
from mpinet.commands.machinejob import MachineJob
from mpinet.commands.opening import Network, require_all_port, topology_of
from mpinet.commands.options import Common, OnMachine, Place, Ports, SavedOften, Views
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Unpack, command
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.dry import Dry
    from mpinet.machine.transport import Local
    from mpinet.programs.rehearsal import Rehearsal


class FloodResult(Result):
    """Result of ``flood``."""

    steps: Count
    messages: Count
    informed: Count
    eccentricity: Count


@command(Views, SavedOften, Common)
def flood(
    topology: Network,
    *,
    root: Place = 0,
    ports: Ports = "all",
    **options: Unpack[OnMachine],
) -> FloodResult:
    """Flood the machine from one node (collective).

    Parameters
    ----------
    root : int or str
        Node where the flood starts: a number or an address.

    Examples
    --------
    ``mpinet flood torus:8x8``

    ``mpinet flood hypercube:6 --root 5``

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
        return {name: getattr(found, name) for name in hints_of(FloodResult)}

    def needs(self, ranks: int) -> int:
        """Bytes of the marks of all processors, and of the largest wave."""
        from mpinet.programs import needs

        return needs.flood(self.share(ranks))

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Play one rank."""
        from mpinet.programs.rehearsal import rehearse_flood

        machine = self.make_machine(dry)
        return rehearse_flood(machine, dry, self._root)

    def show(self, result: Row) -> str:
        """Format the counts."""
        return f"flood of {self.topology} from {self._root}\n{fields(result)}"
