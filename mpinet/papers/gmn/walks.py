"""Walks through G(m,N), built edge by edge over existing links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from mpinet.errors import WiringError
from mpinet.networks import open as open_topology
from mpinet.papers.gmn.grids import parameters
from mpinet.papers.gmn.structure import hop_types


@dataclass
class Walk:
    """A walk from a node on."""

    topology: str
    """The network."""
    start: int
    """The first node."""
    nodes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._network = open_topology(self.topology)
        self._sector, self._size = parameters(self.topology)
        self._place = {kind: position for position, kind in hop_types(self.topology, 0)}
        self.nodes = [self.start % self._size]

    @property
    def position(self) -> int:
        """Position in the sector."""
        return self.nodes[-1] % self._sector

    def along(self, edges: int) -> Walk:
        """Go along the ring, backwards if negative."""
        for _ in range(abs(edges)):
            self._go(1 if edges > 0 else -1)
        return self

    def to_hop(self, kind: int) -> Walk:
        """Go along the ring, within the sector, to the node of a hop type."""
        return self.along(self._place[kind] - self.position)

    def hop(self, kind: int, times: int) -> Walk:
        """Take hops of a type, backwards if negative."""
        for _ in range(abs(times)):
            self._go((1 if times > 0 else -1) * self._sector * 2**kind)
        return self

    def _go(self, jump: int) -> None:
        """Take the link that jumps so far."""
        node = self.nodes[-1]
        other = (node + jump) % self._size
        # The printed sequences are checked hop by hop: a jump that no link makes is an error of the
        # reading.
        if other not in self._network.neighbor(node, range(self._network.ports)):
            raise WiringError(f"{self.topology} has no link from {node} to {other}.")
        self.nodes.append(other)


def compare(path: Walk, bypass: Walk, faults: Iterable[int]) -> dict[str, bool | int]:
    """Compare a piece of a path with its bypass.

    Parameters
    ----------
    path, bypass : Walk
        The piece of a path that meets the fault, and what it is replaced by.
    faults : iterable of int
        The nodes that may be dead.
    """
    dead = set(faults)
    return {
        "met by the path": dead <= set(path.nodes),
        "same end": path.nodes[-1] == bypass.nodes[-1],
        "fault avoided": not dead & set(bypass.nodes),
        "edges more": len(bypass.nodes) - len(path.nodes),
    }


def bypassed(edges: int) -> dict[str, bool | int]:
    """The comparison that the paper claims for a bypass that takes this many edges more."""
    return {"met by the path": True, "same end": True, "fault avoided": True, "edges more": edges}
