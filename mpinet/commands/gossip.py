"""``mpinet gossip``: all-to-all broadcast."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.collective import Collective
from mpinet.commands.job import Job
from mpinet.commands.opening import Network, topology_of
from mpinet.commands.options import Algorithm, Common, OnMachine, Ports, SavedOften, Views
from mpinet.commands.perform import perform
from mpinet.commands.pipelined import Pipelined
from mpinet.commands.result import Result
from mpinet.commands.signature import Unpack, command
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


@command(Views, SavedOften, Common)
def gossip(
    topology: Network,
    *,
    algorithm: Algorithm = None,
    items: int = 1,
    ports: Ports = "one",
    **options: Unpack[OnMachine],
) -> Result:
    """Bring every processor's item to all processors (collective).

    Parameters
    ----------
    algorithm : str, optional
        ``cycle`` (where the network offers one), ``tree`` (links), ``routed``; default: the first
        of these; or ``rarest`` (links, all ports) or ``matching`` (one port), which take few steps.
    items : int
        Items of every processor, sent in a pipeline where there are more than one:
        ``rarest`` (all ports), ``matching`` or ``cycle`` (one port); default: the
        fewest steps.

    Returns
    -------
    Result
        algorithm, steps, messages, lower_bound, lower_by (as of ``broadcast``), correct, phases;
        with ``--items`` above 1 also items, bandwidth (as of ``allreduce``).

    Examples
    --------
    >>> import mpinet
    >>> mpinet.gossip("petersen", ports="all", algorithm="rarest").steps
    3
    """
    return perform(gossip, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check the algorithm."""
    from mpinet.programs.gossip import require_algorithm

    topology = topology_of(options)
    if options.items != 1:
        return Pipelined(options, topology)
    algorithm = require_algorithm(topology, options.duplex == "half", options.algorithm)
    return Gossip(options, topology, algorithm)


class Gossip(Collective):
    """Every processor's item to all processors."""

    def __init__(self, options: argparse.Namespace, topology: Topology, algorithm: str):
        super().__init__(options, topology)
        self._algorithm = algorithm

    def needs(self, ranks: int) -> int:
        """As the algorithm needs."""
        from mpinet.programs import needs

        return needs.gossip(self.share(ranks), self._algorithm)

    def perform(self, machine: Machine) -> CollectiveResult:
        """Gossip."""
        from mpinet.programs.gossip import gossip

        return gossip(machine, self.options.algorithm, self.options.seed)
