"""Kinds of collectives, one row each: who has and who needs chunks, what adds, and the bound.

All other statements about several collectives follow from these properties.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Collective: TypeAlias = Literal[
    "broadcast", "reduce", "scatter", "gather", "gossip", "exchange", "allreduce", "reducescatter"
]
"""Names of the collectives that schedules and bounds are for."""


Behavior: TypeAlias = Literal["forward", "copy", "combine"]
"""Behaviors of switches: they send on each message that comes, once; or, in what is spread, as
often as is wanted; or make one of several, too, in a reduction."""


Place: TypeAlias = Literal["root", "own", "all"]
"""Processors of a chunk: the root, the chunk's owner, or all. Of an exchange, whose chunks are for
pairs, the owner is the source before the first step, and the target in the end."""


class Kind(NamedTuple):
    """Properties of a collective."""

    starts: Place | None
    """Processors that have a chunk before the first step; None if the schedule does not say so."""
    needs: Place | None
    """Processors that need a chunk in the end; None if the schedule does not say so."""
    bound: str
    """Function of `mpinet.programs.bounds` for one chunk a message."""
    adds: bool = False
    """True if contributions are added, modulo 2^64."""

    @property
    def rooted(self) -> bool:
        """True if the collective begins or ends at one processor."""
        return "root" in (self.starts, self.needs)

    @property
    def pairs(self) -> bool:
        """True if there are k chunks for each pair: chunk (source*processors + target)*k + j."""
        return self.starts == self.needs == "own"

    @property
    def owned(self) -> bool:
        """True if there are k chunks for each processor: chunk owner*k + j."""
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
"""Stand-in for a collective: the schedule does not state what its messages carry."""


class Purpose(NamedTuple):
    """A collective of so many chunks on so many processors."""

    collective: str
    """Name in `KINDS`, or `UNSTATED`."""
    processors: int
    """Number of processors."""
    chunks: int = 1
    """Chunks in a unit; see `Timetable`."""
    root: int | None = None
    """Root of the collective; None if it has no root."""

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
"""Rooted collectives that move the same item everywhere, or form one sum."""

SUMS = tuple(name for name, kind in KINDS.items() if kind.adds)
"""Collectives in which contributions are added: switches may combine them."""

OWNED = tuple(name for name, kind in KINDS.items() if kind.owned)
"""Collectives with chunks for each processor."""

OF_EACH = tuple(name for name in OWNED if name not in ROOTED)
"""Collectives without a root in which an item of each processor goes to all others, or comes from
them."""

ROOTLESS = tuple(name for name in KINDS if name not in ROOTED)
"""Collectives in which all processors do the same."""

TWO_HALVES = tuple(name for name in SUMS if name not in ROOTED)
"""Sums that all processors get, whole or in parts: pipelines of one item, too."""

PIPELINED = tuple(name for name in KINDS if name not in ROOTED or name in SPREADING)
"""Collectives of many items."""
