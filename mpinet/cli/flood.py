"""``mpinet flood``: flood the machine from one node."""

from __future__ import annotations

import argparse
from typing import Any

from mpinet.cli.job import Job
from mpinet.cli.options import (
    add_common,
    add_machine,
    add_topology,
    make_machine,
    require_all_port,
    topology_of,
)
from mpinet.networks.topology import Topology
from mpinet.report.tables import fields


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network and the root."""
    add_topology(parser)
    parser.add_argument("--root", metavar="U", default="0", help="where it starts (default 0)")
    add_machine(parser, ports="all")
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Find the root."""
    topology = topology_of(options)
    require_all_port(options, "flood")
    return Flood(options, topology, topology.find(options.root))


class Flood(Job):
    """A flood from one root."""

    def __init__(self, options: argparse.Namespace, topology: Topology, root: int):
        super().__init__()
        self.topology = topology.name
        self._options = options
        self._network = topology
        self._root = root

    def run(self, transport: Any, watch: Any) -> Any:
        """Flood."""
        from mpinet.programs.flood import flood

        machine = make_machine(self._options, self._network, transport)
        self.model = machine.model.as_json()
        found = flood(machine, self._root, watch)
        self.spread(machine)
        return {name: getattr(found, name) for name in FIELDS}

    def rehearse(self, dry: Any) -> Any:
        """Play one rank."""
        from mpinet.programs.rehearsal import rehearse_flood

        machine = make_machine(self._options, self._network, dry)
        self.model = machine.model.as_json()
        return rehearse_flood(machine, dry, self._root)

    def show(self, result: Any) -> str:
        """The counts."""
        return f"flood of {self.topology} from {self._root}\n{fields(result)}"


FIELDS = ("steps", "messages", "informed", "eccentricity")
