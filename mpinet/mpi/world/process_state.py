"""The state of a processor beside its ``__main__``: modules, random numbers, streams.

Under a real MPI every rank is a process: modules that scripts bring along are executed by each,
and each has its own random numbers and standard streams. Here they are put in place while their
processor runs. What is installed with Python is shared by the processors of a rank, but for what
reaches mpi4py when it is imported (`installed`).
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np


class SettingKind(NamedTuple):
    """Kind of settings: how one is read and replaced, by its name among those of the kind."""

    get: Callable[[Any], Any]
    """Returns what is in place."""
    put: Callable[[Any, Any], None]
    """Puts something in its place."""


class InterpreterSetting(NamedTuple):
    """Something that can be changed for the whole interpreter."""

    kind: SettingKind
    """Kind of the setting."""
    name: Any
    """Name of the setting among those of its kind. Type: hashable."""

    def get(self) -> Any:
        """Return what is in place."""
        return self.kind.get(self.name)

    def put(self, value: Any) -> None:
        """Put something in place."""
        self.kind.put(self.name, value)


class ProcessState:
    """State that one processor has of its own."""

    __slots__ = ("modules", "settings", "states", "streams")

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}
        """Modules by name."""
        self.states: dict[str, Any] = {}
        """States of generators of random numbers that it has seeded; None where not saved yet."""
        self.streams: dict[str, Any] = {}
        """Replacements of ``sys.stdout`` and ``sys.stderr``. Type: dict of str to file."""
        self.settings: dict[InterpreterSetting, Any] = {}
        """Processor's own values of settings that the interpreter has once; None if not saved
        yet."""

    # The import system, `random` and `sys` know one interpreter. So what a processor has of its own
    # is moved into their tables before its turn and out of them after it, and only for processors
    # that own something: `Turns.sleep` calls neither method for any other.

    def enter(self, shared: dict[InterpreterSetting, Any]) -> None:
        """Put it in place, before a turn of its processor.

        Parameters
        ----------
        shared : dict
            Gets what was in place.
        """
        sys.modules.update(self.modules)
        for name, state in self.states.items():
            GENERATORS[name].restore(state)
        vars(sys).update(self.streams)
        for setting, value in self.settings.items():
            shared[setting] = setting.get()
            setting.put(value)

    def leave(self, shared: dict[InterpreterSetting, Any]) -> None:
        """Take it away again, after the turn.

        Parameters
        ----------
        shared : dict
            The settings of those who have set nothing for themselves.
        """
        for name in self.modules:
            sys.modules.pop(name, None)
        for name in self.states:
            self.states[name] = GENERATORS[name].state()
        if self.settings:
            settings = {setting: setting.get() for setting in self.settings}
            for setting in settings:
                setting.put(shared[setting])
            # A setting that is the shared one again is dropped. Then the processor pays nothing for
            # it at later switches.
            self.settings = {each: own for each, own in settings.items() if own != shared[each]}


class Generator(NamedTuple):
    """A library's one generator of random numbers, which a script seeds for its processor."""

    module: Any
    """Module with the function ``seed``."""
    state: Callable[[], Any]
    """Gives the state."""
    restore: Callable[[Any], None]
    """Sets the state."""


GENERATORS = {
    "random": Generator(random, random.getstate, random.setstate),
    "numpy": Generator(np.random, np.random.get_state, np.random.set_state),
}
