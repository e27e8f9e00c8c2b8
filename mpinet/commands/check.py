"""``mpinet check``: check a network's rules against each other."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from mpinet.commands.fields import Count
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import Network
from mpinet.commands.options import Common, Seed
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import command
from mpinet.machine.transport import Local
from mpinet.networks import check as checked
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields


class CheckResult(Result):
    """Result of ``check``."""

    topology: str
    nodes: Count
    ports: Count
    exhaustive: bool
    addresses: Count
    routes: Count


@command(Common)
def check(topology: Network, *, seed: Seed = 0) -> CheckResult:
    """Check a network's rules against each other (collective).

    Every node of a small network, and a sample of a large one that the seed draws.

    Returns
    -------
    Result
        They tell how much was looked at.

    Examples
    --------
    ``mpinet check torus:8x8``

    ``mpinet check wheel.py:Wheel:8``
    """
    return perform(check, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Open the network."""
    return Check(open_topology(options.topology), options.seed)


class Check(Job):
    """A network held against the contract."""

    def __init__(self, topology: Topology, seed: int):
        super().__init__()
        self.topology = topology.name
        self._network = topology
        self._seed = seed

    def run(self, transport: Local, watch: Watch) -> Row:
        """Check all nodes, or a seeded sample of a large network."""
        return asdict(checked(self._network, seed=self._seed))

    def show(self, result: Row) -> str:
        """Format the counts of checked nodes and ports, which are all ports there are."""
        looked_at = {name: result[name] for name in ("nodes", "ports", "addresses", "routes")}
        everywhere = "all of it" if result["exhaustive"] else "a sample drawn by the seed"
        return fields(
            {"topology": result["topology"], "looked at": everywhere}
            | {f"{name} tried": count for name, count in looked_at.items()}
        )
