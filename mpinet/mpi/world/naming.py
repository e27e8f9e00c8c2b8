"""Names of files in results, equal in every checkout and on every machine."""

from __future__ import annotations

import os
from contextlib import suppress
from types import FrameType

from mpinet.mpi.source import Source
from mpinet.mpi.world.installed import is_library


class Naming:
    """Names the source files of frames.

    A script is named by its title, a file below the script's folder by its relative path, and any
    other file by its module's name. Code compiled without a file keeps its given name.

    Parameters
    ----------
    script : Source
        The running script.
    """

    def __init__(self, script: Source) -> None:
        self._script = script
        self._folder = os.sep
        with suppress(FileNotFoundError):  # the current folder may be deleted
            self._folder = os.path.join(script.folder or os.getcwd(), "")
        self._own = script.code.co_filename

    def __call__(self, frame: FrameType) -> str:
        """Return the name of the file that contains a frame's code."""
        file = frame.f_code.co_filename
        if file == self._own:
            return file if file.startswith("<") else self._script.title
        if not os.path.isabs(file):
            return file
        folder, name = os.path.split(file)
        if not is_library(folder):
            whole = os.path.join(os.path.realpath(folder), name)
            if whole.startswith(self._folder):
                return whole.removeprefix(self._folder)
        spec = frame.f_globals.get("__spec__")
        module: str = getattr(spec, "name", None) or frame.f_globals.get("__name__") or name
        return module
