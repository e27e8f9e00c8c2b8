"""``mpinet play``: make a page that shows a recording step by step."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mpinet.commands.job import Job, Watch
from mpinet.commands.options import Common, File, Recording
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, command
from mpinet.report.files import require_file
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.transport import Local


@command(Common)
def play(
    recording: Recording,
    *,
    output: Annotated[File, Typed("Page to write.", words=("-o",), metavar="FILE.html")],
) -> Result:
    """Make a page of a recording that shows it step by step (collective).

    Returns
    -------
    Result
        command, nodes, steps, movements, calls.
    """
    return perform(play, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check the page's name."""
    output = Path(options.output)
    require_file(output, (".html",), "a page's name")
    return Play(Path(options.recording), output)


class Play(Job):
    """Page made of a recording."""

    def __init__(self, recording: Path, output: Path):
        super().__init__()
        self._recording, self._output = recording, output

    def run(self, transport: Local, watch: Watch) -> Row | None:
        """Read the recording and write the page, on rank 0."""
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
