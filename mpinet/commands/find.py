"""``mpinet find``: the best networks for a number of processors and a degree."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from mpinet.base.numerals import quoted
from mpinet.commands.fields import Count, Fields
from mpinet.commands.job import Job, Watch
from mpinet.commands.options import Common, Seed, joined
from mpinet.commands.perform import perform
from mpinet.commands.result import ListResult
from mpinet.commands.signature import Typed, command
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row
from mpinet.report.tables import table

if TYPE_CHECKING:
    from mpinet.machine.transport import Local


class NetworkRow(Fields):
    """A network with its sizes and distances."""

    topology: str
    processors: Count
    switches: Count
    links: Count
    degree: Count
    diameter: Count | None
    moore: Count | None
    average_distance: float | None
    cost: Count | None


class FindResult(ListResult[NetworkRow]):
    """Result of ``find``."""


@command(Common)
def find(
    *,
    processors: Annotated[str | int | Sequence[int], Typed(read=str, metavar="A..B")],
    degree: Annotated[str | int | None, Typed(read=str, metavar="..K")] = None,
    minimise: Annotated[
        str | Sequence[str], Typed(read=str, metavar="WHAT,..")
    ] = "diameter,average",
    families: Annotated[str | Sequence[str] | None, Typed(read=str, metavar="NAME,..")] = None,
    best: int = 10,
    seed: Seed = 0,
) -> FindResult:
    """Find the best networks of the whole catalogue, measured (collective).

    Parameters
    ----------
    processors : int, pair of int or str
        Number of processors, ``512``, or a range: ``500..520`` typed, ``(500, 520)`` in Python.
    degree : int or str, optional
        Largest degree: ``4``, or ``..4``.
    minimise : str or sequence of str
        Measures to minimise, joined by commas, the most important one first: diameter, average,
        degree, links, cost (degree times diameter), processors.
    families : str or sequence of str, optional
        Families to search, joined by commas; default: all.
    best : int
        Number of networks to list.

    Examples
    --------
    ``mpinet find --processors 60..64 --degree ..4``

    ``mpinet find --processors 512..512 --degree ..6``

    >>> import mpinet
    >>> mpinet.find(processors=16, families=["ring", "hypercube"], best=1)[0].topology
    'hypercube:4'
    """
    return perform(find, locals())


def prepare(options: argparse.Namespace) -> Job:
    """List the networks."""
    from mpinet.experiments.find import candidates, measures_of, most_degree, range_of
    from mpinet.experiments.members import listed_families

    options.processors = as_range(options.processors)
    options.minimise, options.families = joined(options.minimise), joined(options.families)
    low, high = range_of(options.processors)
    minimise = measures_of(options.minimise)
    degree = most_degree(str(options.degree)) if options.degree is not None else None
    known = listed_families()
    names = options.families.split(",") if options.families is not None else None
    for name in names or ():
        if name not in known:
            raise UsageError(
                f"The family {quoted(name)} is not searched; these are: {', '.join(known)}."
            )
    if not 1 <= options.best <= 1000:
        raise UsageError(f"find tells 1..1000 networks, not {options.best}.")
    found = candidates(low, high, names)
    if not found:
        raise UsageError(f"No network of these families has {low}..{high} processors.")
    return Find(found, minimise, degree, options.best)


def as_range(given: str | int | Sequence[int]) -> str:
    """Return a number, or the two ends of a range, as they are typed."""
    if isinstance(given, str | int):
        return str(given)
    if len(given) != 2:
        raise UsageError(f"Processors are a number or two ends of a range, not {given!r}.")
    return f"{given[0]}..{given[1]}"


class Find(Job):
    """The best networks."""

    unit = "looks and measurements"

    def __init__(self, found: list[Topology], minimise: list[str], degree: int | None, most: int):
        super().__init__()
        self._found = found
        self._minimise = minimise
        self._degree = degree
        self._most = most

    def run(self, transport: Local, watch: Watch) -> list[Row]:
        """Measure the networks that may be among the best."""
        from mpinet.experiments.find import best
        from mpinet.machine.transport import hosted_by

        with hosted_by(transport):
            return best(self._found, self._minimise, self._degree, self._most, watch)

    def show(self, result: list[Row]) -> str:
        """Format one line per network."""
        if not result:
            return f"none of {len(self._found)} networks has a degree of at most {self._degree}"
        switched = any(row["switches"] for row in result)
        names = [name for name in result[0] if name != "switches" or switched]
        rows = [
            [f"{row[n]:.2f}" if isinstance(row[n], float) else row[n] for n in names]
            for row in result
        ]
        heading = [name.replace("_", " ") for name in names]
        said = f"the best of {len(self._found)} networks by {', '.join(self._minimise)}"
        return f"{said}\n{table(rows, heading)}"
