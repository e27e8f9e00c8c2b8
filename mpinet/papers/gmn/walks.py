"""Walks through G(m,N), extended edge by edge over existing links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mpinet.errors import WiringError
from mpinet.networks import open as open_topology
from mpinet.papers.gmn.grids import parameters
from mpinet.papers.gmn.structure import hop_types


@dataclass
class Walk:
    """Walk that starts at a node."""

    topology: str
    """Topology string of the network."""
    start: int
    """First node of the walk."""
    nodes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._network = open_topology(self.topology)
        self._sector, self._size = parameters(self.topology)
        self._place = {kind: position for position, kind in hop_types(self.topology, 0)}
        self.nodes = [self.start % self._size]

    @property
    def position(self) -> int:
        """Position of the current node in its sector."""
        return self.nodes[-1] % self._sector

    def along(self, edges: int) -> Walk:
        """Extend the walk along the ring, backwards if `edges` is negative."""
        for _ in range(abs(edges)):
            self._go(1 if edges > 0 else -1)
        return self

    def to_hop(self, kind: int) -> Walk:
        """Extend the walk along the ring, within the sector, to the node of a hop type."""
        return self.along(self._place[kind] - self.position)

    def hop(self, kind: int, times: int) -> Walk:
        """Extend the walk by hops of a type, backwards if `times` is negative."""
        for _ in range(abs(times)):
            self._go((1 if times > 0 else -1) * self._sector * 2**kind)
        return self

    def _go(self, jump: int) -> None:
        """Extend the walk by the link with the given jump."""
        node = self.nodes[-1]
        other = (node + jump) % self._size
        # The printed sequences are checked hop by hop. A jump without a link is an error of the
        # reading.
        if other not in self._network.neighbor(node, range(self._network.ports)):
            raise WiringError(f"{self.topology} has no link from {node} to {other}.")
        self.nodes.append(other)


def compare(path: Walk, bypass: Walk, faults: Iterable[int]) -> dict[str, bool | int]:
    """Return whether a bypass has the same end and avoids the faults, and its additional edges.

    The result also states whether the path meets all faults.

    Parameters
    ----------
    path, bypass : Walk
        The part of a path that meets the fault, and its replacement.
    faults : iterable of int
        Nodes that may be dead.
    """
    dead = set(faults)
    return {
        "met by the path": dead <= set(path.nodes),
        "same end": path.nodes[-1] == bypass.nodes[-1],
        "fault avoided": not dead & set(bypass.nodes),
        "edges more": len(bypass.nodes) - len(path.nodes),
    }


def bypassed(edges: int) -> dict[str, bool | int]:
    """Return the comparison that the paper claims for a bypass with this many more edges."""
    return {"met by the path": True, "same end": True, "fault avoided": True, "edges more": edges}
