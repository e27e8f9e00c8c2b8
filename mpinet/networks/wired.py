"""The wiring of a topology, as the modules below `mpinet.networks.topology` see it."""

from __future__ import annotations

from typing import Any, Protocol

from mpinet.base.arrays import Ints


class Wired(Protocol):
    """A `Topology`, as far as cycles, classes, tables and routings use its wiring."""

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
        """Wired ports that all nodes together have at most."""

    def port_counts(self, nodes: Ints) -> Ints:
        """Ports of some nodes that can be wired."""

    @property
    def neighbor(self) -> Any:
        """The rule `neighbor`, mapped over arrays."""

    @property
    def reverse_port(self) -> Any:
        """The rule `reverse_port`, mapped over arrays."""

    @property
    def channel_order(self) -> Any:
        """The rule `channel_order`, mapped over arrays; None if the family has none."""

    def address(self, node: int) -> str:
        """The address of a node."""

    def find(self, text: str) -> int:
        """The node of this number or address."""

    def require_node(self, node: int) -> None:
        """Raise `NodeError` unless `node` is a node."""
