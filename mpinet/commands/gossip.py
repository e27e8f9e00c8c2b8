"""``mpinet gossip``: all-to-all broadcast."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.collective import Collective
from mpinet.commands.job import Job
from mpinet.commands.options import Bytes, Duplex, File, Hosted, Network, Ports, topology_of
from mpinet.commands.perform import perform
from mpinet.commands.pipelined import Pipelined
from mpinet.commands.result import Result
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


def gossip(
    topology: Network,
    *,
    algorithm: str | None = None,
    items: int = 1,
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
    """Bring every processor's item to all processors (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    algorithm : str, optional
        ``cycle``, ``tree`` or ``routed`` (default: the first that applies), ``rarest`` (all
        ports) or ``matching`` (one port).
    items : int
        Items of every processor, sent in a pipeline where there are more than one:
        ``rarest`` (all ports), ``matching`` or ``cycle`` (one port); default: the
        fewest steps.
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
