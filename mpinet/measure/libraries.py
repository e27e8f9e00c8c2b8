"""Optional libraries used by some measures: installed by an extra, imported on first use."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mpinet.errors import UsageError


def library(module: str, extra: str = "measure") -> Any:
    """Import a module of an optional library.

    Parameters
    ----------
    module : str
        For example ``igraph`` or ``ortools.sat.python.cp_model``.
    extra : str
        Name of the extra that installs the library.

    Raises
    ------
    UsageError
        The library is not installed.
    """
    try:
        return import_module(module)
    except ImportError:
        raise _missing(module.partition(".")[0], extra) from None


def require_library(module: str, extra: str = "measure") -> None:
    """Raise `UsageError` if a library is not installed, without importing it; see `library`."""
    if find_spec(module) is None:
        raise _missing(module, extra)


def _missing(name: str, extra: str) -> UsageError:
    """Return the error that names the missing library and its installation command."""
    return UsageError(f'This measure needs the library {name}: pip install "mpinet[{extra}]".')
