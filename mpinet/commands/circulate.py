"""``mpinet circulate``: data circulation in the subcubes of the low dimensions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.ascend import Pairing
from mpinet.commands.collective import Collective
from mpinet.commands.job import Job
from mpinet.commands.opening import Network, topology_of
from mpinet.commands.options import Common, OnMachine, Ports, SavedOften, Views
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Unpack, command

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


@command(Views, SavedOften, Common)
def circulate(
    topology: Network,
    *,
    dimensions: int | None = None,
    algorithm: Pairing = None,
    ports: Ports = "one",
    **options: Unpack[OnMachine],
) -> Result:
    """Let every item visit all processors of its subcube (collective).

    Parameters
    ----------
    dimensions : int, optional
        Circulate in every subcube of so many low dimensions; default: all.

    Returns
    -------
    Result
        algorithm, steps, messages, lower_bound, lower_by, correct, phases.

    Examples
    --------
    >>> import mpinet
    >>> mpinet.circulate("hypercube:3").correct
    True
    """
    return perform(circulate, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check the dimensions and the algorithm."""
    from mpinet.programs.circulate import require_dimensions
    from mpinet.programs.schedules import find_schedule

    topology = topology_of(options)
    require_dimensions(topology, options.dimensions)
    find_schedule(topology, options.algorithm)
    return Circulate(options, topology)


class Circulate(Collective):
    """Data circulation."""

    def needs(self, ranks: int) -> int:
        """Every processor's item."""
        from mpinet.programs import needs
        from mpinet.programs.schedules import find_schedule

        schedule = find_schedule(self.network, self.options.algorithm)
        return needs.circulate(self.share(ranks), schedule)

    def perform(self, machine: Machine) -> CollectiveResult:
        """Circulate."""
        from mpinet.programs.circulate import circulate

        options = self.options
        return circulate(machine, options.dimensions, options.algorithm, options.seed)
