"""``mpinet route``: route a traffic pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, Literal

from mpinet.commands.fields import Count, Fields, Hash, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, File, In, SavedOften, Several, Typed, Views
from mpinet.commands.options import FaultWords, MachineOptions, Ports, RoutingName
from mpinet.commands.result import Result


class Latency(Fields):
    """Latency in steps of the delivered messages; null if no message was delivered."""

    mean: float | None
    p50: Count | None
    p99: Count | None
    max: Count | None


class LinkLoad(Fields):
    """Number of messages on a link."""

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
    """Route of one message."""

    source: Annotated[
        str | None,
        Typed(
            "Sending processor: number or address.",
            words=(),
            metavar="SRC",
            function="path",
        ),
    ] = None
    target: Annotated[
        str | None,
        Typed(
            "Receiving processor. With SRC and DST the command only shows the route of one "
            "message: ``mpinet path TOPO SRC DST``.",
            words=(),
            metavar="DST",
            function="path",
        ),
    ] = None


@dataclass(frozen=True)
class RouteOptions(MachineOptions):
    """Route the messages of a traffic pattern, all injected in step 0 (collective).

    Returns
    -------
    Result
        With SRC and DST the result of ``path``.

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
        In.TRAFFIC,
    ] = "permutation"
    """Traffic pattern, such as ``transpose`` or ``random:100``, or pairs of processors: ``0-1,2-3``
    (in Python ``[(0, 1), (2, 3)]``)."""
    routing: RoutingName = None
    mode: Annotated[Literal["ideal", "queued"], In.TRAFFIC] = "queued"
    """Contention: messages queue for ports and links (queued), or every message moves in every step
    (ideal)."""
    policy: Annotated[Literal["oldest", "fifo"], In.TRAFFIC] = "oldest"
    """Waiting message that a link takes first: the oldest, or the first in the queue (fifo)."""
    arbitration: Annotated[Literal["order", "roundrobin", "token", "backoff"], In.TRAFFIC] = "order"
    """Choice of a bus's next sender: the lowest message number (order), or a protocol of the bus's
    members."""
    faults: FaultWords = None
    paths: Annotated[bool, In.OUTPUT] = False
    """Report the SHA-256 of all paths."""
    paths_out: Annotated[File | None, In.OUTPUT] = None
    """File for the lines of all paths, whose SHA-256 ``--paths`` reports."""
    loads: Annotated[bool | None, In.OUTPUT] = None
    """Count messages per channel; default: only up to 2^28 ports."""
    ports: Ports = "all"

    @property
    def wants_paths(self) -> bool:
        """True if the paths or their hash are requested."""
        return self.paths or self.paths_out is not None


route = function_with(RouteOptions, RouteResult, OneMessage, Views, SavedOften, Common)
