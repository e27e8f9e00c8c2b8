"""The state of a processor besides its ``__main__``: modules, random numbers, streams, settings.

Under a real MPI every rank is a process: each rank executes the script's modules and has its own
random numbers and standard streams. Here, this state is put in place while its processor runs. The
processors of a rank share installed modules, except modules whose import reaches mpi4py
(`installed`).
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np


class SettingKind(NamedTuple):
    """A kind of settings: functions that read and replace a setting, given its name."""

    get: Callable[[Any], Any]
    """Returns the current value of a setting."""
    put: Callable[[Any, Any], None]
    """Replaces the value of a setting."""


class InterpreterSetting(NamedTuple):
    """A setting that exists once per interpreter."""

    kind: SettingKind
    """Kind of the setting."""
    name: Any
    """Name of the setting within its kind. Type: hashable."""

    def get(self) -> Any:
        """Return the current value of the setting."""
        return self.kind.get(self.name)

    def put(self, value: Any) -> None:
        """Set a new value of the setting."""
        self.kind.put(self.name, value)


class ProcessState:
    """State that belongs to one processor alone."""

    __slots__ = ("modules", "settings", "states", "streams")

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}
        """Modules by name."""
        self.states: dict[str, Any] = {}
        """States of the random generators that the processor has seeded; None until first saved."""
        self.streams: dict[str, Any] = {}
        """Replacements of ``sys.stdout`` and ``sys.stderr``. Type: dict of str to file."""
        self.settings: dict[InterpreterSetting, Any] = {}
        """The processor's own values of settings; None until first saved."""

    # The import system, `random` and `sys` exist once per interpreter. A processor's own state is
    # therefore moved into their tables before its turn and out of them after it. `Turns.sleep` does
    # this only for processors that own state.

    def enter(self, shared: dict[InterpreterSetting, Any]) -> None:
        """Put the state in place before a turn of its processor.

        Parameters
        ----------
        shared : dict
            Receives the replaced values of settings.
        """
        sys.modules.update(self.modules)
        for name, state in self.states.items():
            GENERATORS[name].restore(state)
        vars(sys).update(self.streams)
        for setting, value in self.settings.items():
            shared[setting] = setting.get()
            setting.put(value)

    def leave(self, shared: dict[InterpreterSetting, Any]) -> None:
        """Take the state away after the turn and restore the shared settings.

        Parameters
        ----------
        shared : dict
            Values of settings for processors without their own.
        """
        for name in self.modules:
            sys.modules.pop(name, None)
        for name in self.states:
            self.states[name] = GENERATORS[name].state()
        if self.settings:
            settings = {setting: setting.get() for setting in self.settings}
            for setting in settings:
                setting.put(shared[setting])
            # A setting that equals the shared value again is dropped, and costs nothing at later
            # switches.
            self.settings = {each: own for each, own in settings.items() if own != shared[each]}


class Generator(NamedTuple):
    """A library's global random generator, which a script may seed for its processor."""

    module: Any
    """Module with the function ``seed``."""
    state: Callable[[], Any]
    """Returns the state."""
    restore: Callable[[Any], None]
    """Sets the state."""


GENERATORS = {
    "random": Generator(random, random.getstate, random.setstate),
    "numpy": Generator(np.random, np.random.get_state, np.random.set_state),
}
