"""The options of a script's run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TextIO

from mpinet.base.memory import bytes_of
from mpinet.errors import UsageError
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
    eager: float = inf
    """Size in bytes of the largest message that a standard send buffers; -1: standard sends wait
    for their receives.
    """
    measured: bool = False
    """True if the clock adds the measured CPU time of each processor."""
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
    log: dict[int, Any] | None = None
    """On rank 0: dictionary that collects each processor's calls in a checked run."""
    own: Iterable[str] = ()
    """Installed packages that every processor loads for itself, in addition to packages that reach
    mpi4py.
    """


PLAIN = ScriptOptions()
"""Options of a run without any options."""


MODES = {"buffered": inf, "synchronous": -1.0}
"""Values of `ScriptOptions.eager` by name."""


def eager_of(sends: str | int) -> float:
    """Read the option ``--sends``: a mode, or the size of the largest buffered message.

    Raises
    ------
    UsageError
        The text is neither.
    """
    if sends in MODES:
        return MODES[str(sends)]
    try:
        return bytes_of(sends)
    except UsageError:
        raise UsageError(
            f"--sends is buffered, synchronous, or a size such as 64kB, not {sends!r}."
        ) from None
