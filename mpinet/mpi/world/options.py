"""The options of a script's run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from mpinet.mpi.world.orders import Orders
from mpinet.mpi.world.trees import TargetPattern


@dataclass(frozen=True, kw_only=True)
class ScriptOptions:
    """Options of a script's run."""

    arguments: Sequence[str] = ()
    """Arguments that the script finds in ``sys.argv`` after its name."""
    routing: str | None = None
    """Routing that brings messages to their targets; default: the network's first."""
    packet: int | None = None
    """Bytes of a packet; default: each message of the script is one message of the machine."""
    synchronous: bool = False
    """True if standard sends wait for their receives."""
    out: TextIO | None = None
    """File to which rank 0 writes what processors print; default: the standard output."""
    pattern: TargetPattern | None = None
    """Partners in all collectives; default: the pattern that suits the network."""
    compute: float | None = None
    """Part of the time computed between calls that counts in a program of messages, which the
    outcome then holds; 0: none of it; default: no such program."""
    arrivals: Orders | None = None
    """Order in which receives from any rank get messages; default: the order of arrival."""
    told: dict[int, str] | None = None
    """Dictionary that gets what each processor prints, on rank 0."""
    places: Sequence[int] | None = None
    """Processor of each rank of the script's world; default: the processor of its number."""
    metered: bool = False
    """True if loads of links, queues and waits are metered."""
    spare: int = 0
    """Processors, the last ones, that stay free for spawned processes."""
    faults: Mapping[int, int] | None = None
    """Step before which a processor fails, by processor."""
    own: Iterable[str] = ()
    """Installed packages that every processor loads for itself, besides those that reach mpi4py."""


PLAIN = ScriptOptions()
"""Options of a run without any."""
