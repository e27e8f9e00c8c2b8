"""``mpinet path``: show the route of one message."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from mpinet.commands.fields import Count
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, Options, Seed, Typed
from mpinet.commands.options import Place, RoutingName
from mpinet.commands.result import Result


class PathResult(Result):
    """Result of ``path``."""

    nodes: list[Count]
    ports: list[Count]
    addresses: list[str]
    hops: Count
    header_bits: Count
    routing: str


@dataclass(frozen=True)
class PathOptions(Options):
    """Show the route of one message.

    Examples
    --------
    ``mpinet path torus:8x8 0 63``

    ``mpinet path hypercube:4 0 15``

    >>> import mpinet
    >>> mpinet.path("hypercube:3", 0, 5).nodes
    [0, 1, 5]
    """

    command = "path"
    topology: Network
    source: Annotated[Place, Typed(metavar="SRC")]
    """Processor that sends: number or address."""
    target: Annotated[Place, Typed(metavar="DST")]
    """Processor that receives: number or address."""
    _: KW_ONLY
    routing: RoutingName = None
    seed: Seed = 0
    """Random seed, for routings that draw random numbers."""


path = function_with(PathOptions, PathResult, Common)
