"""Separates the state of each processor from the shared state of a rank at each switch.

Modules are counted before and after a turn, because import hooks do not see modules that are
already in `sys.modules`. Seeding of random numbers is intercepted. Standard streams are compared.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from mpinet.mpi.world.installed import Installed, package_of
from mpinet.mpi.world.process_state import GENERATORS, InterpreterSetting, ProcessState
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.replacing import replaced


class Privacy:
    """Separates the private state of processors from the state shared on this rank.

    Parameters
    ----------
    own : iterable of str
        Installed packages that each processor loads for itself, in addition to packages that reach
        mpi4py.
    """

    stdout: TextIO
    """Standard output of processors that have not replaced it."""
    stderr: TextIO
    """Standard error of processors that have not replaced it."""

    def __init__(self, own: Iterable[str]) -> None:
        self.installed: Installed = Installed(own)
        """Installed modules that are every processor's own."""
        self._shared: set[str] = set()
        self._parts: dict[str, list[str]] = {}
        self._share(list(sys.modules))
        self.present: int = len(sys.modules)
        """Number of modules in ``sys.modules`` while no processor runs."""
        self.stdout, self.stderr = sys.stdout, sys.stderr
        self.settings: dict[InterpreterSetting, Any] = {}
        """Shared values of the settings for which at least one processor has its own value."""

    def leave(self, processor: Processor) -> None:
        """Remove the processor's own state from the interpreter when its turn ends."""
        own = processor.own
        # The count is the whole test. Comparing a thousand names at each switch would cost more
        # than the turn.
        if len(sys.modules) != self.present + (0 if own is None else len(own.modules)):
            own = self._sorted(processor)
        if sys.stdout is not self.stdout or sys.stderr is not self.stderr:
            own = processor.own = own or ProcessState()
            own.streams = {"stdout": sys.stdout, "stderr": sys.stderr}
            sys.stdout, sys.stderr = self.stdout, self.stderr
        elif own is not None:
            own.streams = {}
        if own is not None:
            own.leave(self.settings)

    def change(self, processor: Processor, setting: InterpreterSetting) -> None:
        """Give the running processor its own copy of a setting before the setting changes."""
        own = processor.own = processor.own or ProcessState()
        if setting not in own.settings:
            # The value before the change is the shared value. It is restored when the processor
            # stops.
            self.settings[setting] = setting.get()
            own.settings[setting] = None

    def shares(self, name: str) -> bool:
        """Return whether processors share a module; valid for modules loaded in earlier turns."""
        return name in self._shared

    def parts(self, package: str) -> list[str]:
        """Return the names of a package's submodules that processors share."""
        return self._parts.get(package, [])

    def claim(self, packages: Iterable[str]) -> None:
        """Make every processor load these packages, and packages that use their parts, for itself.

        Modules loaded in this turn still belong to the running processor alone. Modules that are
        already shared stay shared.
        """
        claimed = set(packages)
        # A package that imports a claimed package may hold its objects in variables. The package is
        # therefore claimed as well, until nothing changes.
        while claimed:
            for package in claimed:
                self.installed.claim(package)
            new = [name for name in sys.modules if name not in self._shared]
            claimed = {package_of(name) for name in new if self.installed.refers(name)}

    def _sorted(self, processor: Processor) -> ProcessState | None:
        """Return the processor's own state, updated with the modules imported during this turn."""
        new = [name for name in sys.modules if name not in self._shared]
        owns = self.installed.owns
        found = {name: sys.modules[name] for name in new if owns(sys.modules[name], name)}
        self._share([name for name in new if name not in found])
        self.present = len(sys.modules) - len(found)
        if found:
            processor.own = processor.own or ProcessState()
            processor.own.modules = found
        return processor.own

    def _share(self, names: Iterable[str]) -> None:
        """Record modules as shared by the rank's processors."""
        self._shared.update(names)
        for name in names:
            package, _, part = name.rpartition(".")
            self._parts.setdefault(package, []).append(part)


@contextmanager
def own_random_numbers(running: Callable[[], Processor]) -> Iterator[None]:
    """Context manager: processors that seed a random generator get random numbers of their own.

    Parameters
    ----------
    running : callable
        Returns the running processor.
    """
    seeds = {name: generator.module.seed for name, generator in GENERATORS.items()}
    states = {name: generator.state() for name, generator in GENERATORS.items()}

    def seeding(name: str) -> Callable[..., Any]:
        def seed(*arguments: Any, **named: Any) -> Any:
            here = running()
            here.own = here.own or ProcessState()
            here.own.states.setdefault(name, None)
            return seeds[name](*arguments, **named)

        return seed

    places = [(generator.module, "seed", seeding(name)) for name, generator in GENERATORS.items()]
    try:
        with replaced(*places):
            yield
    finally:
        for name, state in states.items():
            GENERATORS[name].restore(state)
