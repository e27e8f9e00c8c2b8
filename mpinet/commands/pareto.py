"""``mpinet pareto``: schedules that nothing dominates, in steps and rounds, beside textbooks'."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from mpinet.base.files import make_folder, require_folder, write_text
from mpinet.base.units import Unit, byte_time, duration
from mpinet.commands.fields import Count, Fields, Lasting, Positive, When
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import Network, routing_of, topology_of
from mpinet.commands.options import Common, File, OnHosts, Place, Unsaved
from mpinet.commands.perform import perform
from mpinet.commands.plot import ENDINGS
from mpinet.commands.proofs import write_certificate
from mpinet.commands.result import ListResult
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.commands.timing import Time, Timed
from mpinet.commands.tune import draw_times, sizes_of
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import ROOTED, SUMS, Collective
from mpinet.report.drawing.figure import library
from mpinet.report.files import require_file
from mpinet.report.rows import Row
from mpinet.report.tables import table

if TYPE_CHECKING:
    from mpinet.machine.timed.program import Program
    from mpinet.machine.transport import Local
    from mpinet.programs.schedules.timetable import Timetable

TEXTBOOKS = {"gossip": "allgather", "exchange": "alltoall", "reducescatter": "reduce-scatter"}
"""Names of collectives among the textbooks' algorithms, where they are others."""

SEARCH = "search"
"""Name of what the search finds, in place of an algorithm's."""

MOST_HELD = 2**24
"""Chunks times processors of the largest search."""

SIZES = "1kB..1GB"
"""Sizes that are played unless others are asked for."""

PLAIN = 1000
"""Largest denominator of a bound as it is shown."""

COLUMNS = ("step", "sender", "receiver", "chunk")
"""Columns of a schedule that ranks share."""

MOST_HOSTS = 64
"""Most processors of a collective in which all of them send: prices of larger ones take hours."""

MOST_CHUNKS, MOST_STEPS, MOST_SLACK = 2**10, 2**10, 2**10


class ParetoRow(Fields):
    """A schedule: what it takes, and what none of its kind goes below."""

    algorithm: Annotated[str, "search, or a textbook's"]
    chunks: Positive
    steps: Count
    rounds: Count
    rounds_per_chunk: float
    dealt: Annotated[list[Positive], When("of the search"), "rounds of each step"]
    least: Annotated[float, "rounds per chunk that nothing of so few steps goes below"]
    least_by: Annotated[str, "prices, cut, hops or ends"]
    proved: Annotated[bool, "whether none asked for has as few steps and fewer rounds per chunk"]
    steps_ratio: Annotated[float, "steps over the fewest"]
    rounds_ratio: Annotated[float, "rounds per chunk over the fewest of any number of steps"]
    why: str
    times: Annotated[dict[str, Lasting], When("with ``--alpha``"), "by bytes"]
    best: Annotated[list[Positive], When("with ``--alpha``"), "bytes at which none is faster"]


class ParetoResult(ListResult[ParetoRow]):
    """Result of ``pareto``."""


@command(Unsaved, Common)
def pareto(
    collective: Collective,
    topology: Network,
    *,
    root: Place = 0,
    chunks: int = 8,
    steps: int | None = None,
    slack: int | None = None,
    limit: Annotated[float, Typed(metavar="SECONDS")] = 10.0,
    alpha: Annotated[Time | None, Typed(metavar="TIME")] = None,
    beta: Annotated[Time | None, Typed(metavar="TIME")] = None,
    unit: Unit = "ps",
    bytes: Annotated[str | int, Typed(metavar="BYTES[,BYTES..|..BYTES]")] = SIZES,
    plot: File | None = None,
    save: Annotated[str | Path | None, Typed(metavar="FOLDER")] = None,
    **options: Unpack[OnHosts],
) -> ParetoResult:
    """Find the schedules that nothing dominates in steps and rounds, on all ports (collective).

    In a step of r rounds every link carries r chunks; what comes in a step goes on in a later one
    (SCCL's k-synchronous algorithms). The textbooks' algorithms stand beside them.

    Parameters
    ----------
    collective : str
        Collective.
    root : int or str
        Processor where it begins or ends, if it has one.
    chunks : int
        Most chunks of the root, of each processor, or for each pair; of an allreduce N times as
        many are combined.
    steps : int, optional
        Most steps; default: six more than the farthest pair is apart, and twice that of an
        allreduce.
    slack : int, optional
        Most rounds more than steps (SCCL's k); default: any number.
    limit : float
        Seconds of the solvers, for each schedule.
    alpha : int or str, optional
        Time of a step; with ``--beta`` each schedule is played in time, parallel links as one
        thick link.
    beta : int or str, optional
        Time of a byte on a link, or a rate, such as 25GB/s.
    unit : str
        Unit of time.
    bytes : str or int
        Sizes of a processor's longest vector, as of ``tune``, for the times.
    plot : path, optional
        Picture to draw, .pdf, .svg or .png: time over bytes.
    save : path, optional
        Folder for each schedule that was found (``C-S-R.csv``, a step for each round) and, where
        prices bound it, the certificate that its chunks and steps take no fewer rounds
        (``C-S-R.cert``).

    Returns
    -------
    Result
        A row per schedule. The digest leaves out rows that a solver's limit has left open.

    Examples
    --------
    ``mpinet pareto allgather ring:8 --chunks 2``

    ``mpinet pareto allreduce hypercube:3 --alpha 700ns --beta 25GB/s``

    >>> import mpinet
    >>> found = mpinet.pareto("gossip", "ring:8", chunks=2)
    >>> [(row.chunks, row.steps, row.rounds, row.proved) for row in found][0]
    (2, 4, 7, True)
    """
    return perform(pareto, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Read sizes and times, and refuse what cannot be searched."""
    from mpinet.measure.libraries import require_library
    from mpinet.programs.collective import require_processor

    for name in ("highspy", "pysat"):
        require_library(name, extra="optimum")
    topology = topology_of(options)
    rooted = options.collective in ROOTED
    root = topology.find(str(options.root))
    require_processor(topology, root)
    if not rooted and options.root not in (0, "0"):
        raise UsageError(f"--root does not apply: {options.collective} has none.")
    if not topology.links or topology.hosts < 2:
        raise UsageError(f"pareto is for links between processors: {topology.name} has none.")
    if topology.hosts < topology.size and options.collective in SUMS:
        raise UsageError(
            f"{topology.name} has switches, and what is combined is searched without them: take "
            "optimum, or the allgather."
        )
    for name, most in (("chunks", MOST_CHUNKS), ("steps", MOST_STEPS), ("slack", MOST_SLACK)):
        value, first = getattr(options, name), int(name != "slack")
        if value is not None and not first <= value <= most:
            raise UsageError(f"--{name} is a whole number {first}..{most}, not {value}.")
    if not rooted and topology.hosts > MOST_HOSTS:
        raise UsageError(
            f"{topology.name} has {topology.hosts} processors: pareto searches a "
            f"{options.collective} of {MOST_HOSTS} at most; tune and optimum take larger networks."
        )
    held = options.chunks * topology.hosts ** (2 + (options.collective == "exchange"))
    if held > MOST_HELD:
        raise UsageError(
            f"{options.chunks} chunks on {topology.hosts} processors are too many to search: "
            f"--chunks times processors squared is up to {MOST_HELD}."
        )
    if not 0 <= options.limit < float("inf"):
        raise UsageError(f"--limit is a number of seconds, 0 or more, not {options.limit}.")
    if options.save is not None:
        require_folder(Path(options.save), "--save")
    if options.plot is not None:
        require_file(Path(options.plot), ENDINGS, "a plot's file")
        library()
    timed = _timed(options, topology)
    return Pareto(options, topology, root if rooted else None, timed)


def _timed(options: argparse.Namespace, topology: Topology) -> Timed | None:
    """Return thick links and their costs; None where no time is asked for."""
    from mpinet.machine.timed.costs import Costs
    from mpinet.programs.messages.congestion import joined

    if (options.alpha is None) != (options.beta is None):
        raise UsageError("Times take both: --alpha TIME of a step, and --beta TIME of a byte.")
    if options.alpha is None:
        if options.plot is not None:
            raise UsageError("--plot draws times: give --alpha TIME and --beta TIME.")
        if options.bytes != SIZES:
            raise UsageError("--bytes are sizes of what takes time: give --alpha and --beta.")
        return None
    network, widths = joined(topology)
    a_byte = byte_time(options.beta, options.unit)
    latency = duration(options.alpha, options.unit)
    # Every hop is a step: a chunk goes on when it has come.
    times = [a_byte / width for width in widths]
    costs = Costs.exact(latencies=[latency], byte_times=times, mode="store")
    return Timed(network, routing_of(network, None, 0), costs, options.unit)


class Pareto(Job):
    """Search on rank 0; every schedule runs on the machine, and is played in time, by all ranks."""

    unit = "schedules"

    def __init__(
        self, options: argparse.Namespace, topology: Topology, root: int | None, timed: Timed | None
    ):
        super().__init__()
        self.topology, self._network, self._root = topology.name, topology, root
        self._options, self._timed = options, timed
        self._sizes = [] if timed is None else sizes_of(options.bytes)
        self._limited = False

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Search, run and play."""
        found = self._searched(transport)
        rows = []
        for number, (row, schedule) in enumerate(found):
            watch(number, len(found))
            self._run(schedule, transport)
            programs = self._programs(schedule, row["chunks"])
            rows.append(row | self._times(programs, transport))
        rows += self._textbooks(transport)
        for size in map(str, self._sizes):
            fastest = min(row["times"].get(size, np.inf) for row in rows)
            for row in rows:
                if row["times"].get(size) == fastest:
                    row["best"].append(int(size))
        if self._options.plot is not None and transport.rank == 0:
            self.plotted(rows, Path(self._options.plot))
        return rows

    def _searched(self, transport: Local) -> list[tuple[Row, Timetable]]:
        """Search on rank 0; every rank gets the rows, each with its schedule (collective)."""
        from mpinet.measure.optimum.pareto import Asked, frontier
        from mpinet.measure.optimum.pareto import limits as limits_of

        options, found = self._options, []
        asked = Asked(
            self._network, options.collective, self._root, options.chunks, options.steps,
            options.slack, options.limit,
        )  # fmt: skip
        self._fewest, self._ever, self._ever_by = limits_of(asked)
        for point in frontier(asked) if transport.rank == 0 else ():
            row = self._row(SEARCH, point.chunks, point.steps, point.rounds)
            row |= {
                "dealt": [*point.dealt],
                "least": float(point.least.limit_denominator(PLAIN)),
                "least_by": point.by,
                "proved": point.proved,
                "why": f"no {point.steps} steps take fewer than "
                f"{point.least.limit_denominator(PLAIN)} rounds a chunk",
            }
            self._save(point)
            columns = [getattr(point.table, name).tolist() for name in COLUMNS]
            add = None if point.table.add is None else point.table.add.tolist()
            found.append((row, columns, add, point.limited))
        shared = json.loads(transport.share(json.dumps(found).encode()))
        self._limited = any(limited for *_, limited in shared)
        return [(row, self._table(row, columns, add)) for row, columns, add, _ in shared]

    def _table(self, row: Row, columns: list[list[int]], add: list[bool] | None) -> Timetable:
        from mpinet.programs.schedules.timetable import Timetable

        step, sender, receiver, chunk = (np.array(column, np.int64) for column in columns)
        combines = None if add is None else np.array(add, bool)
        return Timetable(
            self._options.collective, self._network.hosts, step, sender, receiver, chunk,
            row["chunks"], self._root, add=combines, ports="all",
        )  # fmt: skip

    def _row(self, algorithm: str, chunks: int, steps: int, rounds: int) -> Row:
        """Return a row without what shows its bound."""
        per_chunk = Fraction(rounds, chunks)
        return {
            "algorithm": algorithm,
            "chunks": chunks,
            "steps": steps,
            "rounds": rounds,
            "rounds_per_chunk": float(per_chunk),
            "least": float(self._ever),
            "least_by": self._ever_by,
            "proved": False,
            "steps_ratio": steps / self._fewest,
            "rounds_ratio": float(per_chunk / self._ever),
        }

    def _save(self, point: Any) -> None:
        """Write a schedule and its certificate where they are wanted."""
        from mpinet.certify.network import Network as Seen
        from mpinet.programs.schedules.timetable import csv_text, with_ports

        if self._options.save is None:
            return
        folder = Path(self._options.save)
        make_folder(folder, "--save")
        name = f"{point.chunks}-{point.steps}-{point.rounds}"
        table = with_ports(self._network, point.table)
        edges = Seen.of(self._network).edges_sha256
        named = replace(table, network=self._network.name, edges_sha256=edges)
        write_text(folder / f"{name}.csv", csv_text(named))
        if point.certificate:
            write_certificate(folder / f"{name}.cert", point.certificate)

    def _run(self, table: Timetable, transport: Local) -> None:
        """Run a schedule on the machine, a step a round (collective)."""
        from mpinet.errors import ConservationError
        from mpinet.machine import Machine
        from mpinet.programs.perform import perform as performed

        found = performed(Machine(self._network, "all", transport), table, self._options.seed)
        if not found.correct:
            raise ConservationError("A schedule of the search does not do what it is for.")

    def _textbooks(self, transport: Local) -> list[Row]:
        """Count and play the textbooks' algorithms (collective)."""
        from mpinet.programs.messages.congestion import counted
        from mpinet.programs.messages.named import made
        from mpinet.programs.messages.textbook import ALGORITHMS

        hosts, collective = self._network.hosts, self._options.collective
        routing = routing_of(self._network, None, 0)
        units = {"gossip": hosts, "reducescatter": hosts, "exchange": hosts**2}.get(collective, 1)
        rows, name = [], TEXTBOOKS.get(collective, collective)
        for algorithm, described in ALGORITHMS.get(name, {}).items():
            try:
                pattern = described.make(hosts).rooted(self._root or 0)
            except UsageError:  # only for powers of two
                continue
            found = counted(pattern, self._network, routing)
            row = self._row(algorithm, pattern.blocks // units, found.steps, found.rounds)
            row["why"] = (
                f"{found.exchanges} exchanges over up to {found.most_hops} hops; link "
                f"{found.link[0]}-{found.link[1]} carries {found.carried} of {found.rounds}"
            )
            programs = (
                made(name, algorithm, size, hosts, root=self._root or 0).program
                for size in self._sizes
            )
            rows.append(row | self._times(programs, transport))
        return rows

    def _programs(self, table: Timetable, chunks: int) -> Iterator[Program]:
        """Yield a schedule as programs of messages, for each size; none through switches."""
        from mpinet.programs.schedules.files.formats import as_program

        if max(table.sender.max(), table.receiver.max()) >= self._network.hosts:
            return
        shared = self._options.collective in (*TEXTBOOKS, "scatter", "gather")
        parts = chunks * (self._network.hosts if shared else 1)
        for size in self._sizes:
            yield as_program(table, -(-size // parts))

    def _times(self, programs: Iterable[Program], transport: Local) -> Row:
        """Play programs of all sizes on the thick links (collective)."""
        from mpinet.commands.replay import played
        from mpinet.machine.timed.ticks import units_of

        if self._timed is None:
            return {}
        times = {}
        for size, program in zip(self._sizes, programs, strict=False):
            found, _ = played(
                self._timed, program, None, self._options, transport, lambda *done: None
            )
            times[str(size)] = units_of(found["time"], self._timed.costs.ticks)
        return {"times": times, "best": []}

    has_curves = True

    def plotted(self, result: list[Row], file: Path) -> None:
        """Draw time over bytes, a curve for each schedule."""
        assert self._timed is not None
        curves = {
            _called(row): {int(size): time for size, time in row["times"].items()} for row in result
        }
        draw_times(curves, f"{self._options.collective} on {self.topology}", self._timed.unit, file)

    def lasting(self, result: list[Row]) -> Any:
        """Return the rows that more time does not change."""
        return [row for row in result if row["proved"] or not self._limited]

    def show(self, result: list[Row]) -> str:
        """Format a line per schedule, and why it is no better."""
        sizes = [f"{size:,} B" for size in self._sizes]
        names = [
            "algorithm", "chunks", "steps", "rounds", "rounds/chunk", "at least", "by", "ratios",
            *sizes, "why",
        ]  # fmt: skip
        lines = []

        def shown(time: float | None) -> str:
            return "-" if time is None or self._timed is None else self._timed.shown(time)

        for row in result:
            ratio = Fraction(row["rounds"], row["chunks"])
            least = Fraction(row["least"]).limit_denominator(PLAIN)
            by = row["least_by"] + (", proved" if row["proved"] else "")
            times = row.get("times", {})
            ratios = f"{row['steps_ratio']:.3g} {row['rounds_ratio']:.3g}"
            lines.append(
                [row["algorithm"], row["chunks"], row["steps"], row["rounds"], str(ratio)]
                + [str(least), by, ratios]
                + [shown(times.get(str(size))) for size in self._sizes]
                + [row["why"]]
            )
        heading = f"{self._options.collective} on {self.topology}, all ports"
        return f"{heading}\n{table(lines, names)}"


def _called(row: Row) -> str:
    """Return the name of a row in a picture."""
    if row["algorithm"] != SEARCH:
        return str(row["algorithm"])
    return f"({row['chunks']}, {row['steps']}, {row['rounds']})"
