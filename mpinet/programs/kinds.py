"""Kinds of collectives, one row each: the one place that says which have a root, or add.

Everything else that is said of several collectives follows from these three properties.
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


class Kind(NamedTuple):
    """Properties of a collective."""

    rooted: bool = False
    """True if the collective begins or ends at one processor."""
    adds: bool = False
    """True if contributions are added, modulo 2^64."""
    owned: bool = False
    """True if there are k chunks for each processor: chunk owner*k + j."""


KINDS: dict[str, Kind] = {
    "broadcast": Kind(rooted=True),
    "reduce": Kind(rooted=True, adds=True),
    "scatter": Kind(rooted=True, owned=True),
    "gather": Kind(rooted=True, owned=True),
    "gossip": Kind(owned=True),
    "exchange": Kind(),
    "allreduce": Kind(adds=True),
    "reducescatter": Kind(adds=True, owned=True),
}

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
