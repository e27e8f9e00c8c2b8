"""The environment of a script: initialization and finalization, time, and processor name."""

# ruff: noqa: N802  (mpi4py's names)

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import ModuleType
from typing import Any

from greenlet import getcurrent

from mpinet.errors import UsageError
from mpinet.mpi.communicators.communicator import whole
from mpinet.mpi.real import REAL
from mpinet.mpi.settings import settled
from mpinet.mpi.world.calls import asking, running
from mpinet.mpi.world.clock import TICK
from mpinet.mpi.world.loading import ADAPTED
from mpinet.mpi.world.process_state import InterpreterSetting
from mpinet.mpi.world.processor import Processor, number_of
from mpinet.mpi.world.replacing import replaced
from mpinet.mpi.world.settings import READ_VARIABLE, VARIABLE
from mpinet.mpi.world.world import World

QUESTIONS = 1000
"""Number of a processor's clock readings before other processors get turns."""

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
    sent messages, and while the processor reads the clock repeatedly. Each reading takes a
    nanosecond. With ``--clock cpu`` computation takes its measured CPU time.
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
    return world.clock.read(asking("Wtime"))


def Wtick() -> float:
    """Return the least difference of two readings of the clock in seconds."""
    return TICK


def Get_processor_name() -> str:
    """Return the network's name and the processor's address."""
    topology = running.world.machine.topology
    return f"{topology.name}/{topology.address(running.turns.current.id)}"


def Get_hw_resource_info() -> Any:
    """Return an empty info object, because the hardware is not described."""
    return REAL.Info.Create()


def _set_abort_status(status: int) -> None:
    """Do nothing, because the processor records its exit status itself."""


# ---- the identity of a processor as a process

RANKS = (
    *("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK"),
    *("MPI_LOCALRANKID", "SLURM_PROCID", "SLURM_LOCALID"),
)
"""Environment variables in which launchers give the rank."""

SIZES = "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"
"""Environment variables in which launchers give the number of ranks."""

PROCESSES = 1 << 22
"""More than the number of any process under Linux."""

OF_PROCESS = "mpinet", "multiprocessing", "psutil"
"""Packages that need the number of the process itself."""

ABOUT_PROCESSES = "getpgid", "getsid", "kill", "sched_getaffinity", "sched_setaffinity"
"""Functions of `os` whose first argument is the number of a process."""


@contextmanager
def process_identity(world: World) -> Iterator[None]:
    """Context manager: processors have numbers of processes, and a launcher's variables."""
    number, process = os.getpid, os.getpid()
    is_first = world.machine.transport.rank == 0
    first = world.machine.max(process if is_first else 0)[0]

    def own_number() -> int:
        package = sys._getframe(1).f_globals.get("__name__", "").partition(".")[0]
        # A forked child has a number of its own.
        if package in OF_PROCESS or number() != process:
            return number()
        here = asking("getpid")
        return number() if here.main is None else first + number_of(here) * PROCESSES

    def variable(environment: Any, name: Any) -> str:
        here = running.turns.current
        if (name in RANKS or name in SIZES) and here.main is not None and number() == process:
            owned = () if here.own is None else here.own.settings
            if InterpreterSetting(VARIABLE, name) not in owned:
                comm = whole()
                return str(comm.rank if name in RANKS else comm.size)
        return READ_VARIABLE(environment, name)

    def about(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda given, *others: function(number_of_process(given), *others)

    def number_of_process(given: Any) -> Any:
        return process if isinstance(given, int) and given % PROCESSES == first else given

    OF_PROCESSES[:] = [number_of_process]
    places = [(os, name, about(getattr(os, name))) for name in ABOUT_PROCESSES if hasattr(os, name)]
    with replaced((os, "getpid", own_number), (os._Environ, "__getitem__", variable), *places):
        yield


OF_PROCESSES: list[Callable[[Any], Any]] = []
"""Returns the process of a number that a processor got; empty before the first run."""


def _adapt_psutil(package: ModuleType) -> None:
    """Let psutil find the process of a processor."""
    kind: Any = package.Process
    begin = kind._init

    def begin_known(self: Any, pid: Any, *others: Any, **named: Any) -> None:
        begin(self, OF_PROCESSES[0](pid), *others, **named)

    kind._init = begin_known


ADAPTED["psutil"] = _adapt_psutil
