"""``mpi4py.rc`` and its environment variables, separate for each processor."""

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
"""Allowed values of text settings, and their meanings."""

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
"""Default values of the settings."""

YES, NO = ("true", "yes", "on", "y", "1"), ("false", "no", "off", "n", "0")
"""Allowed texts of environment variables for switches."""

GIVEN, SETTLED, DELETED = "mpi4py.rc", "settings", "mpi4py.rc is deleted"
"""Storage keys for a processor's changed settings, for the settings used by its MPI, and for the
deletion of ``mpi4py.rc``.
"""


class Rc:
    """The settings as ``mpi4py.rc``; each processor sees its own values."""

    def __init__(self, **options: Any):
        if options:
            self(**options)

    def __call__(self, **options: Any) -> None:
        """Change several settings at once."""
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
    """The package ``mpi4py``; importing its module ``MPI`` initializes MPI on a processor."""

    _rc = Rc()
    _mpi: ModuleType

    @property
    def rc(self) -> Rc:
        """The settings ``mpi4py.rc`` of the running processor."""
        if DELETED in running.turns.current.storage():
            raise AttributeError("module 'mpi4py' has no attribute 'rc'")
        return self._rc

    @rc.deleter
    def rc(self) -> None:
        running.turns.current.storage()[DELETED] = True

    @property
    def MPI(self) -> ModuleType:  # noqa: N802  (mpi4py's name)
        """The module ``mpi4py.MPI``; reading it fixes the settings."""
        settled()
        return self._mpi


def settled() -> dict[str, Any]:
    """Return the settings used by MPI on the running processor; fixed at the first call.

    Environment variables take precedence over values set by the script.
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
    """Return whether no environment variable sets a value, for processors without their own.

    The environment is read once per rank, because a thousand processors would read it a thousand
    times.
    """
    unset = _UNSET.get(running.world)
    if unset is None:
        unset = _UNSET[running.world] = os.environ.keys().isdisjoint(map(_variable, DEFAULTS))
    return unset


_UNSET: WeakKeyDictionary[World, bool] = WeakKeyDictionary()
"""Results of `_variables_unset`, by run."""


def _variable(name: str) -> str:
    """Return the environment variable that overrides a setting."""
    return f"MPI4PY_RC_{name.upper()}"


def _given() -> dict[str, Any]:
    """Return the settings changed by the running processor."""
    given: dict[str, Any] = running.turns.current.storage().setdefault(GIVEN, {})
    return given


def _settled(name: str, value: Any) -> Any:
    """Return a setting's value; for an invalid value warn and return the default."""
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
    """Parse the text of an environment variable."""
    if type(usual) is int and text.isascii() and text.isdigit():
        return int(text)
    if text.lower() in (*YES, *NO):
        return text.lower() in YES
    return text.lower()
