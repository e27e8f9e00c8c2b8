"""``mpinet reduce``: the least, the largest or the sum of all processors' items, at one of them."""

from __future__ import annotations

import argparse
from typing import Any

from mpinet.cli.collective import Collective
from mpinet.cli.job import Job
from mpinet.cli.options import add_common, add_machine, add_topology, port_model, topology_of
from mpinet.networks.topology import Topology


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
    require_algorithm(topology, root, options.algorithm, turned_round(port_model(options)))
    return Reduce(options, topology, root)


class Reduce(Collective):
    """A reduction."""

    def __init__(self, options: argparse.Namespace, topology: Topology, root: int):
        super().__init__(options, topology)
        self._root = root

    def perform(self, machine: Any, watch: Any) -> Any:
        """Reduce."""
        from mpinet.programs.reduce import reduce

        options = self.options
        self._found = reduce(
            machine, self._root, options.operator, options.algorithm, options.seed, watch=watch
        )
        return self._found

    def run(self, transport: Any, watch: Any) -> Any:
        """Tell the operator and the value, too."""
        result = super().run(transport, watch)
        return {"operator": self.options.operator, "value": self._found.value, **result}
