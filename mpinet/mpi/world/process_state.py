"""What a processor has of its own beside its ``__main__``: modules, random numbers, streams.

Under a real MPI every rank is a process: modules that scripts bring along are executed by each,
and each has its own random numbers and standard streams. Here they are put in place while their
processor runs. What is installed with Python is shared by the processors of a rank.
"""

from __future__ import annotations

import os
import random
import site
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mpinet.mpi.world.processor import Processor
    from mpinet.mpi.world.world import World

LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib")

INSTALLED = tuple(
    os.path.join(os.path.realpath(folder), "")
    for folder in {*map(sysconfig.get_path, LIBRARIES), site.getusersitepackages()}
)
"""Where modules lie that are installed with Python; not all that is below its folder."""


class Own:
    """What one processor has of its own.

    Attributes
    ----------
    modules : dict of str to ModuleType
        Modules by name.
    states : dict
        States of generators of random numbers that it has seeded; None where not saved yet.
    streams : dict of str to file
        What it has put in the places of ``sys.stdout`` and ``sys.stderr``.
    """

    __slots__ = ("modules", "states", "streams")

    def __init__(self) -> None:
        self.modules: dict[str, ModuleType] = {}
        self.states: dict[str, Any] = {}
        self.streams: dict[str, Any] = {}

    def enter(self) -> None:
        """Put it in place."""
        sys.modules.update(self.modules)
        for name, state in self.states.items():
            GENERATORS[name].restore(state)
        vars(sys).update(self.streams)

    def leave(self) -> None:
        """Take it away again."""
        for name in self.modules:
            sys.modules.pop(name, None)
        for name in self.states:
            self.states[name] = GENERATORS[name].state()


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

    They share the modules that are installed with Python, but for those of mpi4py.

    Attributes
    ----------
    present : int
        Modules that are there while no processor runs.
    stdout, stderr : file
        The streams of processors that have replaced none.
    """

    def __init__(self) -> None:
        self._shared = set(sys.modules)
        self.present = len(sys.modules)
        self.stdout, self.stderr = sys.stdout, sys.stderr

    def leave(self, processor: Processor) -> None:
        """Take away what is a processor's own, now that it stops."""
        own = processor.own
        if len(sys.modules) != self.present + (0 if own is None else len(own.modules)):
            own = self._sorted(processor)
        if sys.stdout is not self.stdout or sys.stderr is not self.stderr:
            own = processor.own = own or Own()
            own.streams = {"stdout": sys.stdout, "stderr": sys.stderr}
            sys.stdout, sys.stderr = self.stdout, self.stderr
        elif own is not None:
            own.streams = {}
        if own is not None:
            own.leave()

    def _sorted(self, processor: Processor) -> Own | None:
        """What a processor has of its own, with what it has imported since it was called."""
        new = [name for name in sys.modules if name not in self._shared]
        found = {name: sys.modules[name] for name in new if _is_private(name)}
        self._shared.update(name for name in new if name not in found)
        self.present = len(sys.modules) - len(found)
        if found:
            processor.own = processor.own or Own()
            processor.own.modules = found
        return processor.own


def _is_private(name: str) -> bool:
    """Whether a module is a processor's own."""
    top = name.partition(".")[0]
    if top in ("mpi4py", "mpinet"):
        return top == "mpi4py"
    module = sys.modules[name]
    file = getattr(module, "__file__", None)
    places = list(getattr(module, "__path__", ())) if file is None else [file]
    return any(not os.path.realpath(one).startswith(INSTALLED) for one in places)


@contextmanager
def own_random_numbers(world: World) -> Iterator[None]:
    """Within it, a processor that seeds random numbers draws its own from then on."""
    seeds = {name: one.module.seed for name, one in GENERATORS.items()}
    states = {name: one.state() for name, one in GENERATORS.items()}

    def seeding(name: str) -> Callable[..., Any]:
        def seed(*arguments: Any, **named: Any) -> Any:
            here = world.current
            here.own = here.own or Own()
            here.own.states.setdefault(name, None)
            return seeds[name](*arguments, **named)

        return seed

    for name, one in GENERATORS.items():
        one.module.seed = seeding(name)
    try:
        yield
    finally:
        for name, one in GENERATORS.items():
            one.module.seed = seeds[name]
            one.restore(states[name])
