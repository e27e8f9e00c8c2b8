"""``mpinet neighbors``: the ports of one node."""

from __future__ import annotations

import argparse
from typing import Annotated

from mpinet.base.effort import require_walk
from mpinet.commands.fields import Count, Fields
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import Network, topology_of
from mpinet.commands.options import Common, Place
from mpinet.commands.perform import perform
from mpinet.commands.result import ListResult
from mpinet.commands.signature import command
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import table

MOST_LISTED = 2**20


"""Most ports of a node that are listed: some seconds."""


class NeighborRow(Fields):
    """A port of a node."""

    port: Count
    neighbor: Annotated[Count | None, "null where not wired"]
    reverse_port: Count | None
    channel: Count | None
    address: str | None


class NeighborsResult(ListResult[NeighborRow]):
    """Result of ``neighbors``."""


@command(Common)
def neighbors(
    topology: Network,
    node: Place,
) -> NeighborsResult:
    """Tell what is behind the ports of one node.

    Parameters
    ----------
    node : int or str
        Number or address of the node.

    Examples
    --------
    ``mpinet neighbors torus:8x8 0``

    ``mpinet neighbors hypercube:4 0101``

    >>> import mpinet
    >>> [row["neighbor"] for row in mpinet.neighbors("hypercube:3", 5).value]
    [4, 7, 1]
    """
    return perform(neighbors, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find the node."""
    topology = topology_of(options)
    require_walk(topology.ports, f"A node's table of {topology.name}", ranks=1, most=MOST_LISTED)
    return Neighbors(topology, topology.find(str(options.node)))


class Neighbors(Job):
    """All ports of a node, in port order."""

    def __init__(self, topology: Topology, node: int):
        super().__init__()
        self.topology = topology.name
        self._network = topology
        self._node = node

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Ask the rules."""
        return [self._port(port) for port in range(self._network.ports)]

    def _port(self, port: int) -> Row:
        network, node = self._network, self._node
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
        heading = f"{self.topology}: node {self._node}, address {self._network.address(self._node)}"
        columns = ("port", "neighbor", "reverse_port", "channel", "address")
        return f"{heading}\n{table([_cells(row, columns) for row in result], columns)}"


def _cells(row: Row, columns: tuple[str, ...]) -> list[str | None]:
    """A port's cells; numbers of nodes and channels are names, written without separators."""
    return [None if row[name] is None else str(row[name]) for name in columns]
