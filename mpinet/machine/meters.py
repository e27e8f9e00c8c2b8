"""Counters of the machine: steps, messages, and the load of each channel."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Array, Ints
from mpinet.compiled import kernel


@dataclass
class Meters:
    """Counts of one rank; steps are equal on all ranks, other counts are summed over the ranks."""

    steps: int = 0
    """Number of steps made by the machine."""
    messages: int = 0
    """Transmissions by this rank's processors; a transmission on a bus counts once."""
    loads: NDArray[np.uint32] = field(default_factory=lambda: np.zeros(0, np.uint32))
    """Messages sent by each hosted processor on each port; empty if loads are not metered. Shape
    (hosted * ports,).
    """
    crossed: int = 0
    """Messages to processors of other ranks. A row of a `LocalBroadcast` counts once per receiving
    rank.
    """
    crossed_bytes: int = 0
    """Bytes sent by this rank for these messages."""

    def count(self, steps: int, messages: int) -> None:
        """Count common steps of all ranks, and messages of this rank; nothing else counts them."""
        self.steps += steps
        self.messages += messages

    def cross(self, records: Array) -> None:
        """Count the messages and bytes that leave this rank in a step."""
        self.crossed += len(records)
        self.crossed_bytes += records.nbytes


@dataclass(frozen=True)
class ChannelLoad:
    """Load of the machine's channels: each direction of a link, or a bus."""

    max: int
    """Messages over the busiest channel."""
    mean: float
    """Average number of messages per channel."""


@dataclass(frozen=True)
class Crossing:
    """Messages and bytes between a machine's ranks."""

    messages: int
    """Messages between processors of different ranks."""
    bytes: int
    """Bytes of these messages, with their addresses and headers."""


@kernel
def count_wired(neighbor_rule: PortRule, nodes: Ints, params: Ints) -> int:
    """Return the number of wired ports of these nodes."""
    neighbor, wired = neighbor_rule.call, 0
    for i in range(nodes.size):
        for port in range(params[1]):
            wired += neighbor(nodes[i], port, params) >= 0
    return wired
