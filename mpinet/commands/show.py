"""``mpinet show``: tell what a network is."""

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


OfHosts = Annotated[T, When("with switches and ``--distances``, over the processors alone,")]


Sampled = Annotated[T, When("with ``--sample``, over all nodes,")]


class Interval(Fields):
    """Interval in which the mean of all distances is with a confidence, by nodes drawn."""

    lower: float
    upper: float


class ShowResult(Result):
    """Result of ``show``."""

    size: Count
    ports: Count
    links: Count
    degree_histogram: Annotated[dict[str, Count], "numbers of nodes by degree"]
    capacities: Annotated[
        dict[str, Count], "numbers of links by messages a step", When("with parallel links,")
    ]
    edges_sha256: Hash
    stated: Annotated[dict[str, Any], "values by name"]
    ignored: Annotated[list[str], "parts of the file", When("where a file says more")]
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
    average_estimate: Annotated[Sampled[float], "over ordered pairs from the nodes drawn"]
    average_range: Sampled[Interval]
    confidence: Annotated[Sampled[float], "1 where all pairs count"]
    sources: Annotated[Sampled[Count], "nodes drawn"]
    floods: Annotated[Sampled[Count], "one node each"]
    exact: Annotated[Sampled[list[str]], "of diameter, average"]


@dataclass(frozen=True, kw_only=True)
class OneNode:
    """Ports of one node."""

    node: Annotated[
        str | None,
        Typed(
            "Node, by its number or address, whose ports alone are told: "
            "``mpinet neighbors TOPO NODE``.",
            function="neighbors",
        ),
    ] = None


@dataclass(frozen=True)
class ShowOptions(HostOptions):
    """Tell what a network is: size, degrees, links (collective).

    Returns
    -------
    Result
        FILE: ``.graphml``, ``.dot``, ``.anynet`` (BookSim), ``.csv``, or lines ``u v`` (``.txt``,
        ``.edges``). With ``--node`` what ``neighbors`` gives.

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
    """Measure distances by floods from all nodes: each rank makes its share of them on a machine of
    its own, and their steps count nowhere."""
    sample: int | None = None
    """Nodes to draw by the seed, whose floods estimate the mean distance; at most as many other
    nodes flood to bring the bounds of the diameter together. Where all nodes are alike, one flood
    tells both exactly."""
    exact: bool = False
    """Let nodes flood until the diameter is exact, in ``--sample``."""
    edges: File | None = None
    """File for the links: .graphml, .dot, .anynet (BookSim), .csv, or lines ``u v`` (.txt,
    .edges)."""


show = function_with(ShowOptions, ShowResult, OneNode, SavedOften, Common)
