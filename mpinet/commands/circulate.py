"""``mpinet circulate``: data circulation in the subcubes of the low dimensions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.collective import Collective
from mpinet.commands.job import Job
from mpinet.commands.options import Bytes, Duplex, File, Hosted, Network, Ports, topology_of
from mpinet.commands.perform import perform
from mpinet.commands.result import Result

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


def circulate(
    topology: Network,
    *,
    dimensions: int | None = None,
    algorithm: str | None = None,
    ports: Ports = "one",
    duplex: Duplex = "full",
    mapping: Hosted = "blocks",
    record: File | None = None,
    record_steps: str | None = None,
    record_nodes: str | None = None,
    memory_limit: Bytes | None = None,
    force: bool = False,
    seed: int = 0,
) -> Result:
    """Let every item visit all processors of its subcube (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    dimensions : int, optional
        Circulate in every subcube of so many low dimensions; default: all.
    algorithm : str, optional
        How pairs are brought together; see `mpinet.ascend`.
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
