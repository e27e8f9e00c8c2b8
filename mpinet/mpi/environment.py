"""The surroundings of a script: beginning and end, time, and the place where it runs."""

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
"""Number of times that a processor may ask for the time before others go on."""

STEP = 1e-6
"""Seconds of a step of the machine."""

STATE = "initialized or finalized"
"""Under this a processor keeps what it has done to MPI since it began."""

INITIALIZED, FINALIZED = "initialized", "finalized"


class Finalized(Processor):
    """A processor that is done with MPI: none of its calls has an account any more."""

    __slots__ = ()

    @property
    def account(self) -> Any:  # type: ignore[override]
        """Refuse a call.

        Raises
        ------
        UsageError
            Always.
        """
        raise UsageError("MPI is finalized on this processor, so that nothing can be called.")


def _state() -> str | None:
    """Return what the running processor has done to MPI; None if nothing."""
    state: str | None = running.turns.current.storage().get(STATE)
    return state


def Init() -> None:
    """Begin with MPI, where ``mpi4py.rc.initialize`` has kept the import from it."""
    if Is_initialized():
        raise REAL.Exception(REAL.ERR_OTHER)
    running.turns.current.storage()[STATE] = INITIALIZED


def Init_thread(required: int = REAL.THREAD_MULTIPLE) -> int:
    """Begin with MPI; threads may call at any time, whatever is required."""
    Init()
    return Query_thread()


def Finalize() -> None:
    """Be done with MPI. The machine goes on for others."""
    if not Is_initialized() or Is_finalized():
        raise REAL.Exception(REAL.ERR_OTHER)
    here = running.turns.current
    here.storage()[STATE] = FINALIZED
    here.__class__ = Finalized


def Is_initialized() -> bool:
    """Tell if MPI has been begun with, as the import does by itself."""
    return bool(settled()["initialize"]) or _state() is not None


def Is_finalized() -> bool:
    """Tell if the processor is done with MPI."""
    return _state() == FINALIZED


def Query_thread() -> int:
    """The kind of threads that may call: several at the same time, which take turns."""
    return int(REAL.THREAD_MULTIPLE)


def Is_thread_main() -> bool:
    """Tell if the caller is the thread that has begun with MPI."""
    return current_thread() is main_thread()


def Wtime() -> float:
    """The machine's time in seconds: a step is a microsecond, computation takes none.

    Time stands still while a processor computes; it passes while its port is busy with what it has
    sent, and while it asks again and again for it.
    """
    world = running.world
    here = running.turns.current
    if getcurrent() is not here.thread:
        if current_thread() is not main_thread() and world.clock.is_urged_by(
            world.threads.owner, QUESTIONS
        ):
            world.threads.serve("Wtime", sys._getframe(1), world.clock.wait)
    elif here.id >= 0 and world.clock.must_wait(QUESTIONS):
        before = here.account  # of the call that it is in, as a task of a pool
        here.account = before or world.accounts.at("Wtime", sys._getframe(1))
        world.clock.wait()
        here.account = before
    return world.transit.now * STEP


def Wtick() -> float:
    """A step in seconds."""
    return STEP


def Get_processor_name() -> str:
    """The network, and the processor's address in it."""
    topology = running.world.machine.topology
    return f"{topology.name}/{topology.address(running.turns.current.id)}"


def Get_hw_resource_info() -> Any:
    """Return what is known of the hardware below the machine: nothing."""
    return REAL.Info.Create()


def _set_abort_status(status: int) -> None:
    """Note how a script ends; its processor notes that itself."""
