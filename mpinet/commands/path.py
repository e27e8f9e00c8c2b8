"""``mpinet path``: the way of one message."""

from __future__ import annotations

import argparse
from typing import Annotated

from mpinet.commands.fields import Count
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import Network, routing_of, topology_of
from mpinet.commands.options import Common, Place, RoutingName, Seed
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, command
from mpinet.machine.transport import Local
from mpinet.networks.routing import Routing
from mpinet.networks.routing import path as way
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import table


class PathResult(Result):
    """Result of ``path``."""

    nodes: list[Count]
    ports: list[Count]
    addresses: list[str]
    hops: Count
    header_bits: Count
    routing: str


@command(Common)
def path(
    topology: Network,
    source: Annotated[Place, Typed(metavar="SRC")],
    target: Annotated[Place, Typed(metavar="DST")],
    *,
    routing: RoutingName = None,
    seed: Seed = 0,
) -> PathResult:
    """Tell the way of one message.

    Parameters
    ----------
    source, target : int or str
        Ends of the way: numbers or addresses.
    seed : int
        Seed of routings that draw random numbers.

    Examples
    --------
    ``mpinet path torus:8x8 0 63``

    ``mpinet path hypercube:4 0 15``

    >>> import mpinet
    >>> mpinet.path("hypercube:3", 0, 5).nodes
    [0, 1, 5]
    """
    return perform(path, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find the ends and the routing."""
    topology = topology_of(options)
    source, target = (topology.find(str(end)) for end in (options.source, options.target))
    return Way(topology, routing_of(topology, options.routing, options.seed), source, target)


class Way(Job):
    """Walk of one message: its nodes and ports."""

    def __init__(self, topology: Topology, routing: Routing, source: int, target: int):
        super().__init__()
        self.topology = topology.name
        self._network = topology
        self._routing = routing
        self._ends = source, target

    def run(self, transport: Local, watch: Watch) -> Row:
        """Ask node after node for the next port."""
        nodes, ports = way(self._network, self._routing, *self._ends)
        return {
            "nodes": nodes,
            "ports": ports,
            "addresses": [self._network.address(node) for node in nodes],
            "hops": len(ports),
            "header_bits": self._routing.header_bits(*self._ends),
            "routing": self._routing.name,
        }

    def rows(self, result: Row) -> list[Row]:
        """Return a row per node."""
        whole = {name: result[name] for name in ("hops", "header_bits", "routing")}
        ports = [*result["ports"], None]
        nodes = zip(result["nodes"], result["addresses"], ports, strict=True)
        return [
            whole | {"hop": hop, "node": node, "address": address, "port": port}
            for hop, (node, address, port) in enumerate(nodes)
        ]

    def show(self, result: Row) -> str:
        """Format a line per hop."""
        ports = [*result["ports"], None]
        nodes = map(str, result["nodes"])
        rows = list(zip(nodes, result["addresses"], ports, strict=True))
        heading = (
            f"{self.topology}: {result['hops']} hops by routing {result['routing']}, header of "
            f"{result['header_bits']} bits"
        )
        return f"{heading}\n{table(rows, ('node', 'address', 'leaves by port'))}"
