"""``mpinet compare``: compare networks in a table."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from mpinet.commands.fields import Count, Fields, Range, When
from mpinet.commands.functions import function_of_several
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, Options, Seed, Several, Typed
from mpinet.commands.options import Picture, joined
from mpinet.commands.result import ListResult

NAMED = When("if named in ``--only``")


class CompareRow(Fields):
    """Measures of a network; null for a measure that was left out."""

    topology: str
    processors: Count
    switches: Count
    links: Count
    degree: Count | None
    diameter: Count | None
    moore: Count | None
    average_distance: float | None
    bisection: Range | None
    connectivity: Count | None
    degree_diameter: Count | None
    links_diameter: Count | None
    traffic_density: float | None
    vertex_transitive: bool | None
    broadcast: Count | None
    gossip: Count | None
    exchange: Count | None
    ascend: Count | None
    routers: Annotated[Count | None, NAMED, "switches, or all nodes if processors forward messages"]
    ports: Annotated[Count | None, NAMED, "wired ports of routers, including ports to processors"]
    cables: Annotated[Count | None, NAMED, "links between routers; busses"]
    optimum: Annotated[
        Range | None,
        NAMED,
        "fewest steps of a one-port broadcast from 0; in the digest only if exact",
    ]
    saturation: Annotated[float | None, NAMED]
    left_out: Annotated[dict[str, str], "reasons by column"]


class CompareResult(ListResult[CompareRow]):
    """Result of ``compare``."""


@dataclass(frozen=True)
class CompareOptions(Options):
    """Compare networks: sizes, distances, cuts, costs, and steps of collectives (collective).

    Returns
    -------
    Result
        A value is null if it was left out.

    Examples
    --------
    ``mpinet compare torus:8x8 hypercube:6 dragonfly:2,4,2``

    ``mpinet compare ring:64 hypercube:6 --only diameter,bisection``

    >>> import mpinet
    >>> [row.diameter for row in mpinet.compare("ring:16", "hypercube:4", only="diameter")]
    [8, 4]
    """

    command = "compare"
    topologies: Network | Several[Network]
    _: KW_ONLY
    only: Annotated[
        str | Several[str] | None,
        Typed(read=str, metavar="COLUMN,..", normal=joined, several="diameter,bisection"),
    ] = None
    """Names of columns, joined by commas, such as ``diameter,bisection``; default: all except
    ``routers``, ``ports``, ``cables``, ``saturation`` and ``optimum``."""
    effort: Annotated[float, Typed(metavar="SECONDS")] = 0.1
    """Seconds of search for the fewest steps of a broadcast (``optimum``), and estimated seconds
    for an exact bisection. A bisection, ``connectivity``, ``vertex_transitive`` or ``exchange`` is
    left out if its estimated work exceeds 30 times this value."""
    format: Literal["table", "csv", "latex"] = "table"
    """Format of the printed table."""
    output: Picture = None
    """File for a copy of the table."""
    seed: Seed = 0


compare = function_of_several(CompareOptions, CompareResult, Common)
