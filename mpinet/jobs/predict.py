"""``mpinet predict``: run one rank of many on one process; report its memory and messages."""

from __future__ import annotations

from dataclasses import dataclass

from mpinet.base.plain import plain
from mpinet.commands.job import Job, Watch
from mpinet.commands.options import HostOptions, RecordingOptions
from mpinet.commands.predict import PredictOptions
from mpinet.errors import UsageError
from mpinet.jobs import module_of
from mpinet.machine.transport import Local
from mpinet.report.rows import Row

LASTING = ("memory", "seconds")
"""Fields of the result that vary from run to run."""


def prepare(options: PredictOptions) -> Job:
    """Prepare the command to play, check the rank, and return the job."""
    from mpinet.machine.choice import MEASURED

    if not 0 <= options.rank < options.ranks:
        raise UsageError(
            f"--rank {options.rank} --ranks {options.ranks}: give 1 rank or more, and a rank "
            "between 0 and ranks - 1."
        )
    played = options.played
    if isinstance(played, HostOptions) and played.mapping == MEASURED:
        raise UsageError(
            "--mapping measured does not apply: it needs all ranks, and predict plays one; give "
            "blocks or clusters."
        )
    if isinstance(played, RecordingOptions) and played.record is not None:
        raise UsageError("--record does not apply: predict plays one rank, not the whole run.")
    return Predict(options, module_of(played.command).prepare(played))


@dataclass(eq=False, repr=False)
class Predict(Job):
    """Rehearsal of one rank of a command."""

    _options: PredictOptions
    _job: Job

    def __post_init__(self) -> None:
        self.topology = self._job.topology

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the rank, and measure the memory used, in bytes."""
        from mpinet.bench.footprint import peak
        from mpinet.machine.dry import Dry
        from mpinet.programs.rehearsal.rehearsal import Cluster

        if transport.size > 1:
            raise UsageError("predict runs in one process: start the command without a launcher.")
        options = self._options
        before = peak()
        dry = Dry(options.rank, options.ranks)
        self._job.require_room(dry)
        found = self._job.rehearse(dry)
        self.model = self._job.model
        cluster = Cluster(options.latency * 1e-6, options.bandwidth * 1e9)
        result: Row = plain(found)
        # The seconds below include the computing time.
        result.pop("computing")
        result["memory"] = {"peak": peak(), "before": before}
        result["seconds"] = cluster.seconds(found)
        return result

    def show(self, result: Row) -> str:
        """Format the rank's counts, its memory and the model's seconds."""
        from mpinet.report.tables import fields

        memory, seconds = result["memory"], result["seconds"]
        shown = {name: value for name, value in result.items() if name != "rank"}
        shown["modelled"] = ", ".join(result["modelled"]) or "nothing but the seconds"
        shown["memory"] = f"{memory['peak'] / 2**30:.3g} GiB"
        shown["seconds"] = "  ".join(f"{name} {value:.3g}" for name, value in seconds.items())
        heading = f"rank {result['rank']} of {result['ranks']}: {self._options.predicted}"
        return f"{heading} on {self.topology}\n{fields(shown)}"

    def lasting(self, result: Row) -> Row:
        """Return the rank's counts without this process's memory and time."""
        return {name: value for name, value in result.items() if name not in LASTING}
