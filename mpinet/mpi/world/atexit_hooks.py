"""The functions that processors' scripts want to be called when they end, as by ``atexit``."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from mpinet.mpi.real import REAL
from mpinet.mpi.world.replacing import replaced

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

PLAIN = (
    *(ModuleType, FunctionType, BuiltinFunctionType, type),
    *(str, bytes, complex, float, int, type(None)),
)
"""Types that have no end of their own that a script could notice."""

KEPT = "__atexit__"
"""Under this name a script's ``__main__`` keeps its own calls."""


def call_last(main: dict[str, Any]) -> None:
    """Call what a script has registered, the last first."""
    calls: list[Call] = main.get(KEPT, [])
    while calls:
        function, arguments, named = calls.pop()
        function(*arguments, **named)


def call_at_end(function: Callable[[], Any]) -> None:
    """Let something be called at the end of the running processor's script."""
    vars(sys.modules["__main__"]).setdefault(KEPT, []).append((function, (), {}))


def release_objects(main: ModuleType | None) -> None:
    """Let go of a script's objects, the last first, so that their ``__del__`` is its processor's.

    What such a function may use stays: modules, functions, classes, plain values, MPI's objects.
    """
    if main is None:
        return
    names = [name for name, value in vars(main).items() if not _may_be_used(name, value)]
    # The last defined first, as objects usually refer to older ones.
    for name in reversed(names):
        vars(main).pop(name, None)


def _may_be_used(name: str, value: Any) -> bool:
    """Tell if something in a script may be of use to what its objects do at their end."""
    kind = type(value)
    return name.startswith("__") or isinstance(value, PLAIN) or kind.__module__ == REAL.__name__


@contextmanager
def garbage_collected() -> Iterator[None]:
    """Within it, scripts leave objects in cycles, whose ``__del__`` is called before its end."""
    gc.freeze()  # what is there before them is none of theirs
    try:
        yield
    finally:
        gc.collect()
        gc.unfreeze()


@contextmanager
def at_end_of_processors(main_of: Callable[[str], ModuleType | None]) -> Iterator[None]:
    """Within it, scripts register functions for the ends of their processors.

    Parameters
    ----------
    main_of : callable
        Gives the ``__main__`` of the processor that has a module of its own; None: it is shared,
        and what it registers is called at the end of the process.
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
