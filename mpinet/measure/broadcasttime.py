"""Broadcast time: the fewest steps in which one processor can inform all, exact or as bounds.

The upper bound is a schedule found by passes and run on the machine, which verifies it. Distances,
growth, counting by classes and a solver give the lower bound (`mpinet.measure.optimum`; on the
command line ``mpinet optimum``, which also writes the certificate).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import inf
from numbers import Real
from typing import Any, ClassVar

from mpinet.base.fielddocs import described
from mpinet.errors import ConservationError, UsageError
from mpinet.machine import Machine, PortModel
from mpinet.machine.transport import Local, world
from mpinet.measure.bounded import Bounded
from mpinet.measure.optimum.search import Search
from mpinet.measure.symmetry import orbits
from mpinet.networks.catalogue import open_topology
from mpinet.networks.topology import NetworkLike, Topology
from mpinet.programs.bounds import broadcast_bound
from mpinet.programs.collective import require_processor
from mpinet.programs.passes import broadcast_timetable, sees_whole
from mpinet.programs.playing import play_rows
from mpinet.programs.schedules.timetable import Timetable, table_columns, table_of


@described
@dataclass(frozen=True, eq=False)
class BroadcastTime(Bounded):
    """Bounds on a broadcast time; comparisons with numbers work as far as the bounds decide.

    A comparison with different answers for `lower` and `upper` raises `OutOfReach`.

    No broadcast takes fewer steps than `lower`; the machine has run a broadcast with `upper` steps.
    """

    root: int
    """Processor at which the broadcast starts."""
    ports: str
    """Ports used by a processor in a step: ``"one"`` or ``"all"``."""
    lower_by: str
    """Proof of the lower bound: ``bounds`` (distances and growth), ``class-lp`` or ``lrat`` (see
    ``mpinet optimum``)."""
    upper_by: str
    """Source of the upper bound: ``passes`` or ``sat``."""

    named: ClassVar[str] = "broadcast time"
    effort: ClassVar[str] = "limit"


def broadcast_time(
    topology: NetworkLike,
    root: int | str | None = 0,
    ports: str = "one",
    limit: float = 60.0,
) -> BroadcastTime:
    """Return the fewest steps of a broadcast, exact or as bounds, depending on effort (collective).

    Parameters
    ----------
    topology : Topology or str
        The network; links or busses.
    root : int, str or None
        The processor that has the message, by number or address. None: the processor with the
        largest broadcast time (the search runs for one root per orbit of automorphisms).
    ports : {'one', 'all'}
        Ports used by a processor in a step.
    limit : float
        Seconds of search if distances, growth and passes leave a gap. With 0 only these are used,
        and the result is the same on every computer.

    Raises
    ------
    NodeError, UsageError
        The processor, port model or limit is invalid, or the network is too large for this search.

    Examples
    --------
    >>> found = broadcast_time("debruijn:3")
    >>> found.lower, found.upper, found.lower_by
    (4, 4, 'class-lp')
    >>> broadcast_time("hypercube:4") == 4
    True
    """
    network = open_topology(topology)
    model = PortModel.named(ports)
    if not isinstance(ports, str):
        raise UsageError(
            "ports must be 'one' or 'all': the exact search supports no other port models."
        )
    if isinstance(limit, bool) or not isinstance(limit, Real) or not 0 <= limit < inf:
        raise UsageError(f"limit={limit!r}: the limit is a number of seconds, 0 or more.")
    if not sees_whole(network):
        raise UsageError(f"{network.name} is too large for this search.")
    if root is None:
        # Roots of one orbit take equally many steps. One root per orbit is enough, which saves
        # nearly all searches in symmetric networks.
        roots = [orbit[0] for orbit in orbits(network) if orbit[0] < network.hosts]
        return _slowest([_from(network, node, ports, model, limit) for node in roots])
    node = network.find(str(root))
    require_processor(network, node)
    return _from(network, node, ports, model, limit)


def _slowest(found: list[BroadcastTime]) -> BroadcastTime:
    """Return bounds on the maximum of several broadcast times."""
    lower, upper = max(t.lower for t in found), max(t.upper for t in found)
    shown = next(time for time in found if time.upper == upper)
    by = next(time.lower_by for time in found if time.lower == lower)
    return replace(shown, lower=lower, exact=lower == upper, lower_by=by)


def _from(
    network: Topology, root: int, ports: str, model: PortModel, limit: float
) -> BroadcastTime:
    """Return the broadcast time from one processor."""
    transport = world()
    timetable = broadcast_timetable(network, root, model)
    # Closed-form bounds and passes often agree. The search, which needs solvers, runs only if they
    # leave a gap.
    lower = broadcast_bound(Machine(network, model, transport), root)
    found: dict[str, Any] = {
        "lower": lower,
        "lower_by": "bounds",
        "upper_by": "passes",
        "table": None,
    }
    if lower < timetable.last and limit:
        found = _searched(network, root, ports, timetable, limit, transport)
    if found["table"] is not None:
        timetable = table_of(found["table"])
    upper = timetable.last
    # The upper bound counts only after the machine has run the schedule. A faulty timetable raises
    # an error here.
    _require_run(network, model, transport, timetable)
    lower = max(lower, found["lower"])
    return BroadcastTime(
        lower, upper, lower == upper, root, ports, found["lower_by"], found["upper_by"]
    )


def _searched(
    network: Topology,
    root: int,
    ports: str,
    timetable: Timetable,
    limit: float,
    transport: Local,
) -> dict[str, Any]:
    """Search on rank 0, and share the result with all ranks."""
    found: dict[str, Any] = {}
    # A search is limited by the clock, and two ranks could find different bounds. Therefore one
    # rank searches and all ranks use its result.
    if transport.rank == 0:
        search = Search(network, "broadcast", root, ports, timetable.last, "passes", limit)
        search.run()
        best = None if search.timetable is None else table_columns(search.timetable)
        by = search.lower_by if search.lower_by in ("class-lp", "lrat") else "bounds"
        found = {"lower": search.lower, "lower_by": by, "upper_by": search.upper_by, "table": best}
    shared: dict[str, Any] = json.loads(transport.share(json.dumps(found).encode()))
    return shared


def _require_run(
    network: Topology, model: PortModel, transport: Local, timetable: Timetable
) -> None:
    """Run a schedule on the machine, and verify that it informs every processor.

    Raises
    ------
    ConservationError
        The schedule does not inform every processor.
    """
    _, held = play_rows(Machine(network, model, transport), timetable)
    if held.short():
        raise ConservationError(f"the schedule on {network.name} does not inform every processor.")
