"""The settings that are one for the whole interpreter, and under a real MPI one for each rank.

Environment, current folder, filters of warnings, what is set of logging, the folder for temporary
files, signal handlers, some limits and asyncio's running loop: a processor that changes one of
these has its own from then on, which is put in place while it runs. Others do not notice, and
switching to them costs nothing.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any, cast

from mpinet.mpi.world.process_state import InterpreterSetting, SettingKind
from mpinet.mpi.world.replacing import replaced
from mpinet.mpi.world.world import World


class Names(dict[str, Any]):
    """Values by name; the same ones are equal."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Names)
            and self.keys() == other.keys()
            and all(value is other[name] for name, value in self.items())
        )

    __hash__ = None


def _is_module_of(package: ModuleType, name: str) -> bool:
    """Tell if a package's name is that of a module of it which is there."""
    found = sys.modules.get(f"{package.__name__}.{name}")
    return found is not None and vars(package)[name] is found


def _put_variable(name: str, value: str | None) -> None:
    if value is not None:
        SET_VARIABLE(os.environ, name, value)
    elif name in os.environ:
        DELETE_VARIABLE(os.environ, name)


VARIABLE = SettingKind(lambda name: os.environ.get(name), _put_variable)
"""Environment variables, by name; None if there is none."""


def _put_folder(name: str, value: str) -> None:
    with suppress(OSError):  # it may be there no longer
        CHANGE_FOLDER(value)


def _put_module_variable(name: tuple[str, str], value: Any) -> None:
    module, variable = name
    vars(sys.modules[module])[variable] = value


MODULE_VARIABLE = SettingKind(
    lambda name: vars(sys.modules[name[0]])[name[1]], _put_module_variable
)
"""Variables of modules of Python's own, by the names of both."""

LIMIT = SettingKind(lambda name: LIMITS[name][1](), lambda name, value: LIMITS[name][0](value))
"""Numbers that a function sets and another one tells, by the name of the first."""


def _put_signal_handler(number: int, value: Any) -> None:
    if value is not None:  # a handler that is none of Python's cannot be set
        SET_HANDLER(number, value)


SIGNAL_HANDLER = SettingKind(signal.getsignal, _put_signal_handler)
"""Handlers of signals, by the signals' numbers."""


def _put_disabled(name: str, value: int) -> None:
    logging.root.manager.disable = value
    logging.root.manager._clear_cache()  # type: ignore[attr-defined]


def _put_handler(handler: logging.Handler, value: tuple[Any, ...]) -> None:
    handler.filters, handler.level, handler.formatter = value


HANDLER = SettingKind(lambda one: (one.filters, one.level, one.formatter), _put_handler)
"""A logging handler's filters, level and formatter; the list is not to be changed."""


def _put_logger(logger: logging.Logger, value: tuple[Any, ...]) -> None:
    before = logger.level
    vars(logger).update(zip(LOGGED, value, strict=True))
    if logger.level != before:
        logger.manager._clear_cache()  # type: ignore[attr-defined]


LOGGED = ("handlers", "filters", "level", "disabled", "propagate")
"""Attributes of a logger that are set and told."""

LOGGER = SettingKind(lambda logger: tuple(vars(logger)[name] for name in LOGGED), _put_logger)
"""A logger's handlers, filters, level and flags; the lists are not to be changed."""


def _loop(name: str) -> tuple[Any, ...]:
    events: Any = sys.modules["asyncio.events"]
    return events._get_running_loop(), sys.get_asyncgen_hooks()


def _put_loop(name: str, value: tuple[Any, ...]) -> None:
    loop, hooks = value
    sys.modules["asyncio"]._set_running_loop(loop)
    sys.set_asyncgen_hooks(*hooks)


def _put_variables(module: ModuleType, value: Names) -> None:
    """Replace them all, but for modules that processors share, which were imported since."""
    names = vars(module)
    for name in names.keys() - value.keys():
        if not _is_module_of(module, name):
            del names[name]
    names.update(value)


VARIABLES = SettingKind(lambda module: Names(vars(module)), _put_variables)
"""Variables of modules that processors share, by name."""

ARGUMENTS, PATH = (InterpreterSetting(MODULE_VARIABLE, ("sys", name)) for name in ("argv", "path"))
FOLDER = InterpreterSetting(SettingKind(lambda name: os.getcwd(), _put_folder), "")
LOOP = InterpreterSetting(SettingKind(_loop, _put_loop), "")
"""asyncio's running loop, with what is known of asynchronous generators."""
DISABLED = InterpreterSetting(
    SettingKind(lambda name: logging.root.manager.disable, _put_disabled), ""
)
"""The level up to which nothing is logged."""
FILTERS = InterpreterSetting(MODULE_VARIABLE, ("warnings", "filters"))
FACTORY = InterpreterSetting(MODULE_VARIABLE, ("logging", "_logRecordFactory"))
LOGGER_CLASS = InterpreterSetting(MODULE_VARIABLE, ("logging", "_loggerClass"))

WATCHED: dict[ModuleType, tuple[str, ...]] = {
    warnings: ("filters", "showwarning", "_showwarnmsg_impl"),
    tempfile: ("tempdir",),
}
"""Modules whose variables scripts set, and which of them."""

SET_VARIABLE: Callable[..., None] = os._Environ.__setitem__
DELETE_VARIABLE: Callable[..., None] = os._Environ.__delitem__
CHANGE_FOLDER: Callable[..., None] = os.chdir
SET_HANDLER: Callable[..., Any] = signal.signal
SET_MASK: Callable[[int], int] = os.umask


def _mask() -> int:
    """The mask of files' modes, which can be told only by setting another one."""
    mask = SET_MASK(0o077)
    SET_MASK(mask)
    return mask


LIMITS: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "recursion": (sys.setrecursionlimit, sys.getrecursionlimit),
    "time-out": (socket.setdefaulttimeout, socket.getdefaulttimeout),
    "mask": (SET_MASK, _mask),
}
"""Functions by which limits, which are numbers, are set and told."""


class WatchedModule(ModuleType):
    """A module, while its variables may be set for one processor."""

    watch: Callable[[InterpreterSetting], None]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in WATCHED[self]:
            WatchedModule.watch(InterpreterSetting(MODULE_VARIABLE, (self.__name__, name)))
        super().__setattr__(name, value)


@contextmanager
def own_settings(world: World) -> Iterator[None]:
    """Within it, a processor that changes a setting has its own from then on."""

    def changing(setting: InterpreterSetting) -> None:
        here = world.turns.current
        if here.main is not None:
            world.turns.privacy.change(here, setting)

    def around(
        function: Callable[..., Any], of: Callable[..., InterpreterSetting | None]
    ) -> Callable[..., Any]:
        def changed(*arguments: Any, **named: Any) -> Any:
            setting = of(*arguments)
            if setting is not None:
                changing(setting)
            return function(*arguments, **named)

        return changed

    def filters(*_: Any) -> InterpreterSetting:
        """The filters of warnings: functions change the list, which has to be one's own."""
        changing(FILTERS)
        # The functions change the list in place. Without a copy the change would reach every
        # processor.
        if warnings.filters is world.turns.privacy.settings.get(FILTERS):
            vars(warnings)["filters"] = list(warnings.filters)
        return FILTERS

    def logger(logged: logging.Logger, *_: Any) -> InterpreterSetting:
        """A logger, whose lists have to be one's own."""
        setting = InterpreterSetting(LOGGER, logged)
        if world.turns.current.main is not None:
            changing(setting)
            handlers, others, *rest = setting.get()
            setting.put((list(handlers), list(others), *rest))
        return setting

    def flag(logged: logging.Logger, name: str, value: Any) -> InterpreterSetting | None:
        """A logger, if it has a flag by now, which is to be another one."""
        # Loggers set their attributes when they are made. Only a change of a flag makes the logger
        # a processor's own.
        changes = name in ("disabled", "propagate") and vars(logged).get(name, value) != value
        return logger(logged) if changes else None

    def filterer(filtered: logging.Filterer, *_: Any) -> InterpreterSetting:
        """A logger or a handler."""
        if isinstance(filtered, logging.Logger):
            return logger(filtered)
        return handler(cast(logging.Handler, filtered))

    def handler(handled: logging.Handler, *_: Any) -> InterpreterSetting:
        """A handler, whose list has to be one's own."""
        setting = InterpreterSetting(HANDLER, handled)
        if world.turns.current.main is not None:
            changing(setting)
            handled.filters = list(handled.filters)
        return setting

    places: list[tuple[Any, str, Callable[..., InterpreterSetting | None]]] = [
        (os._Environ, "__setitem__", lambda _, name, *rest: InterpreterSetting(VARIABLE, name)),
        (os._Environ, "__delitem__", lambda _, name: InterpreterSetting(VARIABLE, name)),
        (os, "chdir", lambda *_: FOLDER),
        (os, "fchdir", lambda *_: FOLDER),
        *(
            (warnings, name, filters)
            for name in ("simplefilter", "filterwarnings", "resetwarnings")
        ),
        *((logging.Logger, name, logger) for name in ("setLevel", "addHandler", "removeHandler")),
        *((logging.Filterer, name, filterer) for name in ("addFilter", "removeFilter")),
        *((logging.Handler, name, handler) for name in ("setLevel", "setFormatter")),
        (logging.Logger, "__setattr__", flag),
        (logging, "disable", lambda *_: DISABLED),
        (logging, "setLogRecordFactory", lambda *_: FACTORY),
        (logging, "setLoggerClass", lambda *_: LOGGER_CLASS),
        (signal, "signal", lambda number, *_: InterpreterSetting(SIGNAL_HANDLER, int(number))),
        (sys, "setrecursionlimit", lambda *_: InterpreterSetting(LIMIT, "recursion")),
        (socket, "setdefaulttimeout", lambda *_: InterpreterSetting(LIMIT, "time-out")),
        (os, "umask", lambda *_: InterpreterSetting(LIMIT, "mask")),
    ]
    watched = [(owner, name, around(getattr(owner, name), of)) for owner, name, of in places]
    LOOPS.append(around(_set_loop, lambda *_: LOOP))
    watch_loops()
    WatchedModule.watch = staticmethod(changing)
    kinds = {module: module.__class__ for module in WATCHED}
    for module in WATCHED:
        module.__class__ = WatchedModule
    try:
        with replaced(*watched):
            yield
    finally:
        for module, kind in kinds.items():
            module.__class__ = kind
        LOOPS.pop()
        watch_loops()
        for setting, value in world.turns.privacy.settings.items():
            setting.put(value)


LOOPS: list[Callable[..., None]] = []
"""Functions that set asyncio's running loop during a run."""


def _set_loop(loop: Any) -> None:
    sys.modules["asyncio"]._set_running_loop(loop)


def watch_loops() -> None:
    """Note which loop runs, where asyncio is there by now."""
    events: Any = sys.modules.get("asyncio.events")
    if events is not None:
        events._set_running_loop = LOOPS[-1] if LOOPS else sys.modules["asyncio"]._set_running_loop
