"""``mpinet exchange``: total exchange by routing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.cli.collective import Collective
from mpinet.cli.job import Job
from mpinet.cli.options import add_common, add_machine, add_topology, topology_of
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the routing."""
    add_topology(parser)
    parser.add_argument("--routing", metavar="NAME", help="a routing of the network")
    add_machine(parser, ports="one")
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Find the routing."""
    from mpinet.programs.collective import require_few
    from mpinet.programs.exchange import MOST_PROCESSORS

    topology = topology_of(options)
    require_few(topology, "Total exchange", MOST_PROCESSORS)
    return TotalExchange(options, topology, topology.routing(options.routing))


class TotalExchange(Collective):
    """A different item from every processor to every other."""

    def __init__(self, options: argparse.Namespace, topology: Topology, routing: Routing):
        super().__init__(options, topology)
        self._routing = routing

    def perform(self, machine: Machine) -> CollectiveResult:
        """TotalExchange."""
        from mpinet.programs.exchange import exchange

        return exchange(machine, self._routing, self.options.seed)
