"""``mpinet show``: describe a network."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, TypeVar

from mpinet.commands.fields import Count, Fields, Hash, Range, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, File, SavedOften, Typed
from mpinet.commands.options import HostOptions
from mpinet.commands.result import Result

T = TypeVar("T")


Measured = Annotated[T, When("with ``--distances``, by flooding the machine,")]


OfHosts = Annotated[T, When("with switches and ``--distances``, over processors only,")]


Sampled = Annotated[T, When("with ``--sample``, over all nodes,")]


class Interval(Fields):
    """Confidence interval of the mean distance, estimated from a sample of nodes."""

    lower: float
    upper: float


class ShowResult(Result):
    """Result of ``show``."""

    size: Count
    ports: Count
    links: Count
    degree_histogram: Annotated[dict[str, Count], "numbers of nodes by degree"]
    capacities: Annotated[
        dict[str, Count], "numbers of links by messages per step", When("with parallel links,")
    ]
    edges_sha256: Hash
    stated: Annotated[dict[str, Any], "values by name"]
    ignored: Annotated[list[str], "parts of the file", When("if a file has more parts")]
    hosts: Annotated[Count, When("with switches")]
    busses: Annotated[Count, When("on busses")]
    incidence_sha256: Annotated[Hash, When("on busses")]
    diameter: Measured[Count]
    distance_sum: Annotated[Measured[Count], "over ordered pairs"]
    average_distance: Measured[float]
    host_diameter: OfHosts[Count]
    host_distance_sum: OfHosts[Count]
    average_host_distance: OfHosts[float]
    diameter_range: Sampled[Range]
    average_estimate: Annotated[Sampled[float], "over ordered pairs from the drawn nodes"]
    average_range: Sampled[Interval]
    confidence: Annotated[Sampled[float], "1 if all pairs are measured"]
    sources: Annotated[Sampled[Count], "drawn nodes"]
    floods: Annotated[Sampled[Count], "one node each"]
    exact: Annotated[Sampled[list[str]], "of diameter, average"]


@dataclass(frozen=True, kw_only=True)
class OneNode:
    """Ports of one node."""

    node: Annotated[
        str | None,
        Typed(
            "Node (number or address): list only the ports of this node; "
            "``mpinet neighbors TOPO NODE``.",
            function="neighbors",
        ),
    ] = None


@dataclass(frozen=True)
class ShowOptions(HostOptions):
    """Describe a network: size, degrees, links (collective).

    Returns
    -------
    Result
        FILE: ``.graphml``, ``.dot``, ``.anynet`` (BookSim), ``.csv``, or lines ``u v`` (``.txt``,
        ``.edges``). With ``--node`` the result of ``neighbors``.

    Examples
    --------
    ``mpinet show torus:8x8 --distances``

    ``mpinet show torus:8x8 --node 3,5``

    >>> import mpinet
    >>> mpinet.show("hypercube:10").links
    5120
    """

    command = "show"
    topology: Network
    _: KW_ONLY
    distances: bool = False
    """Measure distances by floods from all nodes; each rank floods its share on a separate machine,
    and these steps are not counted."""
    sample: int | None = None
    """Number of randomly drawn nodes whose floods estimate the mean distance. At most as many
    further floods narrow the bounds of the diameter. If all nodes are alike, one flood gives exact
    values."""
    exact: bool = False
    """With ``--sample``: flood from further nodes until the diameter is exact."""
    edges: File | None = None
    """File for the links: .graphml, .dot, .anynet (BookSim), .csv, or lines ``u v`` (.txt,
    .edges)."""


show = function_with(ShowOptions, ShowResult, OneNode, SavedOften, Common)
