"""``mpinet route``: route a traffic pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal

from mpinet.commands.fields import Count, Fields, Hash, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, File, SavedOften, Several, Typed, Views
from mpinet.commands.options import FaultWords, MachineOptions, Ports, RoutingName
from mpinet.commands.result import Result


class Latency(Fields):
    """Steps that the delivered messages took; null if no message was delivered."""

    mean: float | None
    p50: Count | None
    p99: Count | None
    max: Count | None


class LinkLoad(Fields):
    """Messages over a link."""

    max: Count
    mean: float


class RouteResult(Result):
    """Result of ``route``."""

    messages: Count
    delivered: Count
    undeliverable: Count
    steps: Count
    hops_total: Count
    hops_max: Count
    latency: Latency
    queue_max: Count
    link_load: LinkLoad | None
    routing: str
    paths_sha256: Annotated[
        Hash, When("with ``--paths``, or ``--paths-out``, which writes the hashed lines,")
    ]


@dataclass(frozen=True, kw_only=True)
class OneMessage:
    """Way of one message."""

    source: Annotated[
        str | None,
        Typed(
            "Processor that sends, by its number or address.",
            words=(),
            metavar="SRC",
            function="path",
        ),
    ] = None
    target: Annotated[
        str | None,
        Typed(
            "Processor that it goes to. With both the way of one message is told, and nothing "
            "runs: ``mpinet path TOPO SRC DST``.",
            words=(),
            metavar="DST",
            function="path",
        ),
    ] = None


@dataclass(frozen=True)
class RouteOptions(MachineOptions):
    """Route a traffic pattern, injected in step 0 (collective).

    Returns
    -------
    Result
        With SRC and DST what ``path`` gives.

    Examples
    --------
    ``mpinet route torus:8x8 --pairs transpose``

    ``mpinet route torus:8x8 0 63``

    >>> import mpinet
    >>> found = mpinet.route("hypercube:4", pairs="complement", mode="ideal")
    >>> found.messages, found.steps, found.latency.mean
    (16, 4, 4.0)
    """

    command = "route"
    topology: Network
    _: KW_ONLY
    pairs: Annotated[
        str | Several[Sequence[Any]],
        Typed(
            words=("--pairs", "--pattern"),
            read=str,
            metavar="PAIRS",
            listed="mpinet.base.choices:PAIRS",
        ),
    ] = "permutation"
    """Traffic pattern, such as ``transpose`` or ``random:100``, or pairs of processors: ``0-1,2-3``
    typed, ``[(0, 1), (2, 3)]`` in Python."""
    routing: RoutingName = None
    mode: Literal["ideal", "queued"] = "queued"
    """Port model that holds (queued), or a hop of every message in every step (ideal)."""
    policy: Literal["oldest", "fifo"] = "oldest"
    """Waiting message that a channel takes first."""
    faults: FaultWords = None
    paths: bool = False
    """Give the sha256 of all paths, too."""
    paths_out: File | None = None
    """File for the lines that ``paths`` hashes."""
    loads: bool | None = None
    """Meter channel loads; default: up to 2^28 ports."""
    ports: Ports = "all"

    @property
    def wants_paths(self) -> bool:
        """True if the paths or their hash are asked for."""
        return self.paths or self.paths_out is not None


route = function_with(RouteOptions, RouteResult, OneMessage, Views, SavedOften, Common)
