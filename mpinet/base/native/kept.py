"""Objects of native code in the user's cache.

An object file has the format of a C compiler's output, with a hash at the end. The compile process
writes it. All jobs of this user on processors of the same model load the file with `llvmlite`,
without Numba.
"""

from __future__ import annotations

import atexit
import os
import platform
import shutil
import sys
import tempfile
import threading
import time
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from mpinet.base.launched import notice
from mpinet.base.native.tiers import cache_folder
from mpinet.base.sealed import unsealed, write_sealed

FORM = 1
"""Version of the object format; it changes when older objects can no longer be called."""

END = ".o"

BEAT = 0.05
"""Seconds between two checks of the folder."""

TICK = 2_000_000_000
"""Nanoseconds within which two changes of a folder may have the same time stamp."""


@cache
def processor() -> str:
    """Return an identifier of this host's processor type, from its model and features."""
    # Objects use all instructions of this processor and might crash on a different model.
    texts = [platform.machine(), platform.processor()]
    try:
        with open("/proc/cpuinfo") as file:
            lines = [line for line in file if line.startswith(("model name", "flags", "Features"))]
        texts += sorted(set(lines))
    except OSError:
        pass
    return sha256("".join(texts).encode()).hexdigest()[:12]


class Kept:
    """The cached objects for this host's processor."""

    def __init__(self) -> None:
        self.refused = ""
        """Reason why the cache cannot hold objects; empty if it can."""
        self.damaged: set[str] = set()
        """Fingerprints of objects that cannot be loaded."""
        self.lock = threading.Lock()
        """Allows one thread at a time to load objects."""
        self._told = False
        self._stamp = -1
        self._looked = 0.0
        self._names: set[str] = set()
        self._addresses: dict[str, int] = {}

    @cached_property
    def folder(self) -> Path | None:
        """The cache folder; if unsafe, a temporary folder of this process; None if both fail."""
        try:
            return Path(cache_folder(f"objects-{FORM}-{processor()}"))
        except OSError as error:
            self.refused = f"{error.filename}: {error.strerror or error}"
        try:
            # Code is never loaded from a folder writable by other users. A private folder serves
            # this process only.
            folder = tempfile.mkdtemp(prefix="mpinet-")
        except OSError:
            return None
        atexit.register(_remove, folder, os.getpid())
        return Path(folder)

    def tell_refused(self) -> None:
        """Print once, on one rank, the reason why objects are not cached, if any."""
        if self.folder is not None and self.refused and not self._told:
            notice(
                f"Native code is not kept, so each start compiles again ({self.refused}). "
                "Set MPINET_CACHE to a folder that only you can write to."
            )
        self._told = True

    def has(self, fingerprint: str) -> bool:
        """Return whether an object exists, as of `BEAT` seconds ago."""
        now = time.monotonic()
        if now - self._looked > BEAT:
            self.look()
            self._looked = now
        return fingerprint in self._names and fingerprint not in self.damaged

    def look(self) -> None:
        """Update the list of objects in the folder."""
        if self.folder is None:
            return
        try:
            # The folder's time stamp changes with each new file, so most checks cost one system
            # call.
            stamp = os.stat(self.folder).st_mtime_ns
            if stamp != self._stamp:
                files = os.listdir(self.folder)
                self._names = {name.removesuffix(END) for name in files if name.endswith(END)}
                # A file created now may not change the time stamp, because file system clocks tick
                # slowly.
                self._stamp = stamp if time.time_ns() - stamp > TICK else -1
        except OSError:
            self._names = set()

    def add(self, fingerprint: str, code: bytes) -> None:
        """Store an object in the cache.

        Raises
        ------
        OSError
            The object cannot be written.
        """
        assert self.folder is not None
        write_sealed(self._file(fingerprint), code)
        self._names.add(fingerprint)
        self.damaged.discard(fingerprint)

    def address(self, fingerprint: str) -> int:
        """Load an object if needed; return the address of its function, or 0 on failure."""
        with self.lock:
            found = self._addresses.get(fingerprint, 0)
            if not found and self.has(fingerprint) and (found := self._load(fingerprint)):
                self._addresses[fingerprint] = found
            return found

    def _load(self, fingerprint: str) -> int:
        """Load an object; delete a damaged object, which is then compiled again."""
        entry, code = symbol(fingerprint), self.code(fingerprint)
        # Without this check, a file renamed by hand would be loaded as a different function.
        if code is None or entry.encode() not in code:
            self._forget(fingerprint)
            return 0
        try:
            return loaded(code, entry)
        except (OSError, ImportError):
            self.damaged.add(fingerprint)
            return 0

    def code(self, fingerprint: str) -> bytes | None:
        """Return the contents of an object file; None if the file is missing or damaged."""
        code = unsealed(self._file(fingerprint))
        return None if code is None else code.tobytes()

    def _forget(self, fingerprint: str) -> None:
        file = self._file(fingerprint)
        try:
            if file.is_dir() and not file.is_symlink():
                shutil.rmtree(file)
            else:
                file.unlink(missing_ok=True)
            self._names.discard(fingerprint)
        except OSError:
            self.damaged.add(fingerprint)

    def _file(self, fingerprint: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{fingerprint}{END}"


def symbol(fingerprint: str) -> str:
    """Return the name of the function in an object file."""
    return f"mp_{fingerprint}"


def _remove(folder: str, process: int) -> None:
    """Delete a folder at the end of the process that made it, but not at the end of its forks."""
    # Exit handlers run in forks as well, while the parent still needs the folder.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def kept() -> Kept:
    """Return the cached objects for this host's processor."""
    return Kept()


@cache
def _engine() -> tuple[Any, Any]:
    """Return LLVM's execution engine, and the library that parses object files."""
    import llvmlite.binding as llvm

    # Created once per process: the engine keeps all loaded code alive, because it may be running.
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine), llvm


def loaded(code: bytes, entry: str) -> int:
    """Load an object for the rest of this process; return the address of its function `entry`.

    Raises
    ------
    ImportError
        llvmlite is not installed.
    """
    engine, llvm = _engine()
    engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return int(engine.get_function_address(entry))


def is_loading() -> bool:
    """Return whether this process has imported llvmlite, for an object or another purpose."""
    return "llvmlite.binding" in sys.modules
