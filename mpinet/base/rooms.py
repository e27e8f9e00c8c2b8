"""Rooms that are commands, too: ``mpinet.measure(..)`` beside ``mpinet.measure.diameter(..)``.

A room knows no commands: the package says what a call of it does, loaded when it is called.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

_commands: list[Callable[[str], Callable[..., Any]]] = []


class Room(ModuleType):
    """Module that is called as the command of its name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Do what the command of this name does."""
        return _commands[0](self.__name__.rpartition(".")[2])(*args, **options)


def commanded_by(function_of: Callable[[str], Callable[..., Any]]) -> None:
    """Register how to find the function of a command."""
    _commands[:] = [function_of]


def called(name: str) -> None:
    """Let the module of this name be called."""
    sys.modules[name].__class__ = Room
