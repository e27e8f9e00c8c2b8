"""Settings that exist once per interpreter, but once per rank under a real MPI.

These are environment variables, current folder, warning filters, logging configuration, the folder
for temporary files, signal handlers, some limits and asyncio's running loop. A processor that
changes such a setting has its own value from then on, which is put in place during its turns. Other
processors do not notice the change, and switching to them costs nothing.
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
    """Values by name; equal to another mapping with the same names and identical values."""

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Names)
            and self.keys() == other.keys()
            and all(value is other[name] for name, value in self.items())
        )

    __hash__ = None


def _is_module_of(package: ModuleType, name: str) -> bool:
    """Return whether a name in a package refers to a loaded submodule of the package."""
    found = sys.modules.get(f"{package.__name__}.{name}")
    return found is not None and vars(package)[name] is found


def _put_variable(name: str, value: str | None) -> None:
    if value is not None:
        SET_VARIABLE(os.environ, name, value)
    elif name in os.environ:
        DELETE_VARIABLE(os.environ, name)


VARIABLE = SettingKind(lambda name: os.environ.get(name), _put_variable)
"""Environment variables by name; None if unset."""


def _put_folder(name: str, value: str) -> None:
    with suppress(OSError):  # the folder may no longer exist
        CHANGE_FOLDER(value)


def _put_module_variable(name: tuple[str, str], value: Any) -> None:
    module, variable = name
    vars(sys.modules[module])[variable] = value


MODULE_VARIABLE = SettingKind(
    lambda name: vars(sys.modules[name[0]])[name[1]], _put_module_variable
)
"""Variables of standard library modules, by module name and variable name."""

LIMIT = SettingKind(lambda name: LIMITS[name][1](), lambda name, value: LIMITS[name][0](value))
"""Limits with a setter and a getter function, by the limit's name in `LIMITS`."""


def _put_signal_handler(number: int, value: Any) -> None:
    if value is not None:  # None: a handler installed by C code, which Python cannot set
        SET_HANDLER(number, value)


SIGNAL_HANDLER = SettingKind(signal.getsignal, _put_signal_handler)
"""Signal handlers, by signal number."""


def _put_disabled(name: str, value: int) -> None:
    logging.root.manager.disable = value
    logging.root.manager._clear_cache()  # type: ignore[attr-defined]


def _put_handler(handler: logging.Handler, value: tuple[Any, ...]) -> None:
    handler.filters, handler.level, handler.formatter = value


HANDLER = SettingKind(lambda one: (one.filters, one.level, one.formatter), _put_handler)
"""Filters, level and formatter of a logging handler; the list of filters must not be modified."""


def _put_logger(logger: logging.Logger, value: tuple[Any, ...]) -> None:
    before = logger.level
    vars(logger).update(zip(LOGGED, value, strict=True))
    if logger.level != before:
        logger.manager._clear_cache()  # type: ignore[attr-defined]


LOGGED = ("handlers", "filters", "level", "disabled", "propagate")
"""Attributes of a logger that are read and replaced."""

LOGGER = SettingKind(lambda logger: tuple(vars(logger)[name] for name in LOGGED), _put_logger)
"""Handlers, filters, level and flags of a logger; the lists must not be modified."""


def _loop(name: str) -> tuple[Any, ...]:
    events: Any = sys.modules["asyncio.events"]
    return events._get_running_loop(), sys.get_asyncgen_hooks()


def _put_loop(name: str, value: tuple[Any, ...]) -> None:
    loop, hooks = value
    sys.modules["asyncio"]._set_running_loop(loop)
    sys.set_asyncgen_hooks(*hooks)


def _put_variables(module: ModuleType, value: Names) -> None:
    """Replace all variables, except shared submodules imported since."""
    names = vars(module)
    for name in names.keys() - value.keys():
        if not _is_module_of(module, name):
            del names[name]
    names.update(value)


VARIABLES = SettingKind(lambda module: Names(vars(module)), _put_variables)
"""Variables of shared modules, by module."""

ARGUMENTS, PATH = (InterpreterSetting(MODULE_VARIABLE, ("sys", name)) for name in ("argv", "path"))
FOLDER = InterpreterSetting(SettingKind(lambda name: os.getcwd(), _put_folder), "")
LOOP = InterpreterSetting(SettingKind(_loop, _put_loop), "")
"""asyncio's running loop and the hooks for asynchronous generators."""
DISABLED = InterpreterSetting(
    SettingKind(lambda name: logging.root.manager.disable, _put_disabled), ""
)
"""The logging level at and below which all messages are disabled."""
FILTERS = InterpreterSetting(MODULE_VARIABLE, ("warnings", "filters"))
FACTORY = InterpreterSetting(MODULE_VARIABLE, ("logging", "_logRecordFactory"))
LOGGER_CLASS = InterpreterSetting(MODULE_VARIABLE, ("logging", "_loggerClass"))

WATCHED: dict[ModuleType, tuple[str, ...]] = {
    warnings: ("filters", "showwarning", "_showwarnmsg_impl"),
    tempfile: ("tempdir",),
}
"""Modules with variables that scripts assign, and the names of these variables."""

SET_VARIABLE: Callable[..., None] = os._Environ.__setitem__
DELETE_VARIABLE: Callable[..., None] = os._Environ.__delitem__
CHANGE_FOLDER: Callable[..., None] = os.chdir
SET_HANDLER: Callable[..., Any] = signal.signal
SET_MASK: Callable[[int], int] = os.umask


def _mask() -> int:
    """Return the mask for file modes, which can be read only by setting another mask."""
    mask = SET_MASK(0o077)
    SET_MASK(mask)
    return mask


LIMITS: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "recursion": (sys.setrecursionlimit, sys.getrecursionlimit),
    "time-out": (socket.setdefaulttimeout, socket.getdefaulttimeout),
    "mask": (SET_MASK, _mask),
}
"""Setter and getter of each numeric limit, by name."""


class WatchedModule(ModuleType):
    """Class of a module while assignments to its variables are observed."""

    watch: Callable[[InterpreterSetting], None]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in WATCHED[self]:
            WatchedModule.watch(InterpreterSetting(MODULE_VARIABLE, (self.__name__, name)))
        super().__setattr__(name, value)


@contextmanager
def own_settings(world: World) -> Iterator[None]:
    """Context manager: a processor that changes a setting has its own value from then on."""

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
        """Copy the list of warning filters for the running processor."""
        changing(FILTERS)
        # The functions modify the list in place. Without a copy the change would affect every
        # processor.
        if warnings.filters is world.turns.privacy.settings.get(FILTERS):
            vars(warnings)["filters"] = list(warnings.filters)
        return FILTERS

    def logger(logged: logging.Logger, *_: Any) -> InterpreterSetting:
        """Copy a logger's lists for the running processor."""
        setting = InterpreterSetting(LOGGER, logged)
        if world.turns.current.main is not None:
            changing(setting)
            handlers, others, *rest = setting.get()
            setting.put((list(handlers), list(others), *rest))
        return setting

    def flag(logged: logging.Logger, name: str, value: Any) -> InterpreterSetting | None:
        """Return a logger's setting if a flag of an existing logger changes, otherwise None."""
        # Loggers set their attributes during construction. Only a change of a flag gives the
        # processor its own settings of the logger.
        changes = name in ("disabled", "propagate") and vars(logged).get(name, value) != value
        return logger(logged) if changes else None

    def filterer(filtered: logging.Filterer, *_: Any) -> InterpreterSetting:
        """Copy the lists of a logger or handler for the running processor."""
        if isinstance(filtered, logging.Logger):
            return logger(filtered)
        return handler(cast(logging.Handler, filtered))

    def handler(handled: logging.Handler, *_: Any) -> InterpreterSetting:
        """Copy a handler's list of filters for the running processor."""
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
    """Observe changes of asyncio's running loop, if asyncio is loaded."""
    events: Any = sys.modules.get("asyncio.events")
    if events is not None:
        events._set_running_loop = LOOPS[-1] if LOOPS else sys.modules["asyncio"]._set_running_loop
