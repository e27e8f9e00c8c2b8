"""``mpinet neighbors``: list the ports of one node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from mpinet.commands.fields import Count, Fields
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, Options
from mpinet.commands.options import Place
from mpinet.commands.result import ListResult


class NeighborRow(Fields):
    """A port of a node."""

    port: Count
    neighbor: Annotated[Count | None, "null where not wired"]
    reverse_port: Count | None
    channel: Count | None
    address: str | None


class NeighborsResult(ListResult[NeighborRow]):
    """Result of ``neighbors``."""


@dataclass(frozen=True)
class NeighborsOptions(Options):
    """List the ports of one node, with the neighbour at each port.

    Examples
    --------
    ``mpinet neighbors torus:8x8 0``

    ``mpinet neighbors hypercube:4 5``

    >>> import mpinet
    >>> [row["neighbor"] for row in mpinet.neighbors("hypercube:3", 5).value]
    [4, 7, 1]
    """

    command = "neighbors"
    topology: Network
    node: Place
    """Number or address of the node."""


neighbors = function_with(NeighborsOptions, NeighborsResult, Common)
