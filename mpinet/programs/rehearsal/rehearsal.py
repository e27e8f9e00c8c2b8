"""The findings of a rehearsal, and the model of a cluster that makes seconds of them."""

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
    """Steps of the machine."""
    messages: int
    """Messages that the rank sends to processors of other ranks in all steps."""
    bytes: int
    """Bytes of these messages."""
    all_messages: int
    """Messages that all ranks send to processors of other ranks."""
    all_bytes: int
    """Bytes of these messages of all ranks."""
    partners: int
    """Other ranks that it sends to."""
    computing: float
    """Seconds of this process for the rank's own part."""
    modelled: tuple[str, ...] = ()
    """Names of the attributes that rest on a model of other ranks or on a sample of them;
    ``memory`` is this process's need."""

    @classmethod
    def played(cls, machine: Machine, dry: Dry, began: float, **others: Any) -> Rehearsal:
        """Return the findings of a rank that has been played since `began` (`process_time`).

        Parameters
        ----------
        machine : Machine
            On `dry`; it has counted the rank's messages.
        began : float
            Seconds of this process before the rank was played.
        others : Any
            Attributes that the machine has not counted, or counted for one rank alone.
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
    """A model of a cluster: ranks meet in every step, and bytes wait for one another."""

    latency: float
    """Seconds until a message without content is there."""
    bandwidth: float
    """Bytes a second that a rank can send."""

    def seconds(self, rehearsal: Rehearsal) -> dict[str, float]:
        """Seconds of a run, by the model.

        ``computing`` is the rank's own; ``latency``: in a step the ranks meet in log2(ranks)
        rounds, then messages go to each partner, at most once a step; ``transfer``: what the rank
        sends, with what is told in meetings, at full bandwidth: a count for a partner is handed on
        in half of the rounds. Nothing overlaps.
        """
        # An exchange begins with a meeting of all ranks, as a tree of rounds. Its latency counts
        # even where nothing is sent.
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
    """Raise `UsageError` where a rank cannot know what others would send it."""
    if not machine.topology.links:
        raise UsageError(f"predict knows {what} on networks of links, not of busses.")
    if not machine.mapping.contiguous:
        in_order = type(machine.topology).cluster_order is None
        raise UsageError(
            f"predict knows {what} where ranks host runs of processors: give --mapping "
            f"{'blocks or clusters' if in_order else 'blocks'}."
        )
