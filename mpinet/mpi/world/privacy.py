"""Tell what processors have of their own from what they share, when one stops and others run.

Modules are counted before and after a turn, since imports cannot be hooked for what is in
`sys.modules` already; seeds are noticed, streams compared.
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
    """Tells what processors have of their own from what they share.

    Parameters
    ----------
    own : iterable of str
        Installed packages that each loads for itself, beside those that reach mpi4py.
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
        """The settings of processors that have set nothing for themselves, of those that some
        have."""

    def leave(self, processor: Processor) -> None:
        """Take away what is a processor's own, now that it stops."""
        own = processor.own
        # A count is the whole test, since comparing a thousand names at each switch would cost more
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
        """Let the running processor have a setting of its own, which is about to be changed."""
        own = processor.own = processor.own or ProcessState()
        if setting not in own.settings:
            # The value before the change is that of all others. It comes back when the processor
            # stops.
            self.settings[setting] = setting.get()
            own.settings[setting] = None

    def shares(self, name: str) -> bool:
        """Tell if processors share a module, of which one has the turn that loaded it behind it."""
        return name in self._shared

    def parts(self, package: str) -> list[str]:
        """The names, in a package, of its modules that processors share."""
        return self._parts.get(package, [])

    def claim(self, packages: Iterable[str]) -> None:
        """Let every processor load packages for itself, and those that have parts of them.

        What was loaded in this turn is the running processor's alone as yet; what others share by
        now stays shared.
        """
        claimed = set(packages)
        # A package that imports a claimed one is claimed as well, until nothing changes: it may
        # hold the other's objects in its variables.
        while claimed:
            for package in claimed:
                self.installed.claim(package)
            new = [name for name in sys.modules if name not in self._shared]
            claimed = {package_of(name) for name in new if self.installed.refers(name)}

    def _sorted(self, processor: Processor) -> ProcessState | None:
        """Return what a processor has of its own, with what it has imported since it was called."""
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
        """Let processors share modules."""
        self._shared.update(names)
        for name in names:
            package, _, part = name.rpartition(".")
            self._parts.setdefault(package, []).append(part)


@contextmanager
def own_random_numbers(running: Callable[[], Processor]) -> Iterator[None]:
    """Let a processor that seeds random numbers draw its own from then on, within the context.

    Parameters
    ----------
    running : callable
        Gives the running processor.
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
        for name, generator in GENERATORS.items():
            generator.restore(states[name])
