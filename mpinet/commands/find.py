"""``mpinet find``: find the best networks for a number of processors and a degree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from mpinet.commands.fields import Count, Fields, Hash, When
from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Common, In, Options, Saved, Seed, Several, Typed, folder
from mpinet.commands.options import joined
from mpinet.commands.result import ListResult
from mpinet.errors import UsageError

T = TypeVar("T")


MOVES = 20_000
"""Default number of networks that a search tries."""


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
    least_average: Annotated[Searched[float], "lower bound for all networks of this degree"]
    symmetry: Annotated[Searched[str], "base nodes, and the group of the lift"]
    edges_sha256: Searched[Hash]


class FindResult(ListResult[NetworkRow]):
    """Result of ``find``."""


def as_range(given: str | int | Sequence[int]) -> str:
    """Return a number, or the two ends of a range, as typed text."""
    if isinstance(given, str | int):
        return str(given)
    if len(given) != 2:
        raise UsageError(f"processors is a number or a range of two numbers, not {given!r}.")
    return f"{given[0]}..{given[1]}"


@dataclass(frozen=True, kw_only=True)
class FindOptions(Options):
    """Find the best networks of the whole catalogue by measuring them (collective).

    Returns
    -------
    Result
        With ``--search``, ``topology`` is the string of a circulant, ``graph:search-1.edges`` with
        ``--save``, and empty for other networks.

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
    """Number of processors, ``512``, or a range, ``500..520`` (in Python ``(500, 520)``)."""
    degree: Annotated[str | int | None, Typed(read=str, metavar="..K")] = None
    """Largest degree: ``4``, or ``..4``."""
    minimise: Annotated[
        str | Sequence[str],
        Typed(read=str, metavar="WHAT,..", normal=joined, several="diameter,average"),
    ] = "diameter,average"
    """Measures to minimise, most important first, joined by commas: diameter, average, degree,
    links, cost (degree times diameter), processors."""
    families: Annotated[
        str | Several[str] | None,
        Typed(read=str, metavar="NAME,..", normal=joined, several="torus,hypercube"),
    ] = None
    """Families to search, joined by commas; default: all."""
    best: int = 10
    """Number of networks to list."""
    search: Annotated[bool, In.SEARCH] = False
    """Search beyond the catalogue: circulants, Cayley graphs and other lifts by a group of
    symmetries. The search changes links, and minimises first the diameter and then the mean
    distance."""
    moves: Annotated[int, Typed(metavar="NUMBER"), In.SEARCH] = MOVES
    """Number of networks that ``--search`` tries; each trial is one flood."""
    save: Annotated[Folder, In.SEARCH] = None
    """Folder for the links of the listed networks of ``--search``: ``search-1.edges`` and so on,
    readable as ``graph:FILE``."""
    journal: Annotated[Folder, In.SEARCH] = None
    """Folder in which ``--search`` saves each round of a chain; an interrupted search continues
    there."""
    seed: Seed = 0


find = function_with(FindOptions, FindResult, Saved, Common)
