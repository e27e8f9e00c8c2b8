"""``mpinet play``: a recording as a page that shows it step by step."""

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
    """The recording, and the page."""
    parser.add_argument("recording", metavar="FILE", help="what --record has written")
    parser.add_argument("-o", dest="output", metavar="FILE.html", required=True, help="the page")
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Check the page's name."""
    output = Path(options.output)
    require_file(output, (".html",), "a page's name")
    return Play(Path(options.recording), output)


class Play(Job):
    """A recording, made into a page."""

    def __init__(self, recording: Path, output: Path):
        super().__init__()
        self._recording, self._output = recording, output

    def run(self, transport: Local, watch: Watch) -> Row | None:
        """Read and write, on rank 0."""
        from mpinet.report.player import write_page
        from mpinet.report.recordings import read_recording

        if transport.rank:
            return None
        found = read_recording(self._recording)
        write_page(self._output, found)
        header = found.header
        self.topology = header["topology"]
        return {
            "command": header["command"],
            "nodes": header["nodes"],
            "steps": header["steps"],
            "movements": header["moves"],
            "calls": header["calls"],
        }
