"""Kinds of collectives, one row each: initial and final holders of chunks, addition, and bound.

All other properties of several collectives follow from these rows.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Collective: TypeAlias = Literal[
    "broadcast", "reduce", "scatter", "gather", "gossip", "exchange", "allreduce", "reducescatter"
]
"""Names of the collectives with schedules and bounds."""


Behavior: TypeAlias = Literal["forward", "copy", "combine"]
"""Behaviors of switches. ``forward``: send each message on once. ``copy``: in a broadcast, also
send a message on several times. ``combine``: in a reduction, also combine several messages into
one.
"""


Place: TypeAlias = Literal["root", "own", "all"]
"""Holders of a chunk: the root, the chunk's owner, or all processors. The chunks of an exchange
belong to pairs: the owner is the source before the first step and the target after the last step.
"""


class Kind(NamedTuple):
    """Properties of a collective."""

    starts: Place | None
    """Processors that hold a chunk before the first step; None if the schedule does not state
    them.
    """
    needs: Place | None
    """Processors that need a chunk in the end; None if the schedule does not state them."""
    bound: str
    """Name of the function in `mpinet.programs.bounds` for one chunk per message."""
    adds: bool = False
    """True if contributions are added, modulo 2^64."""

    @property
    def rooted(self) -> bool:
        """True if the collective begins or ends at one processor."""
        return "root" in (self.starts, self.needs)

    @property
    def pairs(self) -> bool:
        """True if each pair of processors has k chunks: (source*processors + target)*k + j."""
        return self.starts == self.needs == "own"

    @property
    def owned(self) -> bool:
        """True if each processor has k chunks: chunk owner*k + j."""
        return "own" in (self.starts, self.needs) and not self.pairs


KINDS: dict[str, Kind] = {
    "broadcast": Kind("root", "all", "broadcast_bound"),
    "reduce": Kind("all", "root", "broadcast_bound", adds=True),
    "scatter": Kind("root", "own", "scatter_bound"),
    "gather": Kind("own", "root", "gather_bound"),
    "gossip": Kind("own", "all", "gossip_bound"),
    "exchange": Kind("own", "own", "exchange_bound"),
    "allreduce": Kind("all", "all", "combining_gossip_bound", adds=True),
    "reducescatter": Kind("all", "own", "gossip_bound", adds=True),
}

UNSTATED = "unstated"
"""Name in place of a collective if the schedule does not state the contents of messages."""


class Purpose(NamedTuple):
    """A collective with a number of processors and chunks."""

    collective: str
    """Name in `KINDS`, or `UNSTATED`."""
    processors: int
    """Number of processors."""
    chunks: int = 1
    """Number of chunks per unit; see `Timetable`."""
    root: int | None = None
    """Root of the collective; None without a root."""

    @property
    def kind(self) -> Kind:
        """Properties of the collective."""
        return KINDS.get(self.collective, Kind(None, None, ""))

    @property
    def total(self) -> int:
        """Number of different chunks."""
        owners = self.processors if self.kind.owned else 1
        return self.chunks * (self.processors**2 if self.kind.pairs else owners)


ROOTED = tuple(name for name, kind in KINDS.items() if kind.rooted)
"""Collectives that begin or end at one processor."""

SPREADING = tuple(name for name in ROOTED if not KINDS[name].owned)
"""Rooted collectives that spread the same item everywhere or form a single sum."""

SUMS = tuple(name for name, kind in KINDS.items() if kind.adds)
"""Collectives with added contributions, which switches may combine."""

OWNED = tuple(name for name, kind in KINDS.items() if kind.owned)
"""Collectives with chunks for each processor."""

OF_EACH = tuple(name for name in OWNED if name not in ROOTED)
"""Rootless collectives in which each processor's item goes to all others or comes from all
others.
"""

ROOTLESS = tuple(name for name in KINDS if name not in ROOTED)
"""Collectives in which all processors have the same role."""

TWO_HALVES = tuple(name for name in SUMS if name not in ROOTED)
"""Collectives whose sums reach all processors, whole or in parts. A single item also runs as a
pipeline.
"""

PIPELINED = tuple(name for name in KINDS if name not in ROOTED or name in SPREADING)
"""Collectives available for many items."""
