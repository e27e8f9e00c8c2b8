"""``mpinet scatter`` and ``mpinet gather``: from one processor to all, and from all to one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.cli.collective import Collective
from mpinet.cli.job import Job
from mpinet.cli.options import add_common, add_machine, add_topology, topology_of
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the root, the algorithm."""
    add_topology(parser)
    parser.add_argument("--root", metavar="U", default="0", help="the one processor (default 0)")
    parser.add_argument(
        "--algorithm", metavar="NAME", help="tree (links), routed; default: the first"
    )
    add_machine(parser, ports="one")
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Find root and algorithm."""
    from mpinet.programs.gather import require_algorithm

    topology = topology_of(options)
    root = topology.find(options.root)
    require_algorithm(topology, root, options.algorithm, options.command)
    return FromOrToOne(options, topology, root)


class FromOrToOne(Collective):
    """A scatter or a gather."""

    def __init__(self, options: argparse.Namespace, topology: Topology, root: int):
        super().__init__(options, topology)
        self._root = root

    def perform(self, machine: Machine) -> CollectiveResult:
        """Scatter or gather."""
        from mpinet.programs.gather import gather
        from mpinet.programs.scatter import scatter

        collective = scatter if self.options.command == "scatter" else gather
        options = self.options
        return collective(machine, self._root, options.algorithm, options.seed)
