"""``mpinet neighbors``: list the ports of one node."""

from __future__ import annotations

from dataclasses import dataclass

from mpinet.base.effort import require_walk
from mpinet.commands.job import Job, NetworkJob, Watch
from mpinet.commands.neighbors import NeighborsOptions
from mpinet.jobs.opening import topology_named
from mpinet.machine.transport import Local
from mpinet.report.rows import Row
from mpinet.report.tables import table

MOST_LISTED = 2**20
"""Largest number of listed ports of a node, which takes some seconds."""


def prepare(options: NeighborsOptions) -> Job:
    """Find the node, and return the job."""
    topology = topology_named(options.topology)
    require_walk(topology.ports, f"A node's table of {topology.name}", ranks=1, most=MOST_LISTED)
    return Neighbors(topology, topology.find(str(options.node)))


@dataclass(eq=False, repr=False)
class Neighbors(NetworkJob):
    """All ports of a node, in port order."""

    _node: int

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Return a row per port, from the network's rules."""
        return [self._port(port) for port in range(self.network.ports)]

    def _port(self, port: int) -> Row:
        network, node = self.network, self._node
        other = network.neighbor(node, port)
        wired = other >= 0
        return {
            "port": port,
            "neighbor": other if wired else None,
            "reverse_port": network.reverse_port(node, port) if wired else None,
            "channel": network.channel(node, port) if wired else None,
            "address": network.address(other) if wired else None,
        }

    def show(self, result: list[Row]) -> str:
        """Format one line per port."""
        heading = f"{self.topology}: node {self._node}, address {self.network.address(self._node)}"
        columns = ("port", "neighbor", "reverse_port", "channel", "address")
        return f"{heading}\n{table([_cells(row, columns) for row in result], columns)}"


def _cells(row: Row, columns: tuple[str, ...]) -> list[str | None]:
    """Return a port's cells; node and channel numbers are names, without thousands separators."""
    return [None if row[name] is None else str(row[name]) for name in columns]
