"""``mpinet trace``: write a recording as another program's trace file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Annotated, Any, Literal

from mpinet.commands.fields import Count
from mpinet.commands.job import Job, Watch
from mpinet.commands.options import Common, File, Recording
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, command
from mpinet.machine.transport import Local
from mpinet.report.files import require_file
from mpinet.report.rows import Row

Kind = Literal["perfetto", "paje", "csv"]
"""Kinds of trace files."""


class TraceResult(Result):
    """Result of ``trace``."""

    format: Kind
    command: Any
    steps: Count
    movements: Count
    calls: Count


@command(Common)
def trace(
    recording: Recording,
    *,
    kind: Annotated[Kind, Typed(words=("--as",))] = "perfetto",
    output: Annotated[File, Typed("Trace file to write.", words=("-o",), metavar="OUT")],
) -> TraceResult:
    """Write a recording as a trace of Perfetto, Paje or CSV (collective).

    Parameters
    ----------
    kind : {'perfetto', 'paje', 'csv'}
        Format of the trace: JSON for Perfetto and Chrome, Paje for ViTE, or a table.

    Returns
    -------
    Result
        FILE is what ``--record`` has written.

    Examples
    --------
    ``mpinet trace run.npz -o run.json``

    ``mpinet route torus:8x8 --trace route.json``
    """
    return perform(trace, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check the name of the trace file."""
    from mpinet.report.traces import KINDS

    output = Path(options.output)
    require_file(output, KINDS[options.kind].endings, f"a {options.kind} trace")
    return WriteTrace(Path(options.recording), options.kind, output)


class WriteTrace(Job):
    """Export of a recording as a trace."""

    def __init__(self, recording: Path, kind: str, output: Path):
        super().__init__()
        self._recording, self._kind, self._output = recording, kind, output

    def run(self, transport: Local, watch: Watch) -> Row | None:
        """Read the recording and write the trace, on rank 0."""
        from mpinet.report.recordings import read_recording
        from mpinet.report.traces import write_trace

        if transport.rank:
            return None
        found = read_recording(self._recording)
        write_trace(found, self._kind, self._output)
        header = found.header
        self.topology = header["topology"]
        return {
            "format": self._kind,
            "command": header["command"],
            "steps": header["steps"],
            "movements": header["moves"],
            "calls": header["calls"],
        }
