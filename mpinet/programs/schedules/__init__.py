"""Schedules of ASCEND and DESCEND: those that any network may try, and a network's own.

A family names its own ones in `Topology.ascend_schedules`.
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
"""Schedules for any network (that has the links): name -> module and class."""


def find_schedule(
    topology: Topology, algorithm: str | type[PassSchedule] | None
) -> type[PassSchedule]:
    """The schedule of this name; the network's own one, or ``"routed"``, if none is named.

    Parameters
    ----------
    topology : Topology
        The network.
    algorithm : str or subclass of PassSchedule, optional
        Its name among the network's own ones or in `SCHEDULES`, or the schedule itself.

    Raises
    ------
    UsageError
        There is no schedule of this name.
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
