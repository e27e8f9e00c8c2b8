"""The modules that the emulator itself imports, which scripts may forbid or hide."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mpinet.mpi.world.installed import FOUNDATION

ABSENT: Any = object()
"""Stand-in for a package that is not there."""


class Foundation:
    """The interpreter's packages and search path as they are before any script runs.

    A script may put None in the place of a package, or a file of its own before it in the search
    path; under a real MPI that is no business of anybody else's.
    """

    def __init__(self) -> None:
        self._modules: dict[str, Any] = {name: sys.modules.get(name) for name in FOUNDATION}
        self._path = list(sys.path)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Within it, the emulator finds what it rests on; scripts then find their own again."""
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
        """Put packages back in their places; what scripts have there, by name."""
        hidden = {}
        for name, own in self._modules.items():
            theirs = sys.modules.get(name, ABSENT)
            if theirs is own:
                continue
            if own is not None:
                hidden[name] = theirs
                sys.modules[name] = own
            # A script has put something of its own under the name of a package that is not
            # installed. The emulator must not take it for that.
            elif not _is_whole(theirs):
                hidden[name] = sys.modules.pop(name)
        return hidden


def _is_whole(module: Any) -> bool:
    """Tell if a package is absent or has been imported, and is nothing that a script has made."""
    return module is ABSENT or getattr(module, "__spec__", None) is not None
