"""What is one for the whole interpreter, and under a real MPI one for each rank.

Environment, current folder, filters of warnings, handlers and levels of logging and asyncio's
running loop: a processor that changes one of these has its own from then on, which is put in place
while it runs. Others do not notice, and switching to them costs nothing.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any, NamedTuple

from mpinet.mpi.world.world import World


class Setting(NamedTuple):
    """Something that can be changed for the whole interpreter.

    Attributes
    ----------
    kind : type
        Has functions that `get` it and `put` another value in its place.
    name : hashable
        Which one of its kind.
    """

    kind: Any
    name: Any

    def get(self) -> Any:
        """What is in place."""
        return self.kind.get(self.name)

    def put(self, value: Any) -> None:
        """Put something in place."""
        self.kind.put(self.name, value)


class Variable:
    """Environment variables, by name; None if there is none."""

    @staticmethod
    def get(name: str) -> str | None:
        """Its value."""
        return os.environ.get(name)

    @staticmethod
    def put(name: str, value: str | None) -> None:
        """Set it, or take it away."""
        if value is not None:
            SET_VARIABLE(os.environ, name, value)
        elif name in os.environ:
            DELETE_VARIABLE(os.environ, name)


class Folder:
    """The current folder."""

    @staticmethod
    def get(name: str) -> str:
        """Where it is."""
        return os.getcwd()

    @staticmethod
    def put(name: str, value: str) -> None:
        """Go there, if it is still there."""
        with suppress(OSError):
            CHANGE_FOLDER(value)


class Warned:
    """What ``warnings`` keeps in a variable."""

    @staticmethod
    def get(name: str) -> Any:
        """Its value."""
        return vars(warnings)[name]

    @staticmethod
    def put(name: str, value: Any) -> None:
        """Replace it."""
        vars(warnings)[name] = value


class Logged:
    """A logger's handlers, filters, level and flags."""

    @staticmethod
    def get(logger: logging.Logger) -> tuple[Any, ...]:
        """As they are; the lists are not to be changed."""
        return logger.handlers, logger.filters, logger.level, logger.disabled, logger.propagate

    @staticmethod
    def put(logger: logging.Logger, value: tuple[Any, ...]) -> None:
        """Replace them."""
        before = logger.level
        (logger.handlers, logger.filters, logger.level, logger.disabled, logger.propagate) = value
        if logger.level != before:
            logger.manager._clear_cache()  # type: ignore[attr-defined]


class Loop:
    """asyncio's running loop, with what is known of asynchronous generators."""

    @staticmethod
    def get(name: str) -> tuple[Any, ...]:
        """What runs."""
        events: Any = sys.modules["asyncio.events"]
        return events._get_running_loop(), sys.get_asyncgen_hooks()

    @staticmethod
    def put(name: str, value: tuple[Any, ...]) -> None:
        """Let another one be the one that runs."""
        loop, hooks = value
        sys.modules["asyncio"]._set_running_loop(loop)
        sys.set_asyncgen_hooks(*hooks)


class Variables:
    """What a module that processors share has in its variables."""

    @staticmethod
    def get(module: ModuleType) -> Names:
        """Their values, by name."""
        return Names(vars(module))

    @staticmethod
    def put(module: ModuleType, value: Names) -> None:
        """Replace them all, but for modules that processors share, which were imported since."""
        names = vars(module)
        for name in names.keys() - value.keys():
            if not _is_module_of(module, name):
                del names[name]
        names.update(value)


class Names(dict[str, Any]):
    """Values by name; the same ones are equal."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Names)
            and self.keys() == other.keys()
            and all(value is other[name] for name, value in self.items())
        )

    __hash__ = None  # type: ignore[assignment]


def _is_module_of(package: ModuleType, name: str) -> bool:
    """Whether a package's name is that of a module of it which is there."""
    found = sys.modules.get(f"{package.__name__}.{name}")
    return found is not None and vars(package)[name] is found


FOLDER = Setting(Folder, "")
LOOP = Setting(Loop, "")
WARNED = {name: Setting(Warned, name) for name in ("filters", "showwarning", "_showwarnmsg_impl")}

SET_VARIABLE: Callable[..., None] = os._Environ.__setitem__
DELETE_VARIABLE: Callable[..., None] = os._Environ.__delitem__
CHANGE_FOLDER: Callable[..., None] = os.chdir


class WatchedWarnings(ModuleType):
    """``warnings``, while its variables may be set for one processor."""

    watch: Callable[[Setting], None]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in WARNED:
            WatchedWarnings.watch(WARNED[name])
        super().__setattr__(name, value)


@contextmanager
def own_settings(world: World) -> Iterator[None]:
    """Within it, a processor that changes a setting has its own from then on."""

    def changing(setting: Setting) -> None:
        here = world.turns.current
        if here.main is not None:
            world.turns.privacy.change(here, setting)

    def around(function: Callable[..., Any], of: Callable[..., Setting]) -> Callable[..., Any]:
        def changed(*arguments: Any, **named: Any) -> Any:
            changing(of(*arguments))
            return function(*arguments, **named)

        return changed

    def filters(*_: Any) -> Setting:
        """The filters of warnings: functions change the list, which has to be one's own."""
        changing(WARNED["filters"])
        if warnings.filters is world.turns.privacy.settings.get(WARNED["filters"]):
            Warned.put("filters", list(warnings.filters))
        return WARNED["filters"]

    def logger(logged: logging.Logger, *_: Any) -> Setting:
        """A logger, whose lists have to be one's own."""
        setting = Setting(Logged, logged)
        if world.turns.current.main is not None:
            changing(setting)
            handlers, others, *rest = Logged.get(logged)
            Logged.put(logged, (list(handlers), list(others), *rest))
        return setting

    places: list[tuple[Any, str, Callable[..., Setting]]] = [
        (os._Environ, "__setitem__", lambda _, name, *rest: Setting(Variable, name)),
        (os._Environ, "__delitem__", lambda _, name: Setting(Variable, name)),
        (os, "chdir", lambda *_: FOLDER),
        (os, "fchdir", lambda *_: FOLDER),
        *(
            (warnings, name, filters)
            for name in ("simplefilter", "filterwarnings", "resetwarnings")
        ),
        *((logging.Logger, name, logger) for name in ("setLevel", "addHandler", "removeHandler")),
    ]
    replaced = [(owner, name, vars(owner).get(name)) for owner, name, _ in places]
    for (owner, name, of), (_, _, function) in zip(places, replaced, strict=True):
        setattr(owner, name, around(function, of))
    LOOPS.append(around(_set_loop, lambda *_: LOOP))
    watch_loops()
    WatchedWarnings.watch = staticmethod(changing)
    kind, warnings.__class__ = warnings.__class__, WatchedWarnings
    try:
        yield
    finally:
        warnings.__class__ = kind
        LOOPS.pop()
        watch_loops()
        for owner, name, function in replaced:
            setattr(owner, name, function)
        for setting, value in world.turns.privacy.settings.items():
            setting.put(value)


LOOPS: list[Callable[..., None]] = []
"""What sets asyncio's running loop during a run."""


def _set_loop(loop: Any) -> None:
    sys.modules["asyncio"]._set_running_loop(loop)


def watch_loops() -> None:
    """Note which loop runs, where asyncio is there by now."""
    events: Any = sys.modules.get("asyncio.events")
    if events is not None:
        events._set_running_loop = LOOPS[-1] if LOOPS else sys.modules["asyncio"]._set_running_loop
