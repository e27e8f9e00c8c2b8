"""The options of a script's run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from mpinet.mpi.world.orders import Orders
from mpinet.mpi.world.trees import TargetPattern


@dataclass(frozen=True, kw_only=True)
class ScriptOptions:
    """Options of a script's run."""

    arguments: Sequence[str] = ()
    """Arguments in ``sys.argv`` after the script's name."""
    routing: str | None = None
    """Routing of messages; default: the network's first."""
    packet: int | None = None
    """Size of a packet in bytes; default: each message of the script is one message of the
    machine.
    """
    synchronous: bool = False
    """True if standard sends wait for their receives."""
    out: TextIO | None = None
    """File to which rank 0 writes the processors' output; default: the standard output."""
    pattern: TargetPattern | None = None
    """Partners in all collectives; default: the pattern that suits the network."""
    compute: float | None = None
    """Factor for the computing time between calls in a recorded program of messages; 0: no
    computing time; default: no such program is recorded.
    """
    arrivals: Orders | None = None
    """Order in which receives from any rank get messages; default: the order of arrival."""
    told: dict[int, str] | None = None
    """On rank 0: dictionary that collects each processor's output."""
    places: Sequence[int] | None = None
    """Processor of each rank of the script's world; default: the processor with the same number."""
    metered: bool = False
    """True if link loads, queue lengths and waits are metered."""
    spare: int = 0
    """Number of processors, counted from the end, reserved for spawned processes."""
    faults: Mapping[int, int] | None = None
    """Step before which a processor fails, by processor."""
    checks: Iterable[str] | None = None
    """Checks of the MPI calls, from `mpinet.mpi.checks.rules.CHECKS`; None: no checks."""
    debug: Any = None
    """Plan of the debugger; None: only ``breakpoint()`` stops. Type: DebugPlan."""
    own: Iterable[str] = ()
    """Installed packages that every processor loads for itself, in addition to packages that reach
    mpi4py.
    """


PLAIN = ScriptOptions()
"""Options of a run without any options."""
