"""The commands, as functions of the same names and options.

A module here declares a command: the record of its options, the class of its result, its function.
The job is in the module of the same name in `mpinet.jobs`, so that parser and help stay quick.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mpinet.base.numerals import quoted
from mpinet.commands.catalogue import COMMANDS, MODULES
from mpinet.errors import UsageError


def function_of(command: str) -> Callable[..., Any]:
    """Return the function that does a command.

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
    """Import and return the module that declares a command."""
    return import_module(f"{__name__}.{MODULES.get(command, command)}")
