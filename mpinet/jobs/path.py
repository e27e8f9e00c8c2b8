"""``mpinet path``: show the route of one message."""

from __future__ import annotations

from dataclasses import dataclass

from mpinet.commands.job import Job, NetworkJob, Watch
from mpinet.commands.path import PathOptions
from mpinet.jobs.opening import routing_of, topology_named
from mpinet.machine.transport import Local
from mpinet.networks.routing import Routing
from mpinet.networks.routing import path as way
from mpinet.report.rows import Row
from mpinet.report.tables import table


def prepare(options: PathOptions) -> Job:
    """Find the two processors and the routing, and return the job."""
    topology = topology_named(options.topology)
    ends = topology.find(str(options.source)), topology.find(str(options.target))
    return Way(topology, routing_of(topology, options.routing, options.seed), ends)


@dataclass(eq=False, repr=False)
class Way(NetworkJob):
    """Route of one message: its nodes and ports."""

    _routing: Routing
    _ends: tuple[int, int]

    def run(self, transport: Local, watch: Watch) -> Row:
        """Follow the routing from node to node, and return the route."""
        nodes, ports = way(self.network, self._routing, *self._ends)
        return {
            "nodes": nodes,
            "ports": ports,
            "addresses": [self.network.address(node) for node in nodes],
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
