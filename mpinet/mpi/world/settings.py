"""Settings that exist once per interpreter, but once per rank under a real MPI.

These are environment variables, current folder, warning filters, logging configuration, the folder
for temporary files, signal handlers, some limits and asyncio's running loop. A processor that
changes such a setting has its own value from then on, which is put in place during its turns. Other
processors do not notice the change, and switching to them costs nothing.
"""

from __future__ import annotations

import csv
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import Any, cast

from mpinet.mpi.world.process_state import InterpreterSetting, SettingKind
from mpinet.mpi.world.replacing import INHERITED, replaced
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


def _variable(name: str) -> str | None:
    try:
        return READ_VARIABLE(os.environ, name)
    except KeyError:
        return None


def _put_variable(name: str, value: str | None) -> None:
    if value is not None:
        SET_VARIABLE(os.environ, name, value)
    else:
        with suppress(KeyError):
            DELETE_VARIABLE(os.environ, name)


VARIABLE = SettingKind(_variable, _put_variable)
"""Environment variables by name; None if unset."""


def _put_folder(name: str, value: str) -> None:
    with suppress(OSError):  # the folder may no longer exist
        CHANGE_FOLDER(value)


def _put_module_variable(name: tuple[str, str], value: Any) -> None:
    module, variable = name
    if value is INHERITED:
        vars(sys.modules[module]).pop(variable, None)
    else:
        vars(sys.modules[module])[variable] = value


MODULE_VARIABLE = SettingKind(
    lambda name: vars(sys.modules[name[0]]).get(name[1], INHERITED), _put_module_variable
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


def _put_attribute(name: tuple[Any, str], value: Names) -> None:
    (owner, attribute), put = name, value["value"]
    if isinstance(owner, ModuleType):  # past a class that watches assignments
        vars(owner).pop(attribute, None)
        vars(owner).update({} if put is INHERITED else {attribute: put})
    elif put is not INHERITED:
        SET_ATTRIBUTE(owner, attribute, put)
    elif attribute in vars(owner):
        DELETE_ATTRIBUTE(owner, attribute)


ATTRIBUTE = SettingKind(
    lambda name: Names(value=vars(name[0]).get(name[1], INHERITED)), _put_attribute
)
"""Attributes of shared modules and classes, by owner and name."""

SET_ATTRIBUTE, DELETE_ATTRIBUTE = setattr, delattr

PATCHES = "_pytest.monkeypatch", "unittest.mock"
"""Modules that set attributes for the time of a test."""


def _is_shared(owner: Any) -> bool:
    """Return whether an object is a module, or a class that a module names."""
    if isinstance(owner, type):
        module = sys.modules.get(owner.__module__)
        return getattr(module, owner.__name__, None) is owner
    return isinstance(owner, ModuleType)


def watch_patches(module: ModuleType) -> None:
    """Let a module that sets attributes for a time set them on the running processor alone."""

    def set_own(owner: Any, name: str, *value: Any) -> None:
        if PATCHED and _is_shared(owner):
            PATCHED[-1](InterpreterSetting(ATTRIBUTE, (owner, name)))
        (SET_ATTRIBUTE if value else DELETE_ATTRIBUTE)(owner, name, *value)

    vars(module).update(setattr=set_own, delattr=set_own)


PATCHED: list[Callable[[InterpreterSetting], None]] = []
"""Functions that give the running processor of a run its own copy of a setting."""


def _dialects(name: str) -> Names:
    return Names({each: csv.get_dialect(each) for each in csv.list_dialects()})


def _put_dialects(name: str, value: Names) -> None:
    for each in csv.list_dialects():
        FORGET_DIALECT(each)
    for each, dialect in value.items():
        NOTE_DIALECT(each, dialect)


NOTE_DIALECT, FORGET_DIALECT = csv.register_dialect, csv.unregister_dialect


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
DIALECTS = InterpreterSetting(SettingKind(_dialects, _put_dialects), "")
"""Dialects of CSV files by name."""
FILTERS = InterpreterSetting(MODULE_VARIABLE, ("warnings", "filters"))
FACTORY = InterpreterSetting(MODULE_VARIABLE, ("logging", "_logRecordFactory"))
LOGGER_CLASS = InterpreterSetting(MODULE_VARIABLE, ("logging", "_loggerClass"))

WATCHED: dict[ModuleType, tuple[str, ...]] = {
    warnings: ("filters", "showwarning", "_showwarnmsg_impl"),
    tempfile: ("tempdir",),
    sys: ("argv", "displayhook", "excepthook", "path", "ps1", "ps2"),
    threading: ("excepthook",),
}
"""Modules with variables that scripts assign, and the names of these variables."""

READ_VARIABLE: Callable[..., str] = os._Environ.__getitem__
SET_VARIABLE: Callable[..., None] = os._Environ.__setitem__
DELETE_VARIABLE: Callable[..., None] = os._Environ.__delitem__
CHANGE_FOLDER: Callable[..., None] = os.chdir
SET_HANDLER: Callable[..., Any] = signal.signal
SET_MASK: Callable[[int], int] = os.umask
SET_DEPTH: Callable[[int], None] = sys.setrecursionlimit

DEPTHS: list[int] = []
"""Recursion limit of the running processor; the interpreter's limit may be higher."""


def _set_depth(limit: int) -> None:
    SET_DEPTH(limit)
    DEPTHS[:] = [limit]


def _put_depth(limit: int) -> None:
    DEPTHS[:] = [limit]
    with suppress(RecursionError):  # a processor with a higher limit is deeper, and stops here
        SET_DEPTH(limit)


def _mask() -> int:
    """Return the mask for file modes, which can be read only by setting another mask."""
    mask = SET_MASK(0o077)
    SET_MASK(mask)
    return mask


LIMITS: dict[str, tuple[Callable[[Any], Any], Callable[[], Any]]] = {
    "recursion": (_put_depth, lambda: DEPTHS[0]),
    "time-out": (socket.setdefaulttimeout, socket.getdefaulttimeout),
    "mask": (SET_MASK, _mask),
    "switches": (sys.setswitchinterval, sys.getswitchinterval),
    "digits": (sys.set_int_max_str_digits, sys.get_int_max_str_digits),
    "fields": (csv.field_size_limit, csv.field_size_limit),
}
"""Setter and getter of each numeric limit, by name."""


class WatchedModule(ModuleType):
    """Class of a module while assignments to its variables are observed."""

    watch: Callable[[InterpreterSetting], None]

    def __setattr__(self, name: str, value: Any) -> None:
        if name in WATCHED.get(self, ()):  # not in a module made by `type(sys)(..)`
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
        (socket, "setdefaulttimeout", lambda *_: InterpreterSetting(LIMIT, "time-out")),
        (os, "umask", lambda *_: InterpreterSetting(LIMIT, "mask")),
        (sys, "setswitchinterval", lambda *_: InterpreterSetting(LIMIT, "switches")),
        (sys, "set_int_max_str_digits", lambda *_: InterpreterSetting(LIMIT, "digits")),
        (csv, "field_size_limit", lambda *_: InterpreterSetting(LIMIT, "fields")),
        *((csv, name, lambda *_: DIALECTS) for name in ("register_dialect", "unregister_dialect")),
    ]
    DEPTHS[:] = [sys.getrecursionlimit()]
    watched = [(owner, name, around(getattr(owner, name), of)) for owner, name, of in places]
    limit = around(_set_depth, lambda *_: InterpreterSetting(LIMIT, "recursion"))
    watched += [(sys, "setrecursionlimit", limit), (sys, "getrecursionlimit", lambda: DEPTHS[0])]
    thread = threading.get_ident()
    # The loops of other threads belong to these threads, and no processor switches them.
    loop = around(_set_loop, lambda *_: LOOP if threading.get_ident() == thread else None)
    try:
        with _modules_watched(loop, changing), replaced(*watched):
            yield
    finally:
        for setting, value in world.turns.privacy.settings.items():
            setting.put(value)


@contextmanager
def _modules_watched(
    set_loop: Callable[..., None], changing: Callable[[InterpreterSetting], None]
) -> Iterator[None]:
    """Context manager: settings without a function of their own are watched in their modules.

    Parameters
    ----------
    set_loop : callable
        Sets asyncio's running loop.
    changing : callable
        Called before a setting changes.
    """
    LOOPS.append(set_loop)
    watch_loops()
    WatchedModule.watch = staticmethod(changing)
    PATCHED.append(changing)
    for name in sys.modules.keys() & set(PATCHES):
        watch_patches(sys.modules[name])
    kinds = {module: module.__class__ for module in WATCHED}
    for module in WATCHED:
        module.__class__ = WatchedModule
    try:
        yield
    finally:
        for module, kind in kinds.items():
            module.__class__ = kind
        PATCHED.pop()
        LOOPS.pop()
        watch_loops()


LOOPS: list[Callable[..., None]] = []
"""Functions that set asyncio's running loop during a run."""


def _set_loop(loop: Any) -> None:
    sys.modules["asyncio"]._set_running_loop(loop)


def watch_loops() -> None:
    """Observe changes of asyncio's running loop, if asyncio is loaded."""
    events: Any = sys.modules.get("asyncio.events")
    if events is not None:
        events._set_running_loop = LOOPS[-1] if LOOPS else sys.modules["asyncio"]._set_running_loop
