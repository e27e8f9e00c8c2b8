"""``mpinet sweep``: run a command for all combinations of option values in a plan file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from mpinet.base.files import is_aside, make_folder, read_text, require_folder_above, write_text
from mpinet.base.launched import launched_ranks
from mpinet.base.numerals import is_whole, quoted
from mpinet.base.version import __version__
from mpinet.commands import function_of
from mpinet.commands.job import Job, Watch
from mpinet.commands.optionrecords import Options, values_of
from mpinet.commands.result import Result
from mpinet.commands.signature import given
from mpinet.commands.sweep import SweepOptions
from mpinet.errors import FileError, MpinetError, UsageError
from mpinet.experiments.plan import Point, key_of, points_of, read_plan
from mpinet.jobs.perform import carried_out, prepared
from mpinet.jobs.plot import TABLE, table_of
from mpinet.machine.transport import Local
from mpinet.report.files import as_csv, as_json
from mpinet.report.rows import Row, identified

if TYPE_CHECKING:
    from mpinet.experiments.dealing import Dealt
    from mpinet.experiments.journal import Journal

MARK = "sweep.json"
"""Name of the file that marks a sweep's folder."""


FORM = {"sweep": 1}
"""Content of this file: the version of the folder's format."""


NO_RUNS = {
    *("sweep", "plot", "check", "certify", "trace", "play", "verify", "reproduce", "resume"),
    *("predict", "bench", "launch", "template", "doctor", "demo"),
}
"""Commands whose runs are not experiments."""


UNKEPT = ("ranks",)
"""Columns that may differ between equal runs."""


@dataclass(frozen=True)
class PointRun:
    """A point of the plan, with its command and options."""

    point: Point
    """Point of the plan."""
    function: Callable[..., Result]
    """The command's function."""
    options: Options
    """All options of the run."""
    key: str
    """Hash of the point."""


def prepare(options: SweepOptions) -> Job:
    """Read the plan, and prepare each point once (not for each seed) to find errors."""
    plan = options.plan if isinstance(options.plan, Mapping) else read_plan(Path(options.plan))
    table, shard = table_of(plan), _shard(options.shard)
    folder = None if options.folder is None else Path(options.folder)
    if folder is not None:
        require_folder(folder)
    elif options.shard is not None:
        raise UsageError("--shard does not apply without --out FOLDER, which all shards share.")
    # Parts of a plan may overlap: points with equal options share a key, and run once.
    runs = {run.key: run for run in map(_run, points_of(plan))}
    tried = set()
    for run in runs.values():
        values = {name: value for name, value in values_of(run.options).items() if name != "seed"}
        if (shape := repr(values)) not in tried:
            tried.add(shape)
            _try(run)
    job = SweepJob([*runs.values()], folder, shard, options.together)
    job.plot = table
    return job


def _run(point: Point) -> PointRun:
    """Return the run of a point: its command's function, and all options."""
    if point.command in NO_RUNS:
        raise UsageError(f"{point.command} cannot be swept: it runs no experiment.")
    function = function_of(point.command)
    options = given(function, point.options)
    return PointRun(point, function, options, key_of(point.command, values_of(options)))


def _try(run: PointRun) -> None:
    """Prepare a run; an error names the point."""
    try:
        prepared(run.options)
    except MpinetError as error:
        raise type(error)(f"{run.point}: {error}") from None


def _shard(text: str | None) -> tuple[int, int]:
    """Read a shard, ``K/N``."""
    if text is None:
        return 1, 1
    words = text.split("/")
    if len(words) == 2 and all(map(is_whole, words)) and 1 <= int(words[0]) <= int(words[1]):
        return int(words[0]), int(words[1])
    raise UsageError(f"--shard takes K/N with K in 1..N, as in 3/16, not {quoted(text)}.")


def require_folder(folder: Path) -> None:
    """Raise `FileError` unless the folder is new, empty, or a sweep's folder."""
    try:
        if not folder.exists():
            require_folder_above(folder)
            return
        names = {path.name for path in folder.iterdir() if not is_aside(path)}
        mark = read_text(folder / MARK) if MARK in names else ""
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is no text"
        raise FileError(f"--out {folder}: {reason}.") from None
    if names and not mark:
        raise FileError(f"--out {folder} contains other files than a sweep: name a new folder.")
    if mark and mark != as_json(FORM):
        raise FileError(
            f"--out {folder}: its {MARK} is damaged, or of another version of mpinet; name a new "
            "folder."
        )


@dataclass(eq=False, repr=False)
class SweepJob(Job):
    """Points of a sweep, distributed over the ranks."""

    _runs: Sequence[PointRun]
    _folder: Path | None
    _shard: tuple[int, int]
    _together: bool
    table: list[Row] = field(default_factory=list, init=False)
    """Rows of all points, on rank 0 after the run."""

    def __post_init__(self) -> None:
        alone = self._together or launched_ranks() == 1
        self.unit = "points" if alone else "points of rank 0"

    def run(self, transport: Local, watch: Watch) -> Row:
        """Run the points of this shard; write the tables when all points are finished."""
        from mpinet.experiments.dealing import deal

        share, shares = self._shard
        mine = {run.key: run for run in self._runs[share - 1 :: shares]}
        journal = self._journal(transport)
        dealt = deal(
            [[key] for key in mine],
            lambda key, ranks: self._play(mine[key], ranks),
            transport,
            journal,
            self._together,
            watch,
        )
        if transport.rank != 0:
            return {}
        return self._conclude(dealt, journal, len(mine))

    def _journal(self, transport: Local) -> Journal | None:
        """Open this rank's journal in the folder, which rank 0 creates first."""
        from mpinet.experiments.journal import Journal, version_of

        if self._folder is None:
            return None
        if transport.rank == 0:
            make_folder(self._folder)
            if not (self._folder / MARK).exists():
                write_text(self._folder / MARK, as_json(FORM))
        # No rank may open its journal before rank 0 has created the folder.
        transport.share(b"")
        name = f"{self._writer}rank-{transport.rank}"
        return Journal(self._folder / "journal", name, version_of(), "--out")

    @property
    def _writer(self) -> str:
        """Prefix of a shard's files."""
        share, shares = self._shard
        return "" if shares == 1 else f"shard-{share}-of-{shares}-"

    @staticmethod
    def _play(run: PointRun, ranks: Local) -> list[Row]:
        """Run a point, and return its rows."""
        job = prepared(run.options)
        # A sweep resumes point by point. A point that saved its own state would write into the
        # sweep's checkpoint.
        with ranks.unkept():
            result = carried_out(run.function, run.options, job, ranks, perf_counter())
        shortfall = {"error": result.shortfall} if result.shortfall else {}
        return [
            {**_origin(run), **_kept(row), "digest": result.digest, **shortfall}
            for row in result.records()
        ]

    def _conclude(self, dealt: Dealt, journal: Journal | None, share: int) -> Row:
        """Collect the rows of all points, including points of other shards."""
        # The last shard finds the points of all other shards in the journal, and writes the table.
        rows = dealt.found | (journal.known()[0] if journal is not None else {})
        there = [run for run in self._runs if run.key in rows or run.key in dealt.failed]
        self.table = [
            row
            for run in there
            for row in (rows.get(run.key) or [_failure(run, dealt.failed[run.key])])
        ]
        text = as_csv(self.table)
        if self._folder is not None and len(there) == len(self._runs):
            self._write(self._folder, text)
        failed = [
            {"point": str(run.point), "error": error}
            for run in there
            if (error := _error(rows.get(run.key), dealt.failed.get(run.key)))
        ]
        return {
            "points": len(self._runs),
            "share": share,
            "computed": dealt.computed,
            "left": len(self._runs) - len(there),
            "damaged_lines": dealt.damaged,
            "failed": failed,
            "rows": len(self.table),
            "csv_sha256": sha256(text.encode()).hexdigest(),
        }

    def _write(self, folder: Path, text: str) -> None:
        """Write the tables, and the options for plots."""
        write_text(folder / "results.csv", text)
        write_text(folder / "results.json", as_json({"mpinet": __version__, "rows": self.table}))
        # If a plan no longer has a table [plot], the earlier one must not stay in the folder.
        if self.plot or (folder / TABLE).exists():
            write_text(folder / TABLE, as_json(self.plot))

    def lasting(self, result: Row) -> Row:
        """Return the result without the number of points known before."""
        passing = ("share", "computed", "damaged_lines")
        return {name: value for name, value in result.items() if name not in passing}

    def records(self, document: Row, options: Row) -> list[Row]:
        """Return the rows of all points, which already contain their options."""
        return self.table

    def shortfall(self, result: Row) -> str:
        """Return a sentence on failed or unfinished points, or an empty text."""
        if not result["failed"]:
            return ""
        first = result["failed"][0]
        many = f"{len(result['failed'])} of {result['points']} points failed, the first of them"
        return f"{many} {first['point']}: {first['error']}"

    def show(self, result: Row) -> str:
        """Format the counts, and the path of the table."""
        from mpinet.report.tables import fields

        shown: Row = {"points": result["points"], "computed now": result["computed"]}
        shown |= {name: result[name] for name in ("left", "damaged_lines") if result[name]}
        shown |= {"failed": len(result["failed"]), "rows": result["rows"]}
        if self._folder is None:
            return fields(shown)
        if result["left"]:
            return f"{fields(shown)}\nThe last shard to finish writes the table."
        told = f"{fields(shown)}\n{self._folder / 'results.csv'}"
        return f"{told}\nmpinet plot {self._folder} draws it." if self.plot else told


def _origin(run: PointRun) -> Row:
    """Return the first fields of each row: the point's hash, and the version."""
    return {"point": run.key, "mpinet": __version__}


def _error(rows: list[Row] | None, failure: str | None) -> str:
    """Return the sentence on a point's unfinished work; empty if the point finished."""
    return failure or next((row["error"] for row in rows or () if row.get("error")), "")


def _kept(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in UNKEPT}


def _failure(run: PointRun, sentence: str) -> Row:
    """Return the row of a point that failed."""
    options = values_of(run.options)
    document = {
        "topology": str(options.get("topology")),
        "seed": options.get("seed", 0),
        "ranks": 1,
        "model": {},
    }
    (row,) = identified(document, options, [{"error": sentence}])
    return {**_origin(run), **_kept(row)}
