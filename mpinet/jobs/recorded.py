"""Recordings of runs: the requested part, its file, and the pictures made from the recording."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from mpinet.base.numerals import quoted
from mpinet.base.version import __version__
from mpinet.commands.network import without_folders
from mpinet.commands.optionrecords import CommandLine, Options, values_of, with_values
from mpinet.commands.options import RecordingOptions
from mpinet.errors import NodeError, UsageError
from mpinet.machine import Machine
from mpinet.machine import trace as traces
from mpinet.machine.trace import Limits, Trace, too_large
from mpinet.machine.transport import Local, world
from mpinet.networks.topology import Topology
from mpinet.report.curves import LONGEST_PART
from mpinet.report.files import require_file

if TYPE_CHECKING:
    from mpinet.report.recordings import Recording

RANGE = re.compile(r"([0-9]{1,18})(?:\.\.([0-9]{1,18}))?")


class Recorded:
    """Requested recording of a run, if any.

    Parameters
    ----------
    options : RecordingOptions
        Part of the run to record. On the command line also `draw`, `play` and `trace`: files that
        show
        the run, made from a separate recording.
    network : Topology
        The machine's network.

    Raises
    ------
    UsageError
        A file cannot be written, or the steps or nodes do not exist.
    """

    def __init__(self, options: RecordingOptions, network: Topology):
        self._options = options
        self._network = network
        self._limits: Limits | None = None
        self._path: Path | None = None
        self._views = require_views(options.line, network)
        if options.record is None and not self._views:
            if options.record_steps is not None or options.record_nodes is not None:
                raise UsageError("--record-steps and --record-nodes apply only with --record.")
            return
        if options.record is not None:
            from mpinet.report.recordings import ENDINGS

            self._path = Path(options.record)
            require_file(self._path, ENDINGS, "a recording's name")
        self._limits = _limits(options.record_steps, options.record_nodes, network.size)

    def begin(self, trace: Trace | None, least: int) -> Trace | None:
        """Return the trace for the machine; without a recording this is `trace`.

        Parameters
        ----------
        trace : Trace or None
            A trace that the command itself needs, of all movements.
        least : int
            Lower bound on the run's movements.

        Raises
        ------
        TooLarge
            The recording would have too many movements.
        UsageError
            The command needs all movements, but the recording is limited.
        """
        if self._limits is None:
            return trace
        if self._limits.bounded:
            if trace is not None:
                raise UsageError(
                    "--schedule needs the whole run: leave out --record-steps and --record-nodes."
                )
            return Trace(self._limits)
        # Otherwise a recording that grows too large would stop the run after hours.
        if least > traces.MOST:
            raise too_large(least, "at least ")
        return trace or Trace()

    @property
    def limits(self) -> Limits | None:
        """Limits of the recording; None without a recording."""
        return self._limits

    def write(
        self,
        transport: Local,
        machine: Machine | None,
        model: dict[str, object],
        timed: dict[str, object] | None = None,
    ) -> None:
        """Write the recording, and the files that show the run (collective).

        Parameters
        ----------
        transport : Local
            The ranks.
        machine : Machine or None
            The machine, with a trace; None: there is nothing to write.
        model : dict
            The port model.
        timed : dict, optional
            For a timed run: `steps`, counted in time units, and the `unit`.
        """
        if self._limits is None or machine is None or machine.trace is None:
            return
        from mpinet.report.recordings import write_recording

        options, network = self._options, self._network
        pattern = str(values_of(options).get("pairs") or "")
        header = {
            "mpinet": __version__,
            "command": options.command,
            "topology": without_folders(network.name),
            "nodes": network.size,
            "hosts": network.hosts,
            "ports": network.ports,
            "model": model,
            "seed": options.seed,
            "steps": machine.steps + machine.trace.idle,
            "recorded": {"steps": options.record_steps, "nodes": options.record_nodes},
            **({"pattern": pattern} if 0 < len(pattern) <= LONGEST_PART else {}),
            **(timed or {}),
        }
        if self._path is not None:
            write_recording(transport, machine.trace, self._path, header)
        if self._views:
            # The file sorts the movements of all ranks into one order. Pictures need this order
            # even without a requested recording.
            with TemporaryDirectory(prefix="mpinet-recording-") as folder:
                file = Path(folder) / "run.npz"
                write_recording(transport, machine.trace, file, header)
                if transport.rank == 0:
                    self._show(file)

    def _show(self, file: Path) -> None:
        """Make all requested files from a recording."""
        from mpinet.report.recordings import read_recording

        recording = read_recording(file)
        for option, path in self._views.items():
            VIEWS[option].write(path, recording, self._network)


@dataclass(frozen=True)
class RecordingView:
    """Kind of file that shows a run."""

    require: Callable[[Path, Topology], None]
    """Raises an error for an unwritable file, or for a network that cannot be shown."""
    write: Callable[[Path, Recording, Topology], None]
    """Writes the file from a recording."""


def _require_drawing(path: Path, network: Topology) -> None:
    from mpinet.report.drawing.files import require_picture_file
    from mpinet.report.drawing.scene import require_scene

    require_picture_file(path)
    require_scene(network, None, "none")


def _draw(path: Path, recording: Recording, network: Topology) -> None:
    from mpinet.report.drawing.moves import write_run

    write_run(path, recording, network)


def _require_page(path: Path, network: Topology) -> None:
    require_file(path, (".html",), "a page's name")


def _play(path: Path, recording: Recording, network: Topology) -> None:
    from mpinet.report.player import write_page

    write_page(path, recording)


def _require_trace(path: Path, network: Topology) -> None:
    from mpinet.report.traces import KINDS

    endings = [ending for kind in KINDS.values() for ending in kind.endings]
    require_file(path, endings, "a trace's name")


def _trace(path: Path, recording: Recording, network: Topology) -> None:
    from mpinet.report.traces import KINDS, write_trace

    kind = next(name for name, kind in KINDS.items() if path.suffix.lower() in kind.endings)
    write_trace(recording, kind, path)


VIEWS = {
    "draw": RecordingView(_require_drawing, _draw),
    "play": RecordingView(_require_page, _play),
    "trace": RecordingView(_require_trace, _trace),
}
"""Options of the command line that name files to show a run, with the kind of each."""


def require_views(line: CommandLine, network: Topology) -> dict[str, Path]:
    """Return the files to show the run, by option name.

    Raises
    ------
    UsageError
        A file cannot be written, or the network is too large for the file.
    """
    given = {"draw": line.draw, "play": line.play, "trace": line.trace}
    files = {option: Path(name) for option, name in given.items() if name is not None}
    for option, path in files.items():
        VIEWS[option].require(path, network)
    return files


def recorded_again(given: Options, **views: Path) -> None:
    """Run a command again, and write files that show the run (collective).

    Parameters
    ----------
    given : Options
        The command's options.
    **views : Path
        Files by their names in `VIEWS`.

    Raises
    ------
    UsageError
        The command runs no machine, or a file cannot be made.
    """
    from mpinet.jobs.perform import prepared

    if not isinstance(given, RecordingOptions):
        raise UsageError(
            f"{given.command} records no movements, so there is no picture of the run."
        )
    # The first run has already written its recording, which the user may have changed since.
    options = with_values(given, {"record": None, **views})
    job, transport = prepared(options), world()
    job.run(transport, lambda *done: None)
    job.keep(transport)


def _limits(steps: str | None, nodes: str | None, size: int) -> Limits:
    """Read the limits of a recording: steps ``A..B`` and nodes ``0..15,20``."""
    import numpy as np

    limits = Limits()
    if steps is not None:
        found = RANGE.fullmatch(steps)
        if found is None or found[2] is None or not 1 <= int(found[1]) <= int(found[2]):
            raise UsageError(f"--record-steps: give A..B with 1 <= A <= B, not {quoted(steps)}.")
        limits = Limits(int(found[1]), int(found[2]))
    if nodes is None:
        return limits
    parts = [RANGE.fullmatch(word) for word in nodes.split(",")]
    pairs = [(int(part[1]), int(part[2] or part[1])) for part in parts if part is not None]
    if len(pairs) < len(parts) or any(first > last for first, last in pairs):
        raise UsageError(
            f"--record-nodes: give numbers and ranges, as in 0..15,20, not {quoted(nodes)}."
        )
    highest = max(last for _, last in pairs)
    if highest >= size:
        raise NodeError(f"--record-nodes {quoted(nodes)}: node {highest} is not in 0..{size - 1}.")
    chosen = np.unique(np.concatenate([np.arange(first, last + 1) for first, last in pairs]))
    return Limits(limits.first, limits.last, chosen)
