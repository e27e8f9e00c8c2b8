"""Search the whole catalogue for the best networks with a number of processors and a degree.

The members of every family are listed and measured; no value is taken from a formula. Distances
take most of the time. A network with too large distances from one processor is not measured
further.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any

from mpinet import measure
from mpinet.base.numerals import quoted
from mpinet.errors import TooLarge, UsageError
from mpinet.experiments.compare import COLUMNS, Subject
from mpinet.experiments.members import listed_families, members
from mpinet.networks.topology import Topology

MOST_CANDIDATES = 20_000
"""Largest number of networks in a search."""

MOST_OF_A_FAMILY = 32
"""Largest number of networks per family in a list of families."""

MOST_PROCESSORS = 1 << 14
"""Number of processors of the largest network measured by a search."""

MEASURES: dict[str, Callable[[Subject], Any]] = {
    "diameter": lambda s: s.distances.diameter,
    "average": lambda s: s.average,
    "degree": lambda s: s.degree,
    "links": lambda s: s.links,
    "cost": lambda s: s.degree * s.distances.diameter,
    "processors": lambda s: s.network.hosts,
}
"""Measures that a search can minimise; cost is degree times diameter."""


def range_of(text: str) -> tuple[int, int]:
    """Parse a number of processors ``A``, or a range ``A..B``."""
    match = re.fullmatch(r"(\d{1,9})(?:\.\.(\d{1,9}))?", text)
    if match is None:
        raise UsageError(f"Processors are a number or a range 500..520, not {quoted(text)}.")
    low, high = int(match[1]), int(match[2] or match[1])
    if not 1 <= low <= high:
        raise UsageError(f"A range of processors goes from at least 1 upwards, not {text}.")
    return low, high


def most_degree(text: str) -> int:
    """Parse a largest degree, ``..K`` or ``K``."""
    match = re.fullmatch(r"(?:\.\.)?(\d{1,9})", text)
    if match is None:
        raise UsageError(f"A degree is a largest degree, ..4 or 4, not {quoted(text)}.")
    return int(match[1])


def measures_of(text: str) -> list[str]:
    """Parse the names of measures to minimise, in descending order of importance.

    Raises
    ------
    UsageError
        A name is not in `MEASURES`.
    """
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in MEASURES:
            raise UsageError(f"{name!r} cannot be minimised; possible are {', '.join(MEASURES)}.")
    return list(dict.fromkeys(names))


def candidates(low: int, high: int, families: Iterable[str] | None = None) -> list[Topology]:
    """List the networks with `low` to `high` processors.

    Raises
    ------
    TooLarge
        The networks are too many, or too large to measure.
    """
    if high > MOST_PROCESSORS:
        raise TooLarge(
            f"A search measures networks of up to {MOST_PROCESSORS:,} processors, not {high:,}."
        )
    names = listed_families() if families is None else list(families)
    every = (network for name in names for network in members(name, low, high))
    found = list(islice(every, MOST_CANDIDATES + 1))
    if len(found) > MOST_CANDIDATES:
        raise TooLarge(
            f"There are more than {MOST_CANDIDATES:,} networks with {low}..{high} processors. "
            "Give a narrower range, or name families."
        )
    return found


def spread(found: Sequence[Topology], most: int = MOST_OF_A_FAMILY) -> list[Topology]:
    """Choose at most `most` networks of a family, evenly spread."""
    step = max(1, -(-len(found) // most))
    return list(found[::step])


def best(
    found: Sequence[Topology],
    minimise: Sequence[str],
    degree: int | None = None,
    most: int = 10,
    watch: Callable[[int, int], None] = lambda done, total: None,
) -> list[dict[str, Any]]:
    """Measure networks and return the best (collective).

    Parameters
    ----------
    found : sequence of Topology
        The networks.
    minimise : sequence of str
        Names in `MEASURES`. Each further name breaks the ties of the names before; the catalogue's
        order breaks the remaining ties.
    degree : int, optional
        The largest permitted degree.
    most : int
        Largest number of networks to return.
    watch : callable
        Called with the number of completed inspections and measurements, and their largest possible
        number.

    Returns
    -------
    list of dict
        The best networks first: topology, processors, switches, links, degree, diameter, moore,
        average_distance, cost.
    """
    looks = []
    for at, network in enumerate(found):
        watch(at, 2 * len(found))
        # An inspection costs one flood, the full distances cost a flood from every processor. Most
        # candidates need only the inspection.
        looks.append(_Look(network))
    wanted = [
        at
        for at, look in enumerate(looks)
        if look.connected and (degree is None or look.degree <= degree)
    ]
    wanted.sort(key=lambda at: looks[at].least(minimise[0]))
    kept: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    for done, at in enumerate(wanted):
        watch(len(found) + done, 2 * len(found))
        # Candidates come in the order of their lower bounds, so no later candidate can be better.
        if len(kept) == most and looks[at].least(minimise[0]) > kept[-1][0][0]:
            break
        subject = Subject(found[at], 0.0)
        # The position in the catalogue breaks ties: equal networks come in the same order on every
        # machine.
        key = (*(MEASURES[name](subject) for name in minimise), at)
        if len(kept) < most or key < kept[-1][0]:
            kept = sorted([*kept, (key, row_of(subject))], key=lambda pair: pair[0])[:most]
    return [row for _, row in kept]


def row_of(subject: Subject) -> dict[str, Any]:
    """Return the measured row of a network (collective)."""
    columns = {name: COLUMNS[name].measured(subject) for name in TOLD}
    return {"topology": subject.network.name} | columns | {"cost": MEASURES["cost"](subject)}


TOLD = "processors switches links degree diameter moore average_distance".split()
"""Columns of a comparison that are part of a search's row."""


class _Look:
    """Measures that cost one pass over the wiring of a network and one flood."""

    def __init__(self, network: Topology):
        self._known = Subject(network, 0.0)
        hops = measure.distance_matrix(network, [0])[0]
        self.connected: bool = bool((hops >= 0).all())
        """True if every node is reachable from processor 0."""
        self._farthest = int(hops[: network.hosts].max())

    @property
    def degree(self) -> int:
        """Largest number of different neighbours of a node."""
        return self._known.degree

    def least(self, measure: str) -> float:
        """Return a lower bound on a measure."""
        known = {
            "diameter": self._farthest,
            "degree": self.degree,
            "links": self._known.links,
            "cost": self.degree * self._farthest,
            "processors": self._known.network.hosts,
        }
        # A measure without a bound gets 0: the search then takes longer, but no candidate is lost.
        return known.get(measure, 0)
