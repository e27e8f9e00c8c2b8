"""What processors' scripts want to be called when they end, as by ``atexit``."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]

KEPT = "__atexit__"
"""Under this name a script's ``__main__`` keeps its own calls."""


def call_last(main: dict[str, Any]) -> None:
    """Call what a script has registered, the last first."""
    calls: list[Call] = main.get(KEPT, [])
    while calls:
        function, arguments, named = calls.pop()
        function(*arguments, **named)


def _register(function: Any, *arguments: Any, **named: Any) -> Any:
    """Register a function of a script for its processor's end, any other for the process's."""
    caller = sys._getframe(1).f_globals
    if caller.get("__name__") == "__main__":
        caller.setdefault(KEPT, []).append((function, arguments, named))
        return function
    return _REGISTER(function, *arguments, **named)


def _unregister(function: Callable[..., Any]) -> None:
    """Register a function no longer."""
    calls: list[Call] = sys._getframe(1).f_globals.get(KEPT, [])
    calls[:] = [call for call in calls if call[0] != function]
    _UNREGISTER(function)


_REGISTER, _UNREGISTER = atexit.register, atexit.unregister


@contextmanager
def at_end_of_processors() -> Iterator[None]:
    """Within it, scripts register functions for the ends of their processors."""
    module: Any = atexit
    module.register, module.unregister = _register, _unregister
    try:
        yield
    finally:
        module.register, module.unregister = _REGISTER, _UNREGISTER
