"""Behavior of switches in collectives: they forward, copy or combine messages."""

from __future__ import annotations

from typing import get_args

from mpinet.networks.topology import Topology
from mpinet.programs.kinds import SUMS, TWO_HALVES, Behavior

FORWARD, COPY, COMBINE = get_args(Behavior)


def only_forwards(topology: Topology, switches: str | None) -> bool:
    """Return whether a network of links has switches that only forward."""
    return topology.links and topology.size > topology.hosts and switches == FORWARD


def behavior(collective: str, switches: str) -> str | None:
    """Return the behavior of switches in a collective; None: without restriction.

    For an allreduce, return the behavior in its first half.
    """
    if collective in SUMS:
        return COMBINE if switches == COMBINE else FORWARD
    return FORWARD if switches == FORWARD else None


SPREAD = ("broadcast", "gossip", "reduce")
"""Collectives that need other schedules if switches only forward."""


def is_planned(topology: Topology, collective: str, items: int, switches: str) -> bool:
    """Return whether a collective runs as a pipeline.

    A pipeline is used for several items, for two halves, and for switches that only forward.
    """
    if items != 1 or collective in TWO_HALVES:
        return True
    return collective in SPREAD and only_forwards(topology, behavior(collective, switches))
