"""A network as a set of arcs: the possible sends in a step, each with its receiving nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mpinet.networks.adjacency import Adjacency
from mpinet.networks.topology import Topology
from mpinet.programs.buspasses import BusMembers
from mpinet.programs.passes import distances


@dataclass(frozen=True, eq=False)
class BroadcastArcs:
    """Arcs of a one-port broadcast from a root."""

    root: int
    """Root of the broadcast."""
    hosts: int
    """Number of processors; nodes from `hosts` on are switches."""
    links: bool
    """True if an arc is a direction of a link. Otherwise an arc is a member of a bus, and all other
    members receive.
    """
    senders: list[int]
    """Sending node of each arc, ascending."""
    receivers: list[tuple[int, ...]]
    """Receiving nodes of each arc; arcs of one sender are in the order of their receivers."""
    busses: list[int]
    """The bus of each arc; -1 for a link."""
    distance: list[int]
    """Distance of each node from the root, in hops."""

    @classmethod
    def of(cls, topology: Topology, root: int) -> BroadcastArcs:
        """Return the arcs of a whole network."""
        adjacency = Adjacency.of(topology)
        distance = distances(topology, adjacency, root).tolist()
        rows: list[tuple[int, tuple[int, ...], int]] = []
        if topology.links:
            begin, others = adjacency.begin.tolist(), adjacency.others.tolist()
            for node in range(topology.size):
                rows += [(node, (other,), -1) for other in others[begin[node] : begin[node + 1]]]
        else:
            lists = BusMembers.of(topology)
            begin, members = lists.bus_begin.tolist(), lists.members.tolist()
            for bus in range(topology.busses or 0):
                on = members[begin[bus] : begin[bus + 1]]
                # A bus of one member carries no message. Its arc would have no receiver, which no
                # clause expects.
                rows += [(u, tuple(v for v in on if v != u), bus) for u in on if len(on) > 1]
            # The checker numbers the arcs by sender and receivers. The variables of both formulas
            # agree only in the same order.
            rows.sort()
        senders, receivers = [row[0] for row in rows], [row[1] for row in rows]
        busses = [row[2] for row in rows]
        return cls(root, topology.hosts, topology.links, senders, receivers, busses, distance)

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.distance)

    @cached_property
    def by_sender(self) -> list[list[int]]:
        """Outgoing arcs of each node."""
        found: list[list[int]] = [[] for _ in self.distance]
        for arc, sender in enumerate(self.senders):
            found[sender].append(arc)
        return found

    @cached_property
    def by_receiver(self) -> list[list[int]]:
        """Incoming arcs of each node."""
        found: list[list[int]] = [[] for _ in self.distance]
        for arc, nodes in enumerate(self.receivers):
            for node in nodes:
                found[node].append(arc)
        return found
