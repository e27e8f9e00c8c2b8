"""``mpinet play``: make a page that shows a recording step by step."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from mpinet.commands.fields import Count
from mpinet.commands.job import Job, Watch
from mpinet.commands.options import Common, File, Numbers, Recording
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, command
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.report.files import require_file
from mpinet.report.rows import Row


class PlayResult(Result):
    """Result of ``play``."""

    command: Any
    nodes: Count
    steps: Count
    movements: Count
    calls: Count


@command(Common)
def play(
    recording: Recording,
    *,
    output: Annotated[File, Typed("Page to write.", words=("-o",), metavar="FILE.html")],
    title: Annotated[str | None, Typed(metavar="TEXT")] = None,
    pause_at: Annotated[Numbers | None, Typed(metavar="STEP,..")] = None,
) -> PlayResult:
    """Make a page of a recording that shows it step by step (collective).

    Parameters
    ----------
    title : str, optional
        Heading of the page; default: what was recorded.
    pause_at : int or sequence of int, optional
        Steps after which playing pauses.

    Examples
    --------
    ``mpinet play run.npz -o run.html``

    ``mpinet broadcast gmn:4,32 --play broadcast.html``
    """
    return perform(play, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check the page's name."""
    output = Path(options.output)
    require_file(output, (".html",), "a page's name")
    given = options.pause_at
    pauses = [given] if isinstance(given, int) else list(given or ())
    return Play(Path(options.recording), output, options.title, pauses)


class Play(Job):
    """Page made of a recording."""

    def __init__(self, recording: Path, output: Path, title: str | None, pauses: Sequence[int]):
        super().__init__()
        self._recording, self._output = recording, output
        self._title, self._pauses = title, pauses

    def run(self, transport: Local, watch: Watch) -> Row | None:
        """Read the recording and write the page, on rank 0."""
        from mpinet.report.player import write_page
        from mpinet.report.recordings import in_steps, read_recording

        if transport.rank:
            return None
        found = in_steps(read_recording(self._recording))
        header = found.header
        for step in self._pauses:
            if not 1 <= step <= header["steps"]:
                raise UsageError(
                    f"--pause-at {step}: the recording has steps 1..{header['steps']}."
                )
        write_page(self._output, found, self._title, self._pauses)
        self.topology = header["topology"]
        return {
            "command": header["command"],
            "nodes": header["nodes"],
            "steps": header["steps"],
            "movements": header["moves"],
            "calls": header["calls"],
        }
