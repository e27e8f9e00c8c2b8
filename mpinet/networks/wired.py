"""Protocol of a topology's wiring, for modules that `mpinet.networks.topology` imports."""

from __future__ import annotations

from typing import Any, Protocol

from mpinet.base.arrays import Ints


class Wired(Protocol):
    """Protocol of the parts of `Topology` that cycles, classes, tables and routings use."""

    name: str
    size: int
    ports: int
    hosts: int
    params: Ints

    @property
    def links(self) -> bool:
        """True if nodes are joined by links."""

    @property
    def most_wired(self) -> int:
        """Upper bound on the number of wired ports of all nodes together."""

    def port_counts(self, nodes: Ints) -> Ints:
        """Return the number of ports that can be wired, per node."""

    @property
    def neighbor(self) -> Any:
        """Rule `neighbor`, mapped over arrays."""

    @property
    def reverse_port(self) -> Any:
        """Rule `reverse_port`, mapped over arrays."""

    @property
    def channel_order(self) -> Any:
        """Rule `channel_order`, mapped over arrays; None if the family has no such rule."""

    def address(self, node: int) -> str:
        """Return the address of a node."""

    def find(self, text: str) -> int:
        """Return the node with this number or address."""

    def require_node(self, node: int) -> None:
        """Raise `NodeError` unless `node` is a node."""
