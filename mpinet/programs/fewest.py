"""Choice of a gossip's algorithm: the candidate with the fewest steps, within a budget of work.

The network's own algorithm is a local rule and needs no search. Searches examine the whole network.
Every rank makes the same choice. Work is counted in examined items of links, never in seconds.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from mpinet.errors import TooLarge, UsageError
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.spreading import offered, spread
from mpinet.programs.schedules.timetable import Timetable
from mpinet.programs.translated import Orbit

MOST_WORK = 2**30
"""Maximum number of items of links examined by all candidates of a choice."""

MOST_MOVED = 2**12
"""Maximum number of processors for which a gossip by translations moves all messages."""

TRANSLATIONS = "translations"


class Candidate(NamedTuple):
    """A gossip found by a search, or the network's own gossip."""

    name: str
    steps: int
    orbit: Orbit | None = None
    """Messages of one processor, for ``translations``."""
    timetable: Timetable | None = None
    """Messages of all processors, for other searches."""


def spread_gossip(
    topology: Topology, model: PortModel, bound: int, algorithm: str | None = None
) -> tuple[Candidate, tuple[str, ...]]:
    """Return a gossip of one item found as a pipeline, and the names of skipped searches.

    Raises
    ------
    TooLarge
        Every search would take too long.
    """
    sources = np.arange(topology.hosts)
    found = spread(topology, Arcs.of(topology), model, sources, bound, algorithm)
    table = Timetable.of("gossip", topology, found.rows, found.channels)
    return Candidate(found.algorithm, found.steps, timetable=table), found.skipped


def searched(
    topology: Topology, model: PortModel, bound: int
) -> tuple[Candidate | None, tuple[str, ...]]:
    """Search for gossips on links, the cheapest search first, until one meets the bound.

    Returns
    -------
    best : Candidate or None
        Candidate with the fewest steps; None if no search applies.
    skipped : tuple of str
        Searches beyond the budget.
    """
    best, skipped, left = None, tuple[str, ...](), MOST_WORK
    pairs = topology.size * topology.ports * topology.hosts
    if topology.hosts == topology.size:
        work = pairs * topology.ports
        if topology.size > MOST_MOVED or work > left:
            skipped = (TRANSLATIONS,)
        else:
            left -= work
            with suppress(UsageError):
                orbit = Orbit.of(topology, model.send == 1)
                best = Candidate(TRANSLATIONS, orbit.steps, orbit)
    if best is not None and best.steps <= bound:
        return best, skipped
    if pairs * bound > left:
        return best, (*skipped, *offered(topology, model, False))
    try:
        found, others = spread_gossip(topology, model, bound)
    except TooLarge:
        return best, (*skipped, *offered(topology, model, False))
    best = found if best is None or found.steps < best.steps else best
    return best, (*skipped, *others)
