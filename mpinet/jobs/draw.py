"""``mpinet draw``: draw a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mpinet.commands.draw import DrawOptions
from mpinet.commands.job import Job, NetworkJob, Watch
from mpinet.errors import UsageError
from mpinet.jobs.opening import routing_of, topology_named
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.report.drawing.files import require_picture_file, write_picture
from mpinet.report.drawing.scene import Scene, require_scene, scene, summary
from mpinet.report.rows import Row
from mpinet.report.tables import fields

WIDTHS = (0.5, 50.0)
"""Smallest and largest width of a picture, in inches."""


def prepare(options: DrawOptions) -> Job:
    """Check file name, size of the network and ends of routes, and return the job."""
    from mpinet.programs.traffic import traffic

    topology = topology_named(options.topology)
    if options.output is None and options.is_typed:
        raise UsageError("draw needs a file for the picture: -o FILE.svg (or .pdf, .png, .html).")
    if options.output is not None:
        require_picture_file(Path(options.output))
    if not WIDTHS[0] <= options.size <= WIDTHS[1]:
        raise UsageError(f"--size is {WIDTHS[0]}..{WIDTHS[1]:.0f} inches, not {options.size}.")
    require_scene(topology, options.routes, options.label, options.seed)
    # Traffic and routing are made here only for their error checks. The run makes them again on all
    # ranks.
    if options.loads is not None:
        traffic(topology, options.loads, options.seed)
    if options.routing is not None:
        routing_of(topology, options.routing, options.seed)
    return Draw(topology, options, [_ends(topology, pair) for pair in options.path or ()])


def _ends(topology: Topology, pair: Sequence[int | str]) -> tuple[int, int]:
    """Return the two processors of a route."""
    if isinstance(pair, str) or len(pair) != 2:
        raise UsageError(f"--path takes a source and a target, not {pair!r}.")
    source, target = (topology.find(str(end)) for end in pair)
    for end in (source, target):
        if end >= topology.hosts:
            raise UsageError(
                f"Node {end} of {topology.name} is a switch, which sends no messages of its own."
            )
    return source, target


@dataclass(eq=False, repr=False)
class Draw(NetworkJob):
    """A picture of a network."""

    _options: DrawOptions
    _paths: list[tuple[int, int]]
    _shown: Scene | None = field(default=None, init=False)

    def run(self, transport: Local, watch: Watch) -> Row:
        """Count the link loads, compute the layout, and draw on rank 0."""
        options = self._options
        shown = scene(
            self.network,
            paths=self._paths,
            routes=options.routes,
            load=options.loads,
            routing=options.routing,
            label=options.label,
            seed=options.seed,
        )
        self._shown = shown
        if transport.rank == 0 and options.output is not None:
            write_picture(Path(options.output), shown, options.size)
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
