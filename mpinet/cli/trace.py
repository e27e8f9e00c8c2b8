"""``mpinet trace``: a recording as another program's trace file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mpinet.cli.options import add_common
from mpinet.commands.job import Job, Watch
from mpinet.report.files import require_file
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.transport import Local


def add_options(parser: argparse.ArgumentParser) -> None:
    """The recording, and what it becomes."""
    parser.add_argument("recording", metavar="FILE", help="what --record has written")
    parser.add_argument(
        "--as",
        dest="kind",
        choices=("perfetto", "paje", "csv"),
        default="perfetto",
        help="perfetto: JSON, for Perfetto and Chrome (default); paje: for ViTE; csv: a table",
    )
    parser.add_argument("-o", dest="output", metavar="OUT", required=True, help="the trace file")
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Check the name of the trace file."""
    from mpinet.report.traces import KINDS

    output = Path(options.output)
    require_file(output, KINDS[options.kind].endings, f"a {options.kind} trace")
    return WriteTrace(Path(options.recording), options.kind, output)


class WriteTrace(Job):
    """A recording, written as a trace."""

    def __init__(self, recording: Path, kind: str, output: Path):
        super().__init__()
        self._recording, self._kind, self._output = recording, kind, output

    def run(self, transport: Local, watch: Watch) -> Row | None:
        """Read and write, on rank 0."""
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
