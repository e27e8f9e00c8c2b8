"""``mpinet gossip``: all-to-all broadcast."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.collective import Collective
from mpinet.commands.job import Job
from mpinet.commands.options import Duplex, File, Hosted, Network, Ports, topology_of
from mpinet.commands.perform import perform
from mpinet.commands.result import Result

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


def gossip(
    topology: Network,
    *,
    algorithm: str | None = None,
    ports: Ports = "one",
    duplex: Duplex = "full",
    mapping: Hosted = "blocks",
    record: File | None = None,
    record_steps: str | None = None,
    record_nodes: str | None = None,
    seed: int = 0,
) -> Result:
    """Bring every processor's item to all processors (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    algorithm : str, optional
        ``cycle``, ``tree`` or ``routed``; default: the first that applies.
    ports : {'one', 'all'}
        Ports that a processor uses in a step.
    duplex : {'full', 'half'}
        Messages that a link carries in a step: one each way, or one.
    mapping : {'blocks', 'clusters', 'measured', 'random'}
        How ranks host processors; changes no result.
    record, record_steps, record_nodes : str, optional
        The file that gets what moved in which step; the steps ``A..B`` and the nodes ``0..15,20``
        that it is limited to.
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
    require_algorithm(topology, options.duplex == "half", options.algorithm)
    return Gossip(options, topology)


class Gossip(Collective):
    """Every processor's item to all processors."""

    def perform(self, machine: Machine) -> CollectiveResult:
        """Gossip."""
        from mpinet.programs.gossip import gossip

        return gossip(machine, self.options.algorithm, self.options.seed)
