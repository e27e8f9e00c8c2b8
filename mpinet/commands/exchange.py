"""``mpinet exchange``: total exchange."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.collective import Collective
from mpinet.commands.job import Job
from mpinet.commands.opening import Network, port_model, routing_of, topology_of
from mpinet.commands.options import (
    Algorithm,
    Common,
    OnMachine,
    Ports,
    RoutingName,
    SavedOften,
    Views,
)
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Unpack, command
from mpinet.errors import UsageError
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


@command(Views, SavedOften, Common)
def exchange(
    topology: Network,
    *,
    routing: RoutingName = None,
    algorithm: Algorithm = None,
    ports: Ports = "one",
    **options: Unpack[OnMachine],
) -> Result:
    """Bring a different item from every processor to every other (collective).

    Parameters
    ----------
    algorithm : str, optional
        ``routed`` (default), or ``farthest`` (links): farthest target first, few steps.

    Returns
    -------
    Result
        algorithm, steps, messages, lower_bound, lower_by (as of ``broadcast``), correct, phases.

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
