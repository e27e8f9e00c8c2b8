"""``mpinet trace``: convert a recording to the trace format of another program."""

from __future__ import annotations

from pathlib import Path

from mpinet.commands.job import Job, Watch
from mpinet.commands.trace import TraceOptions
from mpinet.machine.transport import Local
from mpinet.report.files import require_file
from mpinet.report.rows import Row


def prepare(options: TraceOptions) -> Job:
    """Check the name of the trace file, and return the job."""
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
