"""Results of a rehearsal, and a cluster model that converts them into seconds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.machine.dry import Dry
from mpinet.machine.meeting import FIXED, rounds


@dataclass(frozen=True)
class Rehearsal:
    """Work of one rank of a machine in a program."""

    rank: int
    """Number of the rehearsed rank."""
    ranks: int
    """Number of ranks."""
    processors: int
    """Number of processors on the rank."""
    steps: int
    """Number of steps of the machine."""
    messages: int
    """Number of messages from the rank to processors of other ranks, in all steps."""
    bytes: int
    """Bytes of these messages."""
    all_messages: int
    """Number of messages from all ranks to processors of other ranks."""
    all_bytes: int
    """Bytes of these messages of all ranks."""
    partners: int
    """Number of other ranks that receive messages from the rank."""
    computing: float
    """CPU time of this process for the rank's own part, in seconds."""
    modelled: tuple[str, ...] = ()
    """Names of the attributes that depend on a model or a sample of other ranks. ``memory`` is the
    need of this process.
    """

    @classmethod
    def played(cls, machine: Machine, dry: Dry, began: float, **others: Any) -> Rehearsal:
        """Return the results of a rank rehearsed since `began` (`process_time`).

        Parameters
        ----------
        machine : Machine
            Machine on `dry`, which has counted the rank's messages.
        began : float
            CPU seconds of this process before the rehearsal.
        others : Any
            Attributes that the machine has not counted, or has counted for one rank only.
        """
        own = {
            "processors": machine.placement.count,
            "steps": machine.steps,
            "messages": machine.meters.crossed,
            "bytes": machine.meters.crossed_bytes,
            "partners": int((dry.records_sent > 0).sum()),
            "computing": time.process_time() - began - dry.making,
        }
        return cls(dry.rank, dry.size, **{**own, **others})


@dataclass(frozen=True)
class Cluster:
    """Cluster model: ranks synchronise in every step, and bytes are sent one after the other."""

    latency: float
    """Time of an empty message between two ranks, in seconds."""
    bandwidth: float
    """Bandwidth of a rank's sends, in bytes per second."""

    def seconds(self, rehearsal: Rehearsal) -> dict[str, float]:
        """Return the seconds of a run by component, according to the model.

        ``computing`` is the rank's own work. ``latency`` counts the log2(ranks) rounds of a step's
        synchronisation, then a message to each partner, at most one per step. ``transfer`` is the
        time for the rank's messages and for the data of synchronisation at full bandwidth. A count
        for a partner is forwarded in half of the rounds. Components do not overlap.
        """
        # An exchange begins with a synchronisation of all ranks, as a tree of rounds. Its latency
        # counts even if no message is sent.
        met = rehearsal.steps * rounds(rehearsal.ranks)
        sent = min(rehearsal.messages, rehearsal.steps * rehearsal.partners)
        told = 8 * FIXED * met + 4 * rounds(rehearsal.ranks) * sent
        volume = rehearsal.bytes + told
        parts = {
            "computing": rehearsal.computing,
            "latency": (met + sent) * self.latency,
            "transfer": volume / self.bandwidth,
        }
        return {**parts, "total": sum(parts.values())}


def require_rehearsable(machine: Machine, what: str) -> None:
    """Raise `UsageError` if a rank's arrivals from other ranks cannot be predicted."""
    if not machine.topology.links:
        raise UsageError(f"predict supports {what} on networks of links, not of busses.")
    if not machine.mapping.contiguous:
        in_order = type(machine.topology).cluster_order is None
        raise UsageError(
            f"predict supports {what} where ranks host runs of processors: give --mapping "
            f"{'blocks or clusters' if in_order else 'blocks'}."
        )
