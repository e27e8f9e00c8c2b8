"""``mpinet pareto``: find Pareto-optimal schedules in steps and rounds, compared with textbooks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpinet.base.deadline import deadline
from mpinet.base.files import make_folder, require_folder, write_text
from mpinet.base.units import byte_time, duration
from mpinet.commands.job import Job, NetworkJob, Watch
from mpinet.commands.pareto import SIZES, ParetoOptions
from mpinet.errors import ConservationError, UsageError
from mpinet.jobs.opening import routing_of, topology_named
from mpinet.jobs.proofs import write_certificate
from mpinet.jobs.timing import Timed
from mpinet.jobs.tune import draw_times, sizes_of
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import ROOTED, SUMS
from mpinet.report.drawing.figure import library
from mpinet.report.files import PLOTS, require_file
from mpinet.report.rows import Row
from mpinet.report.tables import table

if TYPE_CHECKING:
    from mpinet.machine.timed.program import Program
    from mpinet.machine.transport import Local
    from mpinet.programs.schedules.timetable import Timetable

TEXTBOOKS = {"gossip": "allgather", "exchange": "alltoall", "reducescatter": "reduce-scatter"}
"""Names of collectives in the textbooks, where they differ from mpinet's."""


SEARCH = "search"
"""Algorithm name of the search's schedules."""


MOST_HELD = 2**24
"""Chunks times processors of the largest search."""


PLAIN = 1000
"""Largest denominator of a printed bound."""


MOST_HOSTS = 64
"""Largest number of processors of a collective without a root, because prices of larger ones take
hours."""


MOST_CHUNKS, MOST_STEPS, MOST_SLACK = 2**10, 2**10, 2**10


def prepare(options: ParetoOptions) -> Job:
    """Read sizes and times; raise an error if the collective cannot be searched."""
    from mpinet.measure.libraries import require_library
    from mpinet.programs.collective import require_processor

    for name in ("highspy", "pysat"):
        require_library(name, extra="optimum")
    topology = topology_named(options.topology)
    rooted = options.collective in ROOTED
    root = topology.find(str(options.root))
    require_processor(topology, root)
    if not rooted and options.root not in (0, "0"):
        raise UsageError(f"--root does not apply: {options.collective} has no root.")
    if not topology.links or topology.hosts < 2:
        raise UsageError(f"pareto needs two processors or more with links, unlike {topology.name}.")
    if topology.hosts < topology.size and options.collective in SUMS:
        raise UsageError(
            "pareto searches reductions only on networks without switches, unlike "
            f"{topology.name}: use optimum, or the allgather."
        )
    for name, value, first, most in (
        ("chunks", options.chunks, 1, MOST_CHUNKS),
        ("steps", options.steps, 1, MOST_STEPS),
        ("slack", options.slack, 0, MOST_SLACK),
    ):
        if value is not None and not first <= value <= most:
            raise UsageError(f"--{name} is a whole number {first}..{most}, not {value}.")
    if not rooted and topology.hosts > MOST_HOSTS:
        raise UsageError(
            f"pareto searches a {options.collective} on at most {MOST_HOSTS} processors, not the "
            f"{topology.hosts} of {topology.name}: tune and optimum take larger networks."
        )
    held = options.chunks * topology.hosts ** (2 + (options.collective == "exchange"))
    if held > MOST_HELD:
        raise UsageError(
            f"{options.chunks} chunks on {topology.hosts} processors are too many: --chunks times "
            f"processors squared is at most {MOST_HELD}."
        )
    if not 0 <= options.limit < float("inf"):
        raise UsageError(f"--limit is a number of seconds, 0 or more, not {options.limit}.")
    if options.save is not None:
        require_folder(Path(options.save), "--save")
    if options.plot is not None:
        require_file(Path(options.plot), PLOTS, "a plot's file")
        library()
    timed = _timed(options, topology)
    return Pareto(topology, options, root if rooted else None, timed)


def _timed(options: ParetoOptions, topology: Topology) -> Timed | None:
    """Return the network and its costs for timed runs; None without --alpha and --beta.

    Parallel links of the network are merged to one faster link.
    """
    from mpinet.machine.timed.costs import Costs
    from mpinet.programs.messages.congestion import joined

    if (options.alpha is None) != (options.beta is None):
        raise UsageError("Times need both --alpha TIME per step and --beta TIME per byte.")
    if options.alpha is None or options.beta is None:
        if options.plot is not None:
            raise UsageError("--plot needs times: give --alpha TIME and --beta TIME.")
        if options.bytes != SIZES:
            raise UsageError("--bytes needs times: give --alpha and --beta.")
        return None
    network, widths = joined(topology)
    a_byte = byte_time(options.beta, options.unit)
    latency = duration(options.alpha, options.unit)
    # Every hop is a step: a chunk must arrive completely before it is sent on.
    times = [a_byte / width for width in widths]
    costs = Costs.exact(latencies=[latency], byte_times=times, mode="store")
    return Timed(network, routing_of(network, None, 0), costs, options.unit)


@dataclass(eq=False, repr=False)
class Pareto(NetworkJob):
    """Search on rank 0; all ranks run each schedule on the machine, and play it in time."""

    unit = "schedules"

    _options: ParetoOptions
    _root: int | None
    _timed: Timed | None
    _limited: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.time_unit = None if self._timed is None else self._timed.unit
        self._sizes = [] if self._timed is None else sizes_of(self._options.bytes)

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Search, run the schedules, and play them in time."""
        found = self._searched(transport, watch)
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

    def _searched(self, transport: Local, watch: Watch) -> list[tuple[Row, Timetable]]:
        """Search on rank 0; return on every rank the rows with their schedules (collective)."""
        from mpinet.measure.optimum.pareto import FrontierProblem, frontier
        from mpinet.measure.optimum.pareto import limits as limits_of
        from mpinet.programs.schedules.timetable import table_columns, table_of

        options, found = self._options, list[tuple[Any, ...]]()
        asked = FrontierProblem(
            self.network, options.collective, self._root, options.chunks, options.steps,
            options.slack, options.limit,
            lambda schedule: watch(len(found), None, None, schedule),
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
            found.append((row, table_columns(point.table), point.limited))
        is_late = deadline().is_near
        shared, is_late = json.loads(transport.share(json.dumps([found, is_late]).encode()))
        self._limited = is_late or any(limited for *_, limited in shared)
        return [(row, table_of(columns)) for row, columns, _ in shared]

    def _row(self, algorithm: str, chunks: int, steps: int, rounds: int) -> Row:
        """Return a row without its lower bound."""
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
        """Write a schedule and its certificate, if requested."""
        from mpinet.certify.network import Network as Seen
        from mpinet.programs.schedules.timetable import csv_text, with_ports

        if self._options.save is None:
            return
        folder = Path(self._options.save)
        make_folder(folder, "--save")
        name = f"{point.chunks}-{point.steps}-{point.rounds}"
        table = with_ports(self.network, point.table)
        edges = Seen.of(self.network).edges_sha256
        named = replace(table, network=self.network.name, edges_sha256=edges)
        write_text(folder / f"{name}.csv", csv_text(named))
        if point.certificate:
            write_certificate(folder / f"{name}.cert", point.certificate)

    def _run(self, table: Timetable, transport: Local) -> None:
        """Run a schedule on the machine, one step per round (collective)."""
        from mpinet.machine import Machine
        from mpinet.programs.playing import perform as performed

        found = performed(Machine(self.network, "all", transport), table, self._options.seed)
        if not found.correct:
            raise ConservationError("A schedule of the search does not perform its collective.")

    def _textbooks(self, transport: Local) -> list[Row]:
        """Count and play the textbook algorithms (collective)."""
        from mpinet.programs.messages.congestion import counted
        from mpinet.programs.messages.named import made
        from mpinet.programs.messages.textbook import ALGORITHMS

        hosts, collective = self.network.hosts, self._options.collective
        routing = routing_of(self.network, None, 0)
        units = {"gossip": hosts, "reducescatter": hosts, "exchange": hosts**2}.get(collective, 1)
        rows, name = [], TEXTBOOKS.get(collective, collective)
        for algorithm, described in ALGORITHMS.get(name, {}).items():
            try:
                pattern = described.make(hosts).rooted(self._root or 0)
            except UsageError:  # needs a power of two
                continue
            found = counted(pattern, self.network, routing)
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
        """Yield a schedule as a program of messages for each size; none with switches."""
        from mpinet.programs.schedules.files.formats import as_program

        if max(table.sender.max(), table.receiver.max()) >= self.network.hosts:
            return
        shared = self._options.collective in (*TEXTBOOKS, "scatter", "gather")
        parts = chunks * (self.network.hosts if shared else 1)
        for size in self._sizes:
            yield as_program(table, -(-size // parts))

    def _times(self, programs: Iterable[Program], transport: Local) -> Row:
        """Play programs of all sizes on the merged links (collective)."""
        from mpinet.jobs.replay import played
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
        """Return the rows that more time would not change."""
        return [row for row in result if row["proved"] or not self._limited]

    def remarks(self, result: list[Row]) -> list[str]:
        """Return a remark if the search has found no schedule."""
        if any(row["algorithm"] == SEARCH for row in result):
            return []
        return ["No schedule in the given time: give a larger --limit or --time-limit."]

    def show(self, result: list[Row]) -> str:
        """Format one line per schedule, with the reason of its bound."""
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
