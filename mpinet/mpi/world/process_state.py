"""What a processor has of its own beside its ``__main__``: modules, random numbers, streams.

Under a real MPI every rank is a process: modules that scripts bring along are executed by each,
and each has its own random numbers and standard streams. Here they are put in place while their
processor runs. What is installed with Python is shared by the processors of a rank, but for what
reaches mpi4py when it is imported (`installed`).
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from mpinet.mpi.world.installed import Installed, package_of

if TYPE_CHECKING:
    from mpinet.mpi.world.processor import Processor
    from mpinet.mpi.world.settings import Setting
    from mpinet.mpi.world.world import World


class ProcessState:
    """What one processor has of its own.

    Attributes
    ----------
    modules : dict of str to ModuleType
        Modules by name.
    states : dict
        States of generators of random numbers that it has seeded; None where not saved yet.
    streams : dict of str to file
        What it has put in the places of ``sys.stdout`` and ``sys.stderr``.
    settings : dict from Setting
        What it has set for itself of what is one for the interpreter; None where not saved yet.
    """

    __slots__ = ("modules", "settings", "states", "streams")

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}
        self.states: dict[str, Any] = {}
        self.streams: dict[str, Any] = {}
        self.settings: dict[Setting, Any] = {}

    # The import system, `random` and `sys` know one interpreter. So what a processor has of its own
    # is moved into their tables before its turn and out of them after it, and only for processors
    # that own something: `Turns.sleep` calls neither method for any other.

    def enter(self, shared: dict[Setting, Any]) -> None:
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

    def leave(self, shared: dict[Setting, Any]) -> None:
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
            self.settings = {each: own for each, own in settings.items() if own != shared[each]}


class Generator:
    """A library's one generator of random numbers, which a script seeds for its processor.

    Parameters
    ----------
    module : ModuleType
        Has the function ``seed``.
    state, restore : callable
        Give and set its state.
    """

    def __init__(
        self, module: ModuleType, state: Callable[[], Any], restore: Callable[[Any], None]
    ):
        self.module: Any = module
        self.state = state
        self.restore = restore


GENERATORS = {
    "random": Generator(random, random.getstate, random.setstate),
    "numpy": Generator(np.random, np.random.get_state, np.random.set_state),
}


class Privacy:
    """Tells what processors have of their own from what they share.

    Attributes
    ----------
    installed : Installed
        Tells which installed modules are every processor's own.
    present : int
        Modules that are there while no processor runs.
    stdout, stderr : file
        The streams of processors that have replaced none.
    settings : dict from Setting
        The settings of processors that have set nothing for themselves, of those that some have.
    """

    def __init__(self) -> None:
        self.installed = Installed()
        self._shared: set[str] = set()
        self._parts: dict[str, list[str]] = {}
        self._share(list(sys.modules))
        self.present = len(sys.modules)
        self.stdout, self.stderr = sys.stdout, sys.stderr
        self.settings: dict[Setting, Any] = {}

    def leave(self, processor: Processor) -> None:
        """Take away what is a processor's own, now that it stops."""
        own = processor.own
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

    def change(self, processor: Processor, setting: Setting) -> None:
        """Let the running processor have a setting of its own, which is about to be changed."""
        own = processor.own = processor.own or ProcessState()
        if setting not in own.settings:
            self.settings[setting] = setting.get()
            own.settings[setting] = None

    def shares(self, name: str) -> bool:
        """Whether processors share a module, of which one has the turn that loaded it behind it."""
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
        while claimed:
            for package in claimed:
                self.installed.claim(package)
            new = [name for name in sys.modules if name not in self._shared]
            claimed = {package_of(name) for name in new if self.installed.refers(name)}

    def _sorted(self, processor: Processor) -> ProcessState | None:
        """What a processor has of its own, with what it has imported since it was called."""
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
def own_random_numbers(world: World) -> Iterator[None]:
    """Within it, a processor that seeds random numbers draws its own from then on."""
    seeds = {name: generator.module.seed for name, generator in GENERATORS.items()}
    states = {name: generator.state() for name, generator in GENERATORS.items()}

    def seeding(name: str) -> Callable[..., Any]:
        def seed(*arguments: Any, **named: Any) -> Any:
            here = world.turns.current
            here.own = here.own or ProcessState()
            here.own.states.setdefault(name, None)
            return seeds[name](*arguments, **named)

        return seed

    for name, generator in GENERATORS.items():
        generator.module.seed = seeding(name)
    try:
        yield
    finally:
        for name, generator in GENERATORS.items():
            generator.module.seed = seeds[name]
            generator.restore(states[name])
