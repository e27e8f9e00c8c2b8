"""What the commands do, as functions of the same names and options.

The command line and Python meet in each command's `prepare`, which checks all that can be checked
without MPI and gives a `Job`; what that finds becomes a `Result`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mpinet.errors import UsageError
from mpinet.numerals import quoted

MODULES = {"descend": "ascend", "gather": "scatter"}
"""Commands that share a module; the others have one of their name."""


def function_of(command: str) -> Callable[..., Any]:
    """The function that does a command.

    Raises
    ------
    UsageError
        There is no such function.
    """
    name = f"{__name__}.{MODULES.get(command, command)}"
    try:
        function: Callable[..., Any] = getattr(import_module(name), command)
    except (ImportError, AttributeError):
        function = import_module
    if function.__module__ != name:
        raise UsageError(f"Python has no function for a command {quoted(command)}.")
    return function
