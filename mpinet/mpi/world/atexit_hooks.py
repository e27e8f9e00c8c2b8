"""Functions registered by processors' scripts for their end, for example by ``atexit``."""

from __future__ import annotations

import atexit
import gc
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from mpinet.mpi.real import REAL
from mpinet.mpi.world.failure import within
from mpinet.mpi.world.replacing import replaced

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

PLAIN = (
    *(ModuleType, FunctionType, BuiltinFunctionType, type),
    *(str, bytes, complex, float, int, type(None)),
)
"""Types of objects without an end that a script could notice."""

KEPT = "__atexit__"
"""Name under which a script's ``__main__`` keeps its registered calls."""


def call_last(main: dict[str, Any]) -> None:
    """Call the functions registered by a script, in reverse order; print their errors."""
    calls: list[Call] = main.get(KEPT, [])
    while calls:
        function, arguments, named = calls.pop()
        try:
            function(*arguments, **named)
        except Exception as error:  # as in Python, an error ends neither the script nor the others
            text = "".join(traceback.format_exception(error.with_traceback(within(error))))
            sys.stderr.write(f"Exception ignored in atexit callback {function!r}:\n{text}")


def call_at_end(function: Callable[[], Any]) -> None:
    """Register a function to be called at the end of the running processor's script."""
    vars(sys.modules["__main__"]).setdefault(KEPT, []).append((function, (), {}))


def release_objects(main: ModuleType | None) -> None:
    """Release a script's objects in reverse order, so ``__del__`` runs on its own processor.

    Objects that a ``__del__`` may use stay: modules, functions, classes, plain values, MPI objects.
    """
    if main is None:
        return
    names = [name for name, value in vars(main).items() if not _may_be_used(name, value)]
    # In reverse order of definition, because objects usually refer to older objects.
    for name in reversed(names):
        vars(main).pop(name, None)


def _may_be_used(name: str, value: Any) -> bool:
    """Return whether a script's variable may be used by ``__del__`` of its objects."""
    kind = type(value)
    return name.startswith("__") or isinstance(value, PLAIN) or kind.__module__ == REAL.__name__


SCRIPTS = 16
"""Factor by which garbage collections are rarer while scripts run in one process."""


@contextmanager
def garbage_collected() -> Iterator[None]:
    """Context manager: at its end, objects in reference cycles left by scripts are collected."""
    gc.freeze()  # earlier objects do not belong to the scripts
    # Python collects after a number of new objects, and here many scripts make them.
    young, *older = gc.get_threshold()
    gc.set_threshold(young * SCRIPTS, *older)
    try:
        yield
    finally:
        gc.set_threshold(young, *older)
        gc.collect()
        gc.unfreeze()


@contextmanager
def at_end_of_processors(main_of: Callable[[str], ModuleType | None]) -> Iterator[None]:
    """Context manager: scripts register functions for the end of their processors.

    Parameters
    ----------
    main_of : callable
        Returns the ``__main__`` of the processor that owns a module. None for a shared module,
        whose functions are called at the end of the process.
    """
    register, unregister = atexit.register, atexit.unregister

    def register_own(function: Any, *arguments: Any, **named: Any) -> Any:
        main = main_of(sys._getframe(1).f_globals.get("__name__", ""))
        if main is None:
            return register(function, *arguments, **named)
        vars(main).setdefault(KEPT, []).append((function, arguments, named))
        return function

    def unregister_own(function: Callable[..., Any]) -> None:
        main = main_of(sys._getframe(1).f_globals.get("__name__", ""))
        calls: list[Call] = [] if main is None else vars(main).get(KEPT, [])
        calls[:] = [call for call in calls if call[0] != function]
        unregister(function)

    with replaced((atexit, "register", register_own), (atexit, "unregister", unregister_own)):
        yield
