"""``mpinet predict``: play one rank of many on one process; tell what it would need and send."""

from __future__ import annotations

import argparse
from typing import Annotated, Any, Literal

from mpinet.base.numerals import quoted
from mpinet.base.plain import plain
from mpinet.commands.fields import Count, Fields
from mpinet.commands.job import Job, Watch
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, command, taken
from mpinet.errors import UsageError
from mpinet.machine.transport import Local
from mpinet.report.rows import Row

LASTING = ("memory", "seconds")
"""Fields of the result that differ from run to run."""


def positive(text: str) -> float:
    """Read a positive number."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ValueError(f"{quoted(text)} is no positive number")
    return number


class Memory(Fields):
    """Bytes of a process: at most, and before the run."""

    peak: Count
    before: Count


class Modelled(Fields):
    """Seconds of a run, by the model."""

    computing: float
    latency: float
    transfer: float
    total: float


class PredictResult(Result):
    """Result of ``predict``."""

    rank: Count
    ranks: Count
    processors: Count
    steps: Count
    messages: Count
    bytes: Count
    all_messages: Count
    all_bytes: Count
    partners: Count
    modelled: list[str]
    memory: Memory
    seconds: Modelled


@command()
def predict(
    predicted: Literal["ascend", "descend", "route", "flood", "broadcast"],
    *,
    ranks: Annotated[int, Typed(metavar="R")],
    rank: Annotated[int, Typed(metavar="r")] = 0,
    latency: Annotated[float, Typed(metavar="US", read=positive)] = 2.0,
    bandwidth: Annotated[float, Typed(metavar="GBS", read=positive)] = 10.0,
    **options: Any,
) -> PredictResult:
    """Predict what one rank of many needs and sends, on one process.

    Parameters
    ----------
    predicted : {'ascend', 'descend', 'route', 'flood', 'broadcast'}
        Command to play; its own options are given besides.
    ranks : int
        Number of ranks.
    rank : int
        Rank to play.
    latency : float
        Latency of an empty message in the model, in microseconds.
    bandwidth : float
        Bandwidth of a rank in the model, in 10^9 bytes per second.

    Examples
    --------
    ``mpinet predict broadcast hypercube:20 --ranks 64``

    ``mpinet predict flood torus:1000x1000 --ranks 8 --rank 3``
    """
    return perform(predict, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Prepare the command itself; check the rank."""
    from mpinet.commands import function_of, module_of
    from mpinet.machine.choice import MEASURED

    if not 0 <= options.rank < options.ranks:
        raise UsageError(
            f"--rank {options.rank} --ranks {options.ranks}: there is one rank or more, numbered "
            "from 0."
        )
    if options.mapping == MEASURED:
        raise UsageError(
            "--mapping measured does not apply: what crosses is counted by all ranks, and predict "
            "plays one; give blocks or clusters."
        )
    if options.record is not None:
        raise UsageError("--record does not apply: a rank alone has no part of the others' run.")
    command = argparse.Namespace(**(vars(options) | {"command": options.predicted}))
    given = taken(function_of(options.predicted), command)
    return Predict(options, module_of(options.predicted).prepare(given))


class Predict(Job):
    """Rehearsal of one rank of a command."""

    def __init__(self, options: argparse.Namespace, job: Job):
        super().__init__()
        self.topology = job.topology
        self._options = options
        self._job = job

    def run(self, transport: Local, watch: Watch) -> Row:
        """Play the rank, and measure the memory that it took, in bytes."""
        from mpinet.bench.footprint import peak
        from mpinet.machine.dry import Dry
        from mpinet.programs.rehearsal import Cluster

        if transport.size > 1:
            raise UsageError("predict plays a rank on one process: run it without a launcher.")
        options = self._options
        before = peak()
        dry = Dry(options.rank, options.ranks)
        self._job.require_room(dry)
        found = self._job.rehearse(dry)
        self.model = self._job.model
        cluster = Cluster(options.latency * 1e-6, options.bandwidth * 1e9)
        result: Row = plain(found)
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
