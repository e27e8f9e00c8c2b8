"""``mpinet play``: make an HTML page that plays a recording step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mpinet.commands.job import Job, Watch
from mpinet.commands.play import PlayOptions
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.report.files import require_file
from mpinet.report.rows import Row


def prepare(options: PlayOptions) -> Job:
    """Check the file name of the page, and return the job."""
    output = Path(options.output)
    require_file(output, (".html",), "a page's name")
    given = options.pause_at
    pauses = [given] if isinstance(given, int) else list(given or ())
    return PlayJob(Path(options.recording), output, options.title, pauses)


@dataclass(eq=False, repr=False)
class PlayJob(Job):
    """HTML page of a recording."""

    _recording: Path
    _output: Path
    _title: str | None
    _pauses: Sequence[int]

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
