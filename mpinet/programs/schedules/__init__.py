"""Schedules of ASCEND and DESCEND: those for any network, and a network's own.

A family lists its own schedules in `Topology.ascend_schedules`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from mpinet.errors import UsageError

if TYPE_CHECKING:
    from mpinet.networks.topology import Topology
    from mpinet.programs.schedules.schedule import PassSchedule

SCHEDULES = {
    "routed": "mpinet.programs.schedules.routed:Routed",
    "exchange": "mpinet.programs.schedules.exchange:DimensionExchange",
    "line": "mpinet.programs.schedules.line:Line",
}
"""Module and class of each schedule for any network (with the necessary links), by name."""


def find_schedule(
    topology: Topology, algorithm: str | type[PassSchedule] | None
) -> type[PassSchedule]:
    """Return the schedule of this name; without a name the network's own one, or ``"routed"``.

    Parameters
    ----------
    topology : Topology
        The network.
    algorithm : str or subclass of PassSchedule, optional
        Name among the network's own schedules or in `SCHEDULES`, or the schedule itself.

    Raises
    ------
    UsageError
        No schedule has this name.
    """
    own = topology.ascend_schedules
    if algorithm is None:
        algorithm = next(iter(own), next(iter(SCHEDULES)))
    if not isinstance(algorithm, str):
        return algorithm
    known = {**own, **SCHEDULES}
    if algorithm not in known:
        raise UsageError(
            f"There is no ASCEND algorithm {algorithm!r} for {topology.name}: give one of "
            f"{', '.join(known)}."
        )
    place = known[algorithm]
    if not isinstance(place, str):
        return place
    module, _, cls = place.partition(":")
    schedule: type[PassSchedule] = getattr(import_module(module), cls)
    return schedule


__all__ = ["SCHEDULES", "find_schedule"]
