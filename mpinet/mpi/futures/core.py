"""The replacement of ``mpi4py.futures._core`` for emulated processors: pools without threads.

The rest of `mpi4py.futures` is mpi4py's own. A task is a helper fiber of its master. The fiber
waits for a worker, sends the task and receives the result, charged to the line that submits the
task.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import BrokenExecutor, Future
from types import ModuleType
from typing import Any

from mpinet.mpi.communicators.communicator import Comm, Intracomm, own, whole
from mpinet.mpi.communicators.creation import new_comm
from mpinet.mpi.futures.crew import Helpers, crew_of, serve
from mpinet.mpi.futures.pending import Pending
from mpinet.mpi.refusals import refuse
from mpinet.mpi.world.atexit_hooks import call_at_end
from mpinet.mpi.world.calls import Booked, running
from mpinet.mpi.world.failure import script_line
from mpinet.mpi.world.ranks import rank_table
from mpinet.mpi.world.settings import ARGUMENTS

SHARED, WORKERS = "pool", "workers of a pool"
"""Storage keys for the crew shared by a processor's pools, and for the workers' communicator. They
also name the contexts of the pool of all processors.
"""

ALONE = (
    "MPIPoolExecutor has no workers: run mpinet exec --on TOPO -m mpi4py.futures SCRIPT.py "
    "(processor 0 runs the script, all other processors are workers), keep processors free with "
    "--spare N, or use MPICommExecutor."
)

WORK = "from mpinet.mpi.futures.core import work; work()"
"""Code run by workers spawned by an executor."""

MOST_WORKERS = "MPI4PY_FUTURES_MAX_WORKERS"
"""Environment variable for the most workers of an executor without an explicit number."""


class Core(ModuleType):
    """The replaced module ``mpi4py.futures._core``; each processor sees its own state."""

    MPI: ModuleType
    BrokenExecutor = BrokenExecutor

    @property
    def SharedPool(self) -> Any:  # noqa: N802  (mpi4py's name)
        """The crew shared by all pools of the running processor; None without one."""
        return running.turns.current.storage().get(SHARED)


class Pool:
    """The pool of workers of an executor.

    Parameters
    ----------
    executor : Executor
        The executor.
    crew : Helpers
        Carries out the tasks.
    is_last : bool
        Whether the crew ends when the executor is shut down.
    """

    def __init__(self, executor: Any, crew: Helpers, is_last: bool):
        self._crew, self._is_last, self._executor = crew, is_last, executor
        self._left: list[Pending] = []
        self.size = crew.size
        with Booked("bootup"):
            if not crew.begin(executor._options):
                executor._broken = "initializer failed"

    def wait(self) -> None:
        """Return at once, because the pool is ready."""

    def push(self, item: tuple[Future[Any], Any]) -> None:
        """Start a task of the executor."""
        future, task = item
        future.__class__ = Pending
        assert isinstance(future, Pending)
        future.bind(self._crew.context)
        self._left.append(future)

        def work() -> None:
            if self._executor._broken:
                future.set_exception(BrokenExecutor(self._executor._broken))
            elif future.set_running_or_notify_cancel():
                went_well, found = self._crew.do(task)
                future.set_result(found) if went_well else future.set_exception(found)

        with Booked("submit"):
            running.turns.begin(work)

    def done(self) -> None:
        """End the pool after its last task, even if the script does not wait for this end."""
        if not self._is_last:
            return
        ended, line = running.turns.begin(self.join), script_line()
        if line is not None:
            fiber: Any = ended.fiber
            fiber.account = running.world.accounts.at("shutdown", line.tb_frame)

    def cancel(self) -> None:
        """Cancel tasks that have not started."""
        for future in self._left:
            future.cancel()

    def join(self) -> None:
        """Wait for the ends of all tasks, and dismiss the workers if the pool owns them."""
        for future in self._left:
            future._ended.wait()
        self._left = []
        if self._is_last:
            self._is_last = False
            with Booked("shutdown"):
                self._crew.end()


class SharedPoolCtx:
    """The pool of all processors: processor 0 is the master, all others are workers."""

    def __enter__(self) -> SharedPoolCtx | None:
        everyone = range(whole().size)
        self._comm = new_comm(Intracomm, (SHARED, -1), lambda: (rank_table(everyone),))
        kept = running.turns.current.storage()
        self._is_master = self._comm.rank == 0
        if self._is_master:
            self._crew = kept[SHARED] = crew_of(self._comm, False)
            running.turns.privacy.change(running.turns.current, ARGUMENTS)
            sys.argv = sys.argv[:]  # a private copy for the script
            return self
        kept[WORKERS] = new_comm(Intracomm, (WORKERS, -1), lambda: (rank_table(everyone[1:]),))
        return None

    def __exit__(self, *error: object) -> None:
        if not self._is_master:
            with Booked("worker"):
                serve(self._comm, 0)
        elif error[0] is None:
            with Booked("shutdown"):
                self._crew.end()


def worker_pool(executor: Any) -> Pool:
    """Return the pool of an executor without a communicator."""
    crew = running.turns.current.storage().get(SHARED)
    if crew is not None:
        return Pool(executor, crew, False)
    if "service" in executor._options:
        raise NotImplementedError(ALONE)
    return spawn_pool(executor)


def spawn_pool(executor: Any) -> Pool:
    """Return the pool of an executor whose workers are spawned onto free processors."""
    free = len(running.world.contexts.spare)
    if not free:
        raise NotImplementedError(ALONE)
    wanted = executor._options.get("max_workers") or os.environ.get(MOST_WORKERS) or free
    call_at_end(executor.shutdown)
    with Booked("bootup"):
        workers = own().Spawn(sys.executable, ["-c", WORK], min(int(wanted), free))
    return Pool(executor, crew_of(workers, False), True)


def thread_pool(executor: Any) -> Pool:
    """Return the pool of a thread executor, with helper fibers of the running processor."""
    return Pool(executor, Helpers(executor._options.get("max_workers", 1)), True)


def work() -> None:
    """Work for the parent of the running processor until the parent ends the pool."""
    master = Comm.Get_parent()
    running.turns.current.storage()[WORKERS] = whole()
    with Booked("worker"):
        serve(master, 0)
    master.Disconnect()


def server_main() -> None:
    """Run the program ``mpi4py.futures.server``: work for the parent of the running processor.

    Raises
    ------
    Unsupported
        There is no parent: the server would work for other jobs.
    """
    if not Comm.Get_parent():
        refuse("mpi4py.futures.server")
    work()


def comm_executor(executor: Any, comm: Any, root: int) -> None:
    """Make a communicator's members work for the member with an executor."""
    kept = running.turns.current.storage()
    crew = kept.get(SHARED)
    if crew is not None and executor is not None:
        executor._pool = Pool(executor, crew, False)
        return
    with Booked("bootup"):
        own = comm.Dup()
        workers = comm.Split(int(comm.rank != root))
    if executor is not None:
        executor._pool = Pool(executor, crew_of(own, True), True)
        return
    kept[WORKERS] = workers
    try:
        with Booked("worker"):
            serve(own, root)
    finally:
        kept.pop(WORKERS, None)


def comm_server() -> Any:
    """Return the workers' communicator.

    Raises
    ------
    RuntimeError
        The processor is not a worker.
    """
    found = running.turns.current.storage().get(WORKERS)
    if found is None:
        raise RuntimeError("communicator is not accessible")
    return found


def core(mpi: ModuleType) -> Any:
    """Return the replacement of ``mpi4py.futures._core``, with the stand-in ``mpi4py.MPI``."""
    made: Any = Core("mpi4py.futures._core", "Pools of emulated processors.")
    made.MPI = mpi
    made.WorkerPool, made.SpawnPool, made.ThreadPool = worker_pool, spawn_pool, thread_pool
    made.SharedPoolCtx, made.get_comm_server = SharedPoolCtx, comm_server
    made._comm_executor_helper, made.server_main = comm_executor, server_main
    return made
