"""``mpinet compare``: networks side by side."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from mpinet.commands.fields import Count, Fields, Range, When
from mpinet.commands.functions import function_of_several
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, Options, Seed, Several, Typed
from mpinet.commands.options import Picture, joined
from mpinet.commands.result import ListResult

NAMED = When("where ``--only`` names them")


class CompareRow(Fields):
    """A network's measures; null where one is left out."""

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
    routers: Annotated[
        Count | None, NAMED, "switches, or all nodes where processors forward messages themselves"
    ]
    ports: Annotated[Count | None, NAMED, "wired ports of routers, those to processors, too"]
    cables: Annotated[Count | None, NAMED, "links between routers; busses"]
    optimum: Annotated[
        Range | None,
        NAMED,
        "fewest steps of a one-port broadcast from 0; the digest leaves out one not known exactly",
    ]
    saturation: Annotated[float | None, NAMED]
    left_out: Annotated[dict[str, str], "reasons by column"]


class CompareResult(ListResult[CompareRow]):
    """Result of ``compare``."""


@dataclass(frozen=True)
class CompareOptions(Options):
    """Put networks side by side: sizes, distances, cuts, costs, steps of collectives (collective).

    Returns
    -------
    Result
        A value is null where it is left out.

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
    """Names of columns, joined by commas, such as ``diameter,bisection``; default: all but what
    building costs (``routers``, ``ports``, ``cables``), ``saturation`` and ``optimum``."""
    effort: Annotated[float, Typed(metavar="SECONDS")] = 0.1
    """Seconds of search for an exact bisection, counted in work, and for the fewest steps of a
    broadcast (``optimum``), on the clock. A bisection, ``connectivity``, ``vertex_transitive`` and
    ``exchange`` are left out where they would take more than 30 times as long, by work counted in
    advance."""
    format: Literal["table", "csv", "latex"] = "table"
    """Format of the printed table."""
    output: Picture = None
    """File that the table is written to, too."""
    seed: Seed = 0


compare = function_of_several(CompareOptions, CompareResult, Common)
