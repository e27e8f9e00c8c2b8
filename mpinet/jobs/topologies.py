"""``mpinet topologies``: list the network families."""

from __future__ import annotations

from dataclasses import dataclass
from shutil import get_terminal_size

from mpinet.commands.job import Job, Watch
from mpinet.commands.topologies import TopologiesOptions
from mpinet.errors import UsageError
from mpinet.experiments.find import best, candidates, most_degree, range_of, spread
from mpinet.machine.transport import Local, hosted_by
from mpinet.networks import open as open_topology
from mpinet.networks.catalogue import Family, families, family_class, family_of
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import fields, table

MINIMISED = ("diameter", "average")
"""Measures that select the network of a family."""


TERMINAL = 80
"""Smallest width of a terminal, in columns."""


def prepare(options: TopologiesOptions) -> Job:
    """Look up the named family or all families, and return the job."""
    name = options.family and options.family.partition(":")[0]
    chosen = families() if name is None else [family_of(name)]
    if options.size is None:
        if options.degree is not None:
            raise UsageError("--degree applies only with --size.")
        return Topologies(chosen)
    degree = None if options.degree is None else most_degree(options.degree)
    return FamilyList([member.name for member in chosen], range_of(options.size), degree)


@dataclass(eq=False, repr=False)
class Topologies(Job):
    """List of the catalogue, or of one family."""

    _chosen: list[Family]

    def run(self, transport: Local, watch: Watch) -> list[Family]:
        """Return the listed families."""
        return self._chosen

    def show(self, result: list[Row]) -> str:
        """Format one line per family, or all details of a single family."""
        if len(result) == 1:
            return fields(result[0] | _more(result[0]["example"]), width=TERMINAL)
        columns = ("name", "parameters", "example", "paper")
        rows = [[row[name] for name in columns] for row in result]
        more = "'mpinet topologies NAME' shows a family's ranges and its specification."
        return f"{table(rows, columns, width=TERMINAL)}\n\n{more}"


def _more(example: str) -> Row:
    """Return more details of a family, from one of its networks."""
    from mpinet.claims.ledger import PAPERS, select

    network = open_topology(example)
    rooms = [room for room in PAPERS if type(network).__module__.split(".")[2] == room]
    claims = len(select(rooms)) if rooms else 0
    entries = {
        "about": about(type(network)),
        **{title: ", ".join(names) for title, names in network.listed_routings.items()},
        "broadcasts": ", ".join(network.schedules(0)),
        "claims": f"{claims} of the paper: mpinet verify {rooms[0]}" if claims else "",
        "picture": f"mpinet draw {example} -o {network.family}.svg",
    }
    return {name: value for name, value in entries.items() if value}


def about(family: type[Topology]) -> str:
    """Return the first sentence of a family's docstring."""
    return " ".join((family.__doc__ or "").partition("\n\n")[0].split())


def _short(text: str, most: int) -> str:
    """Return a text, shortened if it is too long."""
    return text if len(text) <= most else f"{text[: most - 3].rstrip()} .."


@dataclass(eq=False, repr=False)
class FamilyList(Job):
    """List of the networks of a given size with the smallest diameter, one per family."""

    unit = "families"

    _names: list[str]
    _sizes: tuple[int, int]
    _degree: int | None

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Measure the networks of all families, and return the best one of each."""
        rows: list[Row] = []
        for done, name in enumerate(self._names):
            watch(done, len(self._names))
            found = spread(candidates(*self._sizes, [name]))
            with hosted_by(transport):
                rows += [
                    {"name": name} | member for member in best(found, MINIMISED, self._degree, 1)
                ]
        return sorted(
            rows, key=lambda row: (row["diameter"], row["degree"], row["average_distance"])
        )

    def show(self, result: list[Row]) -> str:
        """Format a line per family."""
        low, high = self._sizes
        if not result:
            return f"no family has a network of {low}..{high} processors and this degree"
        columns = ("degree", "diameter")
        rows = [
            [row["name"], _short(row["topology"], 24), *(row[name] for name in columns)]
            for row in result
        ]
        heading = ["family", "example", *columns]
        used = max(len(line) for line in table(rows, heading).splitlines()) + 2
        room = max(TERMINAL, get_terminal_size().columns) - used
        said = [_short(about(family_class(row["name"])).partition(";")[0], room) for row in result]
        return table(
            [[*row, text] for row, text in zip(rows, said, strict=True)], [*heading, "about"]
        )
