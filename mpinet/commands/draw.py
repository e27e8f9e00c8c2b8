"""``mpinet draw``: a picture of a network."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from mpinet.commands.fields import Count, Fields, When
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import Network, routing_of, topology_of
from mpinet.commands.options import Common, Picture, RoutingName, Seed
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, command, is_typed
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.report.drawing.scene import Label, Scene
from mpinet.report.rows import Row
from mpinet.report.tables import fields

WIDTHS = (0.5, 50.0)
"""Least and largest width of a picture, in inches."""


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


@command(Common)
def draw(
    topology: Network,
    *,
    output: Picture = None,
    path: Annotated[
        Sequence[Sequence[int | str]] | None, Typed(metavar=("SRC", "DST"), many=2)
    ] = None,
    routes: Annotated[str | None, Typed(metavar="PATTERN")] = None,
    loads: Annotated[str | None, Typed(metavar="PATTERN")] = None,
    routing: RoutingName = None,
    label: Label = "none",
    size: Annotated[float, Typed(metavar="INCHES")] = 6.0,
    seed: Seed = 0,
) -> DrawResult:
    """Draw a network, with routes and link loads (collective).

    Parameters
    ----------
    output : path, optional
        Picture to write: .svg, .pdf, .png, or .html (a page to move about in). Without one, a
        notebook shows the result as a picture.
    path : sequence of (source, target)
        Route to show, between numbers or addresses; may be given several times.
    routes : str, optional
        Traffic pattern whose pairs' routes are shown.
    loads : str, optional
        Traffic pattern: links are coloured by the messages over them when every pair of it sends
        one, metered by the machine.
    label : {'none', 'number', 'address'}
        Text at the nodes.
    size : float
        Width of the picture in inches.

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
    return perform(draw, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check the file's ending, the size of the network, the ends of routes."""
    from mpinet.programs.traffic import traffic
    from mpinet.report.drawing.files import require_picture_file
    from mpinet.report.drawing.scene import require_scene

    topology = topology_of(options)
    if options.output is None and is_typed(options):
        raise UsageError("draw: say where the picture goes: -o FILE.svg (or .pdf, .png, .html).")
    if options.output is not None:
        options.output = Path(options.output)
        require_picture_file(options.output)
    if not WIDTHS[0] <= options.size <= WIDTHS[1]:
        raise UsageError(
            f"A picture is {WIDTHS[0]}..{WIDTHS[1]:.0f} inches wide, not {options.size}."
        )
    require_scene(topology, options.routes, options.label, options.seed)
    if options.loads is not None:
        traffic(topology, options.loads, options.seed)
    if options.routing is not None:
        routing_of(topology, options.routing, options.seed)
    return Draw(options, topology, [_ends(topology, pair) for pair in options.path or ()])


def _ends(topology: Topology, pair: Sequence[int | str]) -> tuple[int, int]:
    """Return the processors at the ends of a route."""
    if isinstance(pair, str) or len(pair) != 2:
        raise UsageError(f"A path has two ends, a source and a target, not {pair!r}.")
    source, target = (topology.find(str(end)) for end in pair)
    for end in (source, target):
        if end >= topology.hosts:
            raise UsageError(f"Node {end} of {topology.name} is a switch: it sends nothing.")
    return source, target


class Draw(Job):
    """A picture of a network."""

    def __init__(
        self, options: argparse.Namespace, topology: Topology, paths: list[tuple[int, int]]
    ):
        super().__init__()
        self.topology = topology.name
        self._options = options
        self._network = topology
        self._paths = paths
        self._shown: Scene | None = None

    def run(self, transport: Local, watch: Watch) -> Row:
        """Meter the loads, lay out, draw on rank 0."""
        from mpinet.report.drawing.files import write_picture
        from mpinet.report.drawing.scene import scene, summary

        options = self._options
        shown = scene(
            self._network,
            paths=self._paths,
            routes=options.routes,
            load=options.loads,
            routing=options.routing,
            label=options.label,
            seed=options.seed,
        )
        self._shown = shown
        if transport.rank == 0 and options.output is not None:
            write_picture(options.output, shown, options.size)
        return summary(shown)

    def rows(self, result: Row) -> list[Row]:
        """Return one row, with the number of routes."""
        return [result | {"routes": len(result["routes"])}]

    def show(self, result: Row) -> str:
        """Describe the picture."""
        shown = {name: value for name, value in result.items() if name != "busses" or value}
        shown["routes"] = len(result["routes"])
        where = f" in {self._options.output}" if self._options.output is not None else ""
        return f"{self.topology}{where}\n{fields(shown)}"

    def picture(self) -> str:
        """Return the picture as SVG, for a notebook."""
        from mpinet.report.drawing.page import drawing

        return drawing(self._shown, round(self._options.size * 80)) if self._shown else ""
