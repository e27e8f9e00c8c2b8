"""``mpinet find``: the best networks for a number of processors and a degree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from mpinet.commands.fields import Count, Fields, Hash, When
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, Options, Seed, Several, Typed, folder
from mpinet.commands.options import joined
from mpinet.commands.result import ListResult
from mpinet.errors import UsageError

T = TypeVar("T")


MOVES = 20_000
"""Networks that a search tries where nobody says how many."""


Searched = Annotated[T, When("with ``--search``")]


Folder = Annotated[Path | str | None, Typed(read=folder, metavar="FOLDER")]


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
    least_average: Annotated[Searched[float], "no network of this degree has less"]
    symmetry: Annotated[Searched[str], "base nodes, and the group that lifts them"]
    edges_sha256: Searched[Hash]


class FindResult(ListResult[NetworkRow]):
    """Result of ``find``."""


def as_range(given: str | int | Sequence[int]) -> str:
    """Return a number, or the two ends of a range, as they are typed."""
    if isinstance(given, str | int):
        return str(given)
    if len(given) != 2:
        raise UsageError(f"Processors are a number or two ends of a range, not {given!r}.")
    return f"{given[0]}..{given[1]}"


@dataclass(frozen=True, kw_only=True)
class FindOptions(Options):
    """Find the best networks of the whole catalogue, measured (collective).

    Returns
    -------
    Result
        With ``--search``, ``topology`` is a circulant by its name, ``graph:search-1.edges`` with
        ``--save``, and otherwise empty.

    Examples
    --------
    ``mpinet find --processors 60..64 --degree ..4``

    ``mpinet find --processors 256 --degree 16 --search``

    >>> import mpinet
    >>> mpinet.find(processors=16, families=["ring", "hypercube"], best=1)[0].topology
    'hypercube:4'
    """

    command = "find"
    processors: Annotated[
        str | int | Several[int], Typed(read=str, metavar="A..B", normal=as_range)
    ]
    """Number of processors, ``512``, or a range: ``500..520`` typed, ``(500, 520)`` in Python."""
    degree: Annotated[str | int | None, Typed(read=str, metavar="..K")] = None
    """Largest degree: ``4``, or ``..4``."""
    minimise: Annotated[
        str | Sequence[str],
        Typed(read=str, metavar="WHAT,..", normal=joined, several="diameter,average"),
    ] = "diameter,average"
    """Measures to minimise, joined by commas, the most important one first: diameter, average,
    degree, links, cost (degree times diameter), processors."""
    families: Annotated[
        str | Several[str] | None,
        Typed(read=str, metavar="NAME,..", normal=joined, several="torus,hypercube"),
    ] = None
    """Families to search, joined by commas; default: all."""
    best: int = 10
    """Number of networks to list."""
    search: bool = False
    """Search beyond the catalogue: circulants, Cayley graphs and other lifts by a group of
    symmetries, changed link by link, for the least diameter and then the least mean distance."""
    moves: Annotated[int, Typed(metavar="NUMBER")] = MOVES
    """Networks that ``--search`` tries, each by a flood."""
    save: Folder = None
    """Folder for the links of the networks that ``--search`` lists, ``search-1.edges`` and on,
    which ``graph:FILE`` reads; is made."""
    journal: Folder = None
    """Folder in which ``--search`` writes down each round of a chain, and goes on from there."""
    seed: Seed = 0


find = function_with(FindOptions, FindResult, Common)
