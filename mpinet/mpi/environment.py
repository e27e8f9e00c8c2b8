"""The environment of a script: initialization and finalization, time, and processor name."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

import sys
from threading import current_thread, main_thread
from typing import Any

from greenlet import getcurrent

from mpinet.errors import UsageError
from mpinet.mpi.real import REAL
from mpinet.mpi.settings import settled
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.processor import Processor

QUESTIONS = 1000
"""Number of a processor's clock readings before other processors get turns."""

STEP = 1e-6
"""Duration of a step of the machine in seconds."""

STATE = "initialized or finalized"
"""Storage key for `INITIALIZED` or `FINALIZED`."""

INITIALIZED, FINALIZED = "initialized", "finalized"


class Finalized(Processor):
    """A processor after MPI finalization: its calls have no account and are refused."""

    __slots__ = ()

    @property
    def account(self) -> Any:  # type: ignore[override]
        """Refuse every MPI call after finalization.

        Raises
        ------
        UsageError
            Always.
        """
        raise UsageError("MPI has been finalized on this processor and can no longer be called.")


def _state() -> str | None:
    """Return `INITIALIZED` or `FINALIZED` for the running processor; None before both."""
    state: str | None = running.turns.current.storage().get(STATE)
    return state


def Init() -> None:
    """Initialize MPI, if ``mpi4py.rc.initialize`` has disabled initialization by the import."""
    if Is_initialized():
        raise REAL.Exception(REAL.ERR_OTHER)
    running.turns.current.storage()[STATE] = INITIALIZED


def Init_thread(required: int = REAL.THREAD_MULTIPLE) -> int:
    """Initialize MPI; threads may call at any time, independent of `required`."""
    Init()
    return Query_thread()


def Finalize() -> None:
    """Finalize MPI on this processor. The machine continues for the remaining processors."""
    if not Is_initialized() or Is_finalized():
        raise REAL.Exception(REAL.ERR_OTHER)
    here = running.turns.current
    here.storage()[STATE] = FINALIZED
    here.__class__ = Finalized


def Is_initialized() -> bool:
    """Return whether MPI is initialized, by the import or by `Init`."""
    return bool(settled()["initialize"]) or _state() is not None


def Is_finalized() -> bool:
    """Return whether the processor has finalized MPI."""
    return _state() == FINALIZED


def Query_thread() -> int:
    """Return the thread level: several threads may call and take turns."""
    return int(REAL.THREAD_MULTIPLE)


def Is_thread_main() -> bool:
    """Return whether the caller is the main thread."""
    return current_thread() is main_thread()


def Wtime() -> float:
    """Return the machine's time in seconds: one step is a microsecond, computation takes no time.

    Time stands still while a processor computes. It passes while the processor's port is busy with
    sent messages, and while the processor reads the clock repeatedly.
    """
    world = running.world
    here = running.turns.current
    if getcurrent() is not here.thread:
        if current_thread() is not main_thread() and world.clock.is_urged_by(
            world.threads.owner, QUESTIONS
        ):
            world.threads.serve("Wtime", sys._getframe(1), world.clock.wait)
    elif here.id >= 0 and world.clock.must_wait(QUESTIONS):
        before = here.account  # account of the enclosing call, for example a task of a pool
        here.account = before or world.accounts.at("Wtime", sys._getframe(1))
        world.clock.wait()
        here.account = before
    return world.transit.now * STEP


def Wtick() -> float:
    """Return the duration of a step in seconds."""
    return STEP


def Get_processor_name() -> str:
    """Return the network's name and the processor's address."""
    topology = running.world.machine.topology
    return f"{topology.name}/{topology.address(running.turns.current.id)}"


def Get_hw_resource_info() -> Any:
    """Return an empty info object, because the hardware is not described."""
    return REAL.Info.Create()


def _set_abort_status(status: int) -> None:
    """Do nothing, because the processor records its exit status itself."""
