"""The commands as Python functions, with the names and options of the command line.

Each module declares a command: the record of its options, the class of its result, and its
function. The work is done by the module of the same name in `mpinet.jobs`. This split keeps parser
and help fast.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mpinet.base.numerals import quoted
from mpinet.commands.catalogue import COMMANDS, MODULES
from mpinet.errors import UsageError


def function_of(command: str) -> Callable[..., Any]:
    """Return the function of a command.

    Raises
    ------
    UsageError
        There is no such command.
    """
    if command not in COMMANDS:
        raise UsageError(f"There is no command {quoted(command)}.")
    function: Callable[..., Any] = getattr(module_of(command), command.split()[-1])
    return function


def module_of(command: str) -> Any:
    """Import and return the module of a command."""
    return import_module(f"{__name__}.{MODULES.get(command, command)}")
