"""``mpinet reduce``: the least, the largest or the sum of all processors' items, at one of them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.cli.collective import Collective
from mpinet.cli.job import Job, Watch
from mpinet.cli.options import add_common, add_machine, add_topology, port_model, topology_of
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.machine.transport import Local
    from mpinet.programs.reduce import ReduceResult


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network, the operator, the root, the broadcast."""
    from mpinet.programs.reduce import OPERATORS

    add_topology(parser)
    parser.add_argument(
        "--operator",
        choices=tuple(OPERATORS),
        default="min",
        help="what becomes of two items (default min)",
    )
    parser.add_argument("--root", metavar="U", default="0", help="who learns it (default 0)")
    parser.add_argument(
        "--algorithm", metavar="NAME", help="the broadcast that is turned round; see broadcast"
    )
    add_machine(parser, ports="one")
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Find root and algorithm."""
    from mpinet.programs.broadcast import require_algorithm
    from mpinet.programs.reduce import turned_round

    topology = topology_of(options)
    root = topology.find(options.root)
    model = turned_round(port_model(options))
    algorithm, _ = require_algorithm(topology, root, options.algorithm, model)
    return Reduce(options, topology, root, algorithm)


class Reduce(Collective):
    """A reduction."""

    def __init__(self, options: argparse.Namespace, topology: Topology, root: int, algorithm: str):
        super().__init__(options, topology)
        self._root = root
        self._algorithm = algorithm

    def perform(self, machine: Machine) -> ReduceResult:
        """Reduce."""
        from mpinet.programs.reduce import reduce

        options = self.options
        self._found = reduce(machine, self._root, options.operator, self._algorithm, options.seed)
        return self._found

    def run(self, transport: Local, watch: Watch) -> Row:
        """Tell the operator and the value, too."""
        result = super().run(transport, watch)
        return {"operator": self.options.operator, "value": self._found.value, **result}
