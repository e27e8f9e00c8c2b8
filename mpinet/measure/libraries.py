"""The libraries behind some measures: they are an extra, and imported where first used."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mpinet.errors import UsageError


def library(module: str, extra: str = "measure") -> Any:
    """A module of one of the libraries that an extra brings.

    Parameters
    ----------
    module : str
        As in ``igraph`` or ``ortools.sat.python.cp_model``.
    extra : str
        The extra's name.

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
    """Raise `UsageError` where a library is not installed, without loading it; as `library`."""
    if find_spec(module) is None:
        raise _missing(module, extra)


def _missing(name: str, extra: str) -> UsageError:
    """Make the error that says which library is needed, and how it comes."""
    return UsageError(f'This measure needs the library {name}: pip install "mpinet[{extra}]".')
