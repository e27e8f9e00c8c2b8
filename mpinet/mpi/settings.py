"""``mpi4py.rc`` and the environment variables in its place, for each processor its own."""

from __future__ import annotations

import os
import warnings
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from mpinet.mpi.world.calls import running
from mpinet.mpi.world.world import World

CHOICES: dict[str, dict[str, Any]] = {
    "thread_level": dict.fromkeys(("single", "funneled", "serialized", "multiple")),
    "errors": {
        "default": "ERRORS_ARE_FATAL",
        "exception": "ERRORS_RETURN",
        "abort": "ERRORS_ABORT",
        "fatal": "ERRORS_ARE_FATAL",
    },
}
"""The values that settings of words have, and what they mean."""

DEFAULTS: dict[str, Any] = {
    "initialize": True,
    "threads": True,
    "thread_level": "multiple",
    "finalize": None,
    "fast_reduce": True,
    "recv_mprobe": True,
    "irecv_bufsz": 32768,
    "errors": "exception",
}
"""The settings, and what they are where nobody has changed them."""

YES, NO = ("true", "yes", "on", "y", "1"), ("false", "no", "off", "n", "0")
"""Values that variables of the environment may have for a switch."""

GIVEN, SETTLED, DELETED = "mpi4py.rc", "settings", "mpi4py.rc is deleted"
"""Under these a processor keeps the settings that it has changed, those that its MPI has begun
with, and whether it has none."""


class Rc:
    """The settings, as ``mpi4py.rc``: every processor finds what it has set itself."""

    def __init__(self, **options: Any):
        if options:
            self(**options)

    def __call__(self, **options: Any) -> None:
        """Change several."""
        for name in options:
            if name not in DEFAULTS:
                raise TypeError(f"unexpected argument {name!r}")
        _given().update(options)

    def __getattr__(self, name: str) -> Any:
        if name not in DEFAULTS:
            raise AttributeError(name)
        return _given().get(name, DEFAULTS[name])

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in DEFAULTS:
            raise TypeError(f"object has no attribute {name!r}")
        _given()[name] = value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *DEFAULTS]

    def __repr__(self) -> str:
        return "<mpi4py.rc>"


class Package(ModuleType):
    """The package ``mpi4py``: a processor that imports its module ``MPI`` begins with MPI."""

    _rc = Rc()
    _mpi: ModuleType

    @property
    def rc(self) -> Rc:
        """The settings."""
        if DELETED in running.turns.current.storage():
            raise AttributeError("module 'mpi4py' has no attribute 'rc'")
        return self._rc

    @rc.deleter
    def rc(self) -> None:
        running.turns.current.storage()[DELETED] = True

    @property
    def MPI(self) -> ModuleType:  # noqa: N802  (mpi4py's name)
        """The module that scripts import."""
        settled()
        return self._mpi


def settled() -> dict[str, Any]:
    """The settings that MPI has begun with on the running processor, which it now does if not yet.

    Variables of the environment go before what the script says.
    """
    here = running.turns.current
    kept = here.storage()
    if SETTLED not in kept:
        if kept.keys().isdisjoint((GIVEN, DELETED)) and here.own is None and _variables_unset():
            kept[SETTLED] = DEFAULTS
        else:
            given = DEFAULTS if DELETED in kept else {**DEFAULTS, **_given()}
            kept[SETTLED] = {name: _settled(name, given[name]) for name in DEFAULTS}
    found: dict[str, Any] = kept[SETTLED]
    return found


def _variables_unset() -> bool:
    """Tell if no variable of the environment says anything, for processors without their own.

    The environment is read once a rank: a thousand processors would read it a thousand times.
    """
    unset = _UNSET.get(running.world)
    if unset is None:
        unset = _UNSET[running.world] = os.environ.keys().isdisjoint(map(_variable, DEFAULTS))
    return unset


_UNSET: WeakKeyDictionary[World, bool] = WeakKeyDictionary()
"""Findings of `_variables_unset`, by run."""


def _variable(name: str) -> str:
    """The variable of the environment that goes before a setting."""
    return f"MPI4PY_RC_{name.upper()}"


def _given() -> dict[str, Any]:
    """Return what the running processor has set."""
    given: dict[str, Any] = running.turns.current.storage().setdefault(GIVEN, {})
    return given


def _settled(name: str, value: Any) -> Any:
    """Return a setting's value; warn of one that cannot be, in whose place is the usual one."""
    text = os.environ.get(_variable(name))
    if text is not None:
        value = _given()[name] = _read(text, DEFAULTS[name])
    usual = DEFAULTS[name]
    if name in CHOICES:
        possible = isinstance(value, str) and value in CHOICES[name]
    elif type(usual) is int:
        possible = type(value) is int and value >= 0
    elif value in ("yes", "no"):
        return value == "yes"
    else:
        possible = value in (True, False) or value is usual
    if not possible:
        warnings.warn(f"mpi4py.rc.{name}: unexpected value {value!r}", RuntimeWarning, stacklevel=4)
    return value if possible else usual


def _read(text: str, usual: Any) -> Any:
    """Read what a variable of the environment says."""
    if type(usual) is int and text.isascii() and text.isdigit():
        return int(text)
    if text.lower() in (*YES, *NO):
        return text.lower() in YES
    return text.lower()
