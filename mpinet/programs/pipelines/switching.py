"""Work of switches in collectives: they forward, copy or combine messages."""

from __future__ import annotations

from typing import get_args

from mpinet.networks.topology import Topology
from mpinet.programs.kinds import SUMS, TWO_HALVES, Behavior

FORWARD, COPY, COMBINE = get_args(Behavior)


def only_forwards(topology: Topology, switches: str | None) -> bool:
    """Tell if a network of links has switches, and they only forward."""
    return topology.links and topology.size > topology.hosts and switches == FORWARD


def behavior(collective: str, switches: str) -> str | None:
    """Return what switches do with what is combined, or spread; None: all that is wanted.

    Of an allreduce it is what they do in its first half.
    """
    if collective in SUMS:
        return COMBINE if switches == COMBINE else FORWARD
    return FORWARD if switches == FORWARD else None


SPREAD = ("broadcast", "gossip", "reduce")
"""Collectives whose schedules are others where switches only forward."""


def is_planned(topology: Topology, collective: str, items: int, switches: str) -> bool:
    """Tell if items go in a pipeline: several, or two halves, or by switches that only forward."""
    if items != 1 or collective in TWO_HALVES:
        return True
    return collective in SPREAD and only_forwards(topology, behavior(collective, switches))
