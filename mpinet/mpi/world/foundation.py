"""Modules imported by the emulator itself, which scripts may forbid or hide."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mpinet.mpi.world.installed import FOUNDATION

ABSENT: Any = object()
"""Stand-in for an absent package."""


class Foundation:
    """The interpreter's packages and search path before any script runs.

    A script may replace a package by None, or put a file of its own first in the search path. Under
    a real MPI this would affect only its own process.
    """

    def __init__(self) -> None:
        self._modules: dict[str, Any] = {name: sys.modules.get(name) for name in FOUNDATION}
        self._path = list(sys.path)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Context manager: the emulator sees its own packages instead of the scripts'."""
        hidden = self.uncover()
        path = sys.path[:]
        sys.path[:] = self._path
        try:
            yield
        finally:
            sys.path[:] = path
            for name, theirs in hidden.items():
                self._modules[name] = sys.modules.get(name)
                if theirs is ABSENT:
                    sys.modules.pop(name, None)
                else:
                    sys.modules[name] = theirs

    def uncover(self) -> dict[str, Any]:
        """Restore the packages; return the scripts' replacements by name."""
        hidden = {}
        for name, own in self._modules.items():
            theirs = sys.modules.get(name, ABSENT)
            if theirs is own:
                continue
            if own is not None:
                hidden[name] = theirs
                sys.modules[name] = own
            # A script has defined a module under the name of a package that is not installed. The
            # emulator must not use this module.
            elif not _is_whole(theirs):
                hidden[name] = sys.modules.pop(name)
        return hidden


def _is_whole(module: Any) -> bool:
    """Return whether a module is absent, or was imported and not created by a script."""
    return module is ABSENT or getattr(module, "__spec__", None) is not None
