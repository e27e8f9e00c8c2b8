"""Recordings of runs: the part that was asked for, its file, and the pictures made of it."""

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
from mpinet.commands.optionrecords import CommandLine, Options, with_values
from mpinet.commands.options import RecordingOptions
from mpinet.errors import NodeError, UsageError
from mpinet.machine import Machine
from mpinet.machine import trace as traces
from mpinet.machine.trace import Limits, Trace, too_large
from mpinet.machine.transport import Local, world
from mpinet.networks.topology import Topology
from mpinet.report.files import require_file

if TYPE_CHECKING:
    from mpinet.report.recordings import Recording

RANGE = re.compile(r"([0-9]{1,18})(?:\.\.([0-9]{1,18}))?")


class Recorded:
    """Part of a run that is to be recorded, if any.

    Parameters
    ----------
    options : RecordingOptions
        What to record. On the command line also `draw`, `play` and `trace`: files that show the
        run, which are made of a recording of their own.
    network : Topology
        The machine's network.

    Raises
    ------
    UsageError
        It cannot be written there, or there are no such steps and nodes.
    """

    def __init__(self, options: RecordingOptions, network: Topology):
        self._options = options
        self._network = network
        self._limits: Limits | None = None
        self._path: Path | None = None
        self._views = require_views(options.line, network)
        if options.record is None and not self._views:
            if options.record_steps is not None or options.record_nodes is not None:
                raise UsageError("--record-steps and --record-nodes limit what --record writes.")
            return
        if options.record is not None:
            from mpinet.report.recordings import ENDINGS

            self._path = Path(options.record)
            require_file(self._path, ENDINGS, "a recording's name")
        self._limits = _limits(options.record_steps, options.record_nodes, network.size)

    def begin(self, trace: Trace | None, least: int) -> Trace | None:
        """Return the trace that the machine gets: `trace`, if nothing is to be recorded.

        Parameters
        ----------
        trace : Trace or None
            One that the command wants itself, of all that moves.
        least : int
            Movements that the run has at least.

        Raises
        ------
        TooLarge
            The recording would have too many.
        UsageError
            Both are wanted, and the recording is limited.
        """
        if self._limits is None:
            return trace
        if self._limits.bounded:
            if trace is not None:
                raise UsageError(
                    "--schedule is of the whole run: give it without --record-steps and "
                    "--record-nodes."
                )
            return Trace(self._limits)
        # A recording that grows too large would otherwise stop the run after hours.
        if least > traces.MOST:
            raise too_large(least, "at least ")
        return trace or Trace()

    @property
    def limits(self) -> Limits | None:
        """Limits of the recording; None: nothing is to be recorded."""
        return self._limits

    def write(
        self,
        transport: Local,
        machine: Machine | None,
        model: dict[str, object],
        timed: dict[str, object] | None = None,
    ) -> None:
        """Write the recording, and the files that show it (collective).

        Parameters
        ----------
        transport : Local
            The ranks.
        machine : Machine or None
            The machine, with a trace; None: there is nothing to write.
        model : dict
            Its model.
        timed : dict, optional
            Of a run in time: `steps`, which are units of time, and the `unit`.
        """
        if self._limits is None or machine is None or machine.trace is None:
            return
        from mpinet.report.recordings import write_recording

        options, network = self._options, self._network
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
            **(timed or {}),
        }
        if self._path is not None:
            write_recording(transport, machine.trace, self._path, header)
        if self._views:
            # The file brings the movements of all ranks into one order, which pictures need, also
            # where no recording was asked for.
            with TemporaryDirectory(prefix="mpinet-recording-") as folder:
                file = Path(folder) / "run.npz"
                write_recording(transport, machine.trace, file, header)
                if transport.rank == 0:
                    self._show(file)

    def _show(self, file: Path) -> None:
        """Make of a recording all files that were asked for."""
        from mpinet.report.recordings import read_recording

        recording = read_recording(file)
        for option, path in self._views.items():
            VIEWS[option].write(path, recording, self._network)


@dataclass(frozen=True)
class RecordingView:
    """Kind of file that shows a run."""

    require: Callable[[Path, Topology], None]
    """Refuses a file that cannot be written, or a network that cannot be shown."""
    write: Callable[[Path, Recording, Topology], None]
    """Writes it of a recording."""


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
"""Options of the command line that show a run, whose name is that of a file each."""


def require_views(line: CommandLine, network: Topology) -> dict[str, Path]:
    """Return the files that show the run, by their options.

    Raises
    ------
    UsageError
        One of them cannot be written, or the network is too large for it.
    """
    given = {"draw": line.draw, "play": line.play, "trace": line.trace}
    files = {option: Path(name) for option, name in given.items() if name is not None}
    for option, path in files.items():
        VIEWS[option].require(path, network)
    return files


def recorded_again(given: Options, **views: Path) -> None:
    """Run a command again, and show what it does (collective).

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
            f"The movements of {given.command} are not recorded: there is no picture of its run."
        )
    # The first run has written its recording already. The user may have changed the file since.
    options = with_values(given, {"record": None, **views})
    job, transport = prepared(options), world()
    job.run(transport, lambda *done: None)
    job.keep(transport)


def _limits(steps: str | None, nodes: str | None, size: int) -> Limits:
    """Read ``A..B`` and ``0..15,20``."""
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
        raise NodeError(f"--record-nodes {quoted(nodes)}: there is no node {highest} of {size}.")
    chosen = np.unique(np.concatenate([np.arange(first, last + 1) for first, last in pairs]))
    return Limits(limits.first, limits.last, chosen)
