"""``mpinet circulate``: data circulation in the subcubes of the low dimensions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.cli.collective import Collective
from mpinet.cli.job import Job
from mpinet.cli.options import add_common, add_machine, add_topology, number, topology_of

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.programs.collective import CollectiveResult


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the subcubes, the algorithm."""
    add_topology(parser)
    parser.add_argument(
        "--dimensions",
        metavar="Q",
        type=number,
        help="circulate in every subcube of the low Q dimensions (default: all)",
    )
    parser.add_argument(
        "--algorithm", metavar="NAME", help="how pairs are brought together; see ascend"
    )
    add_machine(parser, ports="one")
    add_common(parser)


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

    def perform(self, machine: Machine) -> CollectiveResult:
        """Circulate."""
        from mpinet.programs.circulate import circulate

        options = self.options
        return circulate(machine, options.dimensions, options.algorithm, options.seed)
