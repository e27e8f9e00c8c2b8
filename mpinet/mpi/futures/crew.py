"""Workers for tasks: a crew of processors that works for one processor, or its helper fibers."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from collections import deque
from collections.abc import Mapping
from heapq import heappop, heappush
from types import ModuleType
from typing import Any, NamedTuple

from greenlet import GreenletExit

from mpinet.mpi.communicators.communicator import own
from mpinet.mpi.futures.pending import ending
from mpinet.mpi.messages.objects import dumps, loads
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.events import Event
from mpinet.mpi.world.failure import within

WORKER = "__worker__"
"""Name of the master's script in its workers."""

MAIN, BEGIN, CALL, END = range(4)
"""Kinds of messages from a master to its workers: the script, an initializer, a task, and the
end.
"""


class Helpers:
    """Helper fibers of a processor that carry out its tasks, instead of threads.

    Parameters
    ----------
    size : int
        Number of concurrent tasks.
    """

    size: int
    """Number of concurrent tasks."""
    context: int
    """Context in which the processor waits for its tasks."""

    def __init__(self, size: int):
        self.size, self.context = size, own()._context
        self._idle = list(range(size))
        self._waiting: deque[Event] = deque()
        self._given: dict[int, int] = {}

    def begin(self, options: Mapping[str, Any]) -> bool:
        """Call an initializer; return whether it succeeded."""
        task = _initializer(options)
        return task is None or done(task)[0]

    def do(self, task: Any) -> tuple[bool, Any]:
        """Carry out a task on a worker; return success, and the result or the error."""
        # The idle worker with the lowest rank is taken. Any idle worker would do, but a fixed
        # choice makes runs reproducible.
        worker = self._take()
        try:
            return self._do(worker, task)
        finally:
            self._give(worker)

    def end(self) -> None:
        """Dismiss the workers; helper fibers need no message."""

    def _do(self, worker: int, task: Any) -> tuple[bool, Any]:
        return done(task)

    def _take(self) -> int:
        """Wait for an idle worker."""
        if self._idle:
            return heappop(self._idle)
        event = ending(self.context)
        self._waiting.append(event)
        running.turns.wait(event)
        return self._given.pop(id(event))

    def _give(self, worker: int) -> None:
        """Give a worker to the first waiting task."""
        if self._waiting:
            event = self._waiting.popleft()
            self._given[id(event)] = worker
            running.turns.happened(event)
        else:
            heappush(self._idle, worker)


class Crew(Helpers):
    """The workers of a communicator, from the view of the master.

    Parameters
    ----------
    comm : Intracomm or Intercomm
        Communicator of master and workers.
    workers : list of int
        The workers' ranks.
    has_script : bool
        Whether the workers run the master's script in any case.
    """

    def __init__(self, comm: Any, workers: list[int], has_script: bool):
        super().__init__(len(workers))
        self._comm, self.context = comm, comm._context
        self._workers, self._idle = workers, list(workers)
        self._is_told = has_script

    def begin(self, options: Mapping[str, Any]) -> bool:
        """Send the script to the workers and call an initializer; return whether it succeeded."""
        if not self._is_told:
            self._is_told = True
            self._all(MAIN, _script(options))
        task = _initializer(options)
        if task is None:
            return True
        self._all(BEGIN, dumps(task))
        return all([self._comm.recv(source=worker)[0] for worker in self._workers])

    def end(self) -> None:
        """Send all workers the end message."""
        self._all(END, None)

    def _do(self, worker: int, task: Any) -> tuple[bool, Any]:
        try:
            self._comm.send((CALL, dumps(task)), worker)
            found: tuple[bool, Any] = self._comm.recv(source=worker)
            return found
        except Exception as error:  # the task cannot be pickled
            return False, error

    def _all(self, kind: int, told: Any) -> None:
        for worker in self._workers:
            self._comm.send((kind, told), worker)


def crew_of(comm: Any, has_script: bool) -> Helpers:
    """Return the workers in a communicator; the processor itself if it is the only member."""
    if comm.is_inter:
        return Crew(comm, list(range(comm.remote_size)), has_script)
    others = [rank for rank in range(comm.size) if rank != comm.rank]
    return Crew(comm, others, has_script) if others else Helpers(1)


def _initializer(options: Mapping[str, Any]) -> Any:
    """Return the task of an initializer; None without one."""
    initializer = options.get("initializer")
    if initializer is None:
        return None
    return initializer, options.get("initargs", ()), options.get("initkwargs", {})


def serve(comm: Any, master: int) -> None:
    """Carry out a master's messages until the end."""
    while True:
        kind, told = comm.recv(source=master)
        if kind == END:
            return
        if kind == MAIN:
            _run_script(told)
            continue
        try:
            task = loads(told)
        except Exception as error:
            found: tuple[bool, Any] = False, error
        else:
            found = done(task)
        try:
            comm.send(found if found[0] else (False, _remote(found[1], comm)), master)
        except Exception as error:  # the result cannot be pickled
            # The error may contain the same objects, therefore only its arguments' texts are sent.
            comm.send((False, type(error)(*map(str, error.args))), master)


def done(task: Any) -> tuple[bool, Any]:
    """Carry out a task; return success, and the result or the error."""
    function, arguments, named = task
    try:
        return True, function(*arguments, **named)
    except GreenletExit:
        raise
    except BaseException as error:
        return False, error


class RemoteTraceback(Exception):
    """The traceback of a failed task on its worker, as text: the cause of the task's error."""


class RemoteError(NamedTuple):
    """The error of a task, pickled together with the text of its traceback."""

    error: BaseException
    text: str

    def __reduce__(self) -> Any:
        return _with_text, tuple(self)


def _with_text(error: BaseException, text: str) -> BaseException:
    error.__cause__ = RemoteTraceback(text)
    return error


def _remote(error: BaseException, comm: Any) -> RemoteError:
    """Return a task's error with its traceback, in the form of mpi4py."""
    lines = traceback.format_exception(error.with_traceback(within(error)))
    error.__cause__ = error.__context__ = None
    worker = f"### Worker {comm.rank} of {comm.size}"
    return RemoteError(error, f'\n{worker}\n"""\n{"".join(lines)}"""')


def _script(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of the master's script for the workers."""
    main = sys.modules["__main__"]
    sys.modules.setdefault(WORKER, main)
    told = {name: options[name] for name in ("path", "wdir", "env", "globals") if name in options}
    if options.get("main", True):
        told["module"] = getattr(getattr(main, "__spec__", None), "name", None)
        told["file"] = getattr(main, "__file__", None)
    return told


def _run_script(told: Mapping[str, Any]) -> None:
    """Run a master's script in a worker, under the name `WORKER`."""
    sys.path.extend(told.get("path", ()))
    if "wdir" in told:
        os.chdir(told["wdir"])
    os.environ.update(told.get("env", {}))
    main = ModuleType(WORKER)
    main.__dict__.update(told.get("globals", {}))
    name, file = told.get("module"), told.get("file")
    code: Any = None
    if name:
        loader: Any = getattr(importlib.util.find_spec(name), "loader", None)
        code = loader.get_code(name)
    elif file:
        with open(file, "rb") as script:
            code = compile(script.read(), file, "exec")
    if file:
        main.__file__ = file
        sys.modules[WORKER] = main
    sys.modules["__main__"] = main
    if code is not None:
        exec(code, main.__dict__)
