"""``mpinet find``: find the best networks for a number of processors and a degree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mpinet.base.files import make_folder, require_folder, whole_file
from mpinet.base.numerals import quoted
from mpinet.commands.find import FindOptions
from mpinet.commands.job import Job, Watch
from mpinet.commands.optionrecords import changed
from mpinet.commands.options import joined
from mpinet.errors import UsageError
from mpinet.experiments.find import best, candidates, measures_of, most_degree, range_of
from mpinet.experiments.journal import journal_of
from mpinet.experiments.search import measured, require_search, search
from mpinet.machine.transport import Local, hosted_by
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import table


def prepare(options: FindOptions) -> Job:
    """List the candidate networks or prepare a search, and return the job."""
    from mpinet.experiments.members import listed_families

    low, high = range_of(str(options.processors))
    minimise = measures_of(joined(options.minimise) or "")
    degree = most_degree(str(options.degree)) if options.degree is not None else None
    if not 1 <= options.best <= 1000:
        raise UsageError(f"--best is 1..1000 networks, not {options.best}.")
    if options.search:
        return _search(options, low, high, degree)
    saved = ["checkpoint"] * (options.line.checkpoint is not None)
    for option in changed(options, "moves", "save", "journal") + saved:
        raise UsageError(f"--{option} does not apply without --search.")
    known = listed_families()
    families = joined(options.families)
    names = families.split(",") if families is not None else None
    for name in names or ():
        if name not in known:
            raise UsageError(
                f"--families: {quoted(name)} is not searched; the families are {', '.join(known)}."
            )
    found = candidates(low, high, names)
    if not found:
        raise UsageError(f"No network of these families has {low}..{high} processors.")
    return Find(found, minimise, degree, options.best)


def _search(options: FindOptions, low: int, high: int, degree: int | None) -> Job:
    """Check the options of a search, and make its job."""
    if options.families is not None or options.minimise != "diameter,average":
        other = "families" if options.families is not None else "minimise"
        raise UsageError(f"--{other} does not apply with --search.")
    if low != high or degree is None:
        raise UsageError("--search needs one number of processors and a --degree.")
    require_search(low, degree, options.moves)
    for name, folder in (("save", options.save), ("journal", options.journal)):
        if folder is not None:
            require_folder(Path(folder), f"--{name}")
    return NetworkSearch(options, low, degree)


@dataclass(eq=False, repr=False)
class Find(Job):
    """Candidate networks of the catalogue, to be ranked."""

    unit = "looks and measurements"

    _found: list[Topology]
    _minimise: list[str]
    _degree: int | None
    _most: int

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Measure the networks that may be among the best."""
        with hosted_by(transport):
            return best(self._found, self._minimise, self._degree, self._most, watch)

    def show(self, result: list[Row]) -> str:
        """Format one line per network."""
        if not result:
            return f"none of {len(self._found)} networks has a degree of at most {self._degree}"
        said = f"the best of {len(self._found)} networks by {', '.join(self._minimise)}"
        return f"{said}\n{_listed(result)}"


@dataclass(eq=False, repr=False)
class NetworkSearch(Job):
    """Search for new networks, chain by chain."""

    unit = "networks"

    _options: FindOptions
    _size: int
    _degree: int

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Search, and measure the best networks by floods from all nodes."""
        options = self._options
        found = search(
            self._size,
            self._degree,
            options.moves,
            options.seed,
            transport,
            journal_of(transport, options.journal, "--journal", alone=False),
            watch,
        )
        if transport.rank != 0:
            return []
        rows = []
        for place, one in enumerate(found[: options.best], 1):
            network, row = measured(one, self._degree)
            name = f"search-{place}.edges"
            # Without --save the network is also hashed, for comparisons between searches.
            path = Path(options.save) / name if options.save is not None else None
            row["edges_sha256"] = _written(network, path)
            if path is not None and not row["topology"]:
                row["topology"] = f"graph:{name}"
            rows.append(row)
        return rows

    def show(self, result: list[Row]) -> str:
        """Format one line per network."""
        tried = f"of {self._options.moves} tried networks"
        return f"the best {tried}\n{_listed(result)}" if result else f"none {tried} is connected"


def _written(network: Topology, path: Path | None) -> str:
    """Write a network's links to a file, if given; return their hash."""
    from mpinet.report.graphfiles import written_edges

    if path is None:
        return written_edges(network, Local(), None, None)
    make_folder(path.parent, "--save")
    with whole_file(path) as file:
        return written_edges(network, Local(), path, file)


def _listed(result: list[Row]) -> str:
    """Format the networks, one per line."""
    switched = any(row["switches"] for row in result)
    left_out = {"edges_sha256"} if switched else {"edges_sha256", "switches"}
    names = [name for name in result[0] if name not in left_out]
    digits = 4 if "symmetry" in result[0] else 2
    rows = [
        [f"{row[n]:.{digits}f}" if isinstance(row[n], float) else row[n] for n in names]
        for row in result
    ]
    return table(rows, [name.replace("_", " ") for name in names])
