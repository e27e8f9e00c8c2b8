"""``mpinet draw``: a picture of a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from mpinet.base.choices import Label
from mpinet.commands.fields import Count, Fields, When
from mpinet.commands.functions import function_with
from mpinet.commands.network import Network
from mpinet.commands.optionrecords import Common, Options, Seed, Typed
from mpinet.commands.options import Picture, RoutingName
from mpinet.commands.result import Result


class MostLoaded(Fields):
    """Messages over the busiest link of a picture."""

    max: float


class DrawResult(Result):
    """Result of ``draw``."""

    nodes: Count
    links: Count
    busses: Count
    routes: Annotated[list[list[Count]], "a list of nodes each"]
    load: Annotated[MostLoaded, When("with ``--loads``")]


@dataclass(frozen=True)
class DrawOptions(Options):
    """Draw a network, with routes and link loads (collective).

    Returns
    -------
    Result
        FILE: ``.svg``, ``.pdf``, ``.png`` (extra ``plots``), ``.html``; the same bytes in every
        run.

    Examples
    --------
    ``mpinet draw torus:8x8 -o torus.svg``

    ``mpinet draw gmn:4,32 --path 0 17 -o way.svg``

    >>> import mpinet
    >>> mpinet.draw("torus:4x4").links
    32
    """

    command = "draw"
    topology: Network
    _: KW_ONLY
    output: Picture = None
    """Picture to write: .svg, .pdf, .png, or .html (an interactive page). In a notebook without
    this option, the result is shown as a picture."""
    path: Annotated[Sequence[Sequence[int | str]] | None, Typed(metavar=("SRC", "DST"), many=2)] = (
        None
    )
    """Route to show, between two processors given by number or address; may be given several times.
    """
    routes: Annotated[str | None, Typed(metavar="PATTERN")] = None
    """Traffic pattern whose routes are shown."""
    loads: Annotated[str | None, Typed(metavar="PATTERN")] = None
    """Traffic pattern whose pairs each send one message; links are coloured by the number of
    messages that they carry, counted by the machine."""
    routing: RoutingName = None
    label: Label = "none"
    """Text at the nodes."""
    size: Annotated[float, Typed(metavar="INCHES")] = 6.0
    """Width of the picture in inches."""
    seed: Seed = 0


draw = function_with(DrawOptions, DrawResult, Common)
