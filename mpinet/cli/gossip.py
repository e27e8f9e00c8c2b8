"""``mpinet gossip``: all-to-all broadcast."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.cli.collective import Collective
from mpinet.cli.job import Job
from mpinet.cli.options import add_common, add_machine, add_topology, topology_of

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the algorithm."""
    add_topology(parser)
    parser.add_argument(
        "--algorithm",
        metavar="NAME",
        help="cycle (where the network offers one), tree (links), routed; default: the first",
    )
    add_machine(parser, ports="one")
    add_common(parser)


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
