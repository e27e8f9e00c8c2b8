"""A crew: processors that do tasks for one of them, the master."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections import deque
from collections.abc import Mapping
from heapq import heappop, heappush
from types import ModuleType
from typing import Any

from greenlet import GreenletExit

from mpinet.mpi.futures.pending import Ending
from mpinet.mpi.messages.objects import dumps, loads
from mpinet.mpi.world.calls import running

WORKER = "__worker__"
"""The name of a script in those who work for another one."""

MAIN, BEGIN, CALL, END = range(4)
"""Words of a master to its workers: the script, an initializer, a task, and that it is over."""


class Crew:
    """The workers of a communicator, as the master has them.

    Parameters
    ----------
    comm : Intracomm or Intercomm
        Master and workers.
    has_script : bool
        Whether the workers run the master's script anyway.

    Attributes
    ----------
    size : int
        Workers.
    context : int
        The communicator's context.
    """

    def __init__(self, comm: Any, has_script: bool):
        self._comm = comm
        self.context: int = comm._context
        others = range(comm.remote_size) if comm.is_inter else range(comm.size)
        self._workers = [rank for rank in others if comm.is_inter or rank != comm.rank]
        self.size = len(self._workers)
        self._idle = list(self._workers)
        self._waiting: deque[Ending] = deque()
        self._given: dict[int, int] = {}
        self._is_told = has_script

    def begin(self, options: Mapping[str, Any]) -> bool:
        """Let the workers know the script, and call an initializer; whether that went well."""
        if not self._is_told:
            self._is_told = True
            self._all(MAIN, _script(options))
        initializer = options.get("initializer")
        if initializer is None:
            return True
        task = initializer, options.get("initargs", ()), options.get("initkwargs", {})
        if not self._workers:
            return done(task)[0]
        self._all(BEGIN, dumps(task))
        return all([self._comm.recv(source=worker)[0] for worker in self._workers])

    def do(self, task: Any) -> tuple[bool, Any]:
        """Let a worker do a task; whether it went well, and its result or its error."""
        worker = self._take()
        try:
            if worker is None:
                return done(task)
            self._comm.send((CALL, dumps(task)), worker)
            found: tuple[bool, Any] = self._comm.recv(source=worker)
            return found
        except Exception as error:  # what cannot be pickled
            return False, error
        finally:
            self._give(worker)

    def end(self) -> None:
        """Let the workers go."""
        self._all(END, None)

    def _all(self, kind: int, told: Any) -> None:
        for worker in self._workers:
            self._comm.send((kind, told), worker)

    def _take(self) -> int | None:
        """Wait for a worker that has nothing to do; None if the master is alone."""
        if not self._workers:
            return None
        if self._idle:
            return heappop(self._idle)
        ending = Ending(running.turns.current, self.context)
        self._waiting.append(ending)
        running.turns.wait(ending)
        return self._given.pop(id(ending))

    def _give(self, worker: int | None) -> None:
        """Give a worker to the first who waits for one."""
        if worker is None:
            return
        if self._waiting:
            ending = self._waiting.popleft()
            self._given[id(ending)] = worker
            running.turns.happened(ending)
        else:
            heappush(self._idle, worker)


def serve(comm: Any, master: int) -> None:
    """Do what a master tells, until it is over."""
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
            comm.send(found, master)
        except Exception as error:  # what cannot be pickled
            comm.send((False, type(error)(*map(str, error.args))), master)


def done(task: Any) -> tuple[bool, Any]:
    """Do a task; whether it went well, and its result or its error."""
    function, arguments, named = task
    try:
        return True, function(*arguments, **named)
    except GreenletExit:
        raise
    except BaseException as error:
        return False, error


def _script(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what workers are told of the master's script."""
    main = sys.modules["__main__"]
    sys.modules.setdefault(WORKER, main)
    told = {name: options[name] for name in ("path", "wdir", "env", "globals") if name in options}
    if options.get("main", True):
        told["module"] = getattr(getattr(main, "__spec__", None), "name", None)
        told["file"] = getattr(main, "__file__", None)
    return told


def _run_script(told: Mapping[str, Any]) -> None:
    """Run a master's script in a worker, which knows itself by the name that it has there."""
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
