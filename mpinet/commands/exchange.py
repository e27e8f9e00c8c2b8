"""``mpinet exchange``: total exchange."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.collective import Collective
from mpinet.commands.job import Job
from mpinet.commands.options import (
    Bytes,
    Duplex,
    File,
    Hosted,
    Network,
    Ports,
    port_model,
    routing_of,
    topology_of,
)
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.errors import UsageError
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


def exchange(
    topology: Network,
    *,
    routing: str | None = None,
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
    """Bring a different item from every processor to every other (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    routing : str, optional
        A routing of the network; default: its first.
    algorithm : str, optional
        ``routed`` (default), or ``farthest`` (links), which looks for few steps.
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
    >>> mpinet.exchange("hypercube:3").correct
    True
    """
    return perform(exchange, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find the routing."""
    from mpinet.programs.exchange import FARTHEST, require_algorithm

    topology = topology_of(options)
    name = require_algorithm(topology, options.algorithm, port_model(options))
    if name == FARTHEST and options.routing is not None:
        raise UsageError("--routing does not apply to total exchange 'farthest'.")
    routing = None if name == FARTHEST else routing_of(topology, options.routing)
    return TotalExchange(options, topology, routing)


class TotalExchange(Collective):
    """A different item from every processor to every other."""

    def __init__(self, options: argparse.Namespace, topology: Topology, routing: Routing | None):
        super().__init__(options, topology)
        self._routing = routing

    def needs(self, ranks: int) -> int:
        """Every pair's item."""
        from mpinet.programs import needs

        return needs.exchange(self.share(ranks))

    def perform(self, machine: Machine) -> CollectiveResult:
        """TotalExchange."""
        from mpinet.programs.exchange import exchange

        return exchange(machine, self._routing, self.options.seed, self.options.algorithm)
