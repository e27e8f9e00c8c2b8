"""Objects of native code in the user's cache.

An object is a file as a C compiler makes it, with a hash at its end. The compile process writes it;
every job of this user on a processor of this kind loads it. `llvmlite` loads it, without Numba.
"""

from __future__ import annotations

import atexit
import os
import platform
import shutil
import sys
import tempfile
import time
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from mpinet.base.files import whole_file
from mpinet.base.launched import launched_rank
from mpinet.base.native.tiers import cache_folder

FORM = 1
"""Number of the objects' form; it changes whenever older objects can no longer be called."""

END = ".o"
SEAL = sha256().digest_size
"""Bytes of the hash at the end of a file."""

BEAT = 0.05
"""Seconds between two looks at the folder."""


@cache
def processor() -> str:
    """Return a name for the kind of this host's processor: its model and its abilities."""
    texts = [platform.machine(), platform.processor()]
    try:
        with open("/proc/cpuinfo") as file:
            lines = [line for line in file if line.startswith(("model name", "flags", "Features"))]
        texts += sorted(set(lines))
    except OSError:
        pass
    return sha256("".join(texts).encode()).hexdigest()[:12]


class Kept:
    """The objects that are kept for this host's processor."""

    def __init__(self) -> None:
        self.refused = ""
        """Why the cache cannot hold objects; empty if it can."""
        self.damaged: set[str] = set()
        """Fingerprints of objects that cannot be loaded."""
        self._told = False
        self._stamp = -1
        self._looked = 0.0
        self._names: set[str] = set()
        self._addresses: dict[str, int] = {}

    @cached_property
    def folder(self) -> Path | None:
        """The folder; one of this process alone if the cache is no place for code; else None."""
        try:
            return Path(cache_folder(f"objects-{FORM}-{processor()}"))
        except OSError as error:
            self.refused = f"{error.filename}: {error.strerror or error}"
        try:
            folder = tempfile.mkdtemp(prefix="mpinet-")
        except OSError:
            return None
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def tell_refused(self) -> None:
        """Print once, on one rank, that objects are not kept, where that is so."""
        if self.folder is not None and self.refused and not self._told and launched_rank() == 0:
            print(
                f"mpinet: Native code is not kept, so each start compiles again ({self.refused}). "
                "Name a folder that you alone can write: MPINET_CACHE.",
                file=sys.stderr,
            )
        self._told = True

    def has(self, fingerprint: str) -> bool:
        """Tell if there is an object, as of `BEAT` seconds ago."""
        now = time.monotonic()
        if now - self._looked > BEAT:
            self.look()
            self._looked = now
        return fingerprint in self._names and fingerprint not in self.damaged

    def look(self) -> None:
        """Look at the folder."""
        if self.folder is None:
            return
        try:
            stamp = os.stat(self.folder).st_mtime_ns
            if stamp != self._stamp:
                files = os.listdir(self.folder)
                self._names = {name.removesuffix(END) for name in files if name.endswith(END)}
                self._stamp = stamp
        except OSError:
            self._names = set()

    def add(self, fingerprint: str, code: bytes) -> None:
        """Keep an object.

        Raises
        ------
        OSError
            It cannot be written.
        """
        assert self.folder is not None
        with whole_file(self.folder / f"{fingerprint}{END}") as file:
            file.write(code + sha256(code).digest())
        self._names.add(fingerprint)
        self.damaged.discard(fingerprint)

    def address(self, fingerprint: str) -> int:
        """Return the address of an object's entry, loaded if needed; 0 if it cannot be loaded."""
        if fingerprint not in self._addresses:
            if not self.has(fingerprint):
                return 0
            self._addresses[fingerprint] = self._load(fingerprint)
        return self._addresses[fingerprint]

    def _load(self, fingerprint: str) -> int:
        try:
            sealed = self._file(fingerprint).read_bytes()
            code = sealed[:-SEAL]
            if sha256(code).digest() == sealed[-SEAL:]:
                return loaded(code, f"mp_{fingerprint}")
        except (OSError, ImportError):
            pass
        self.damaged.add(fingerprint)
        return 0

    def _file(self, fingerprint: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{fingerprint}{END}"


@cache
def kept() -> Kept:
    """Return the objects that are kept for this host's processor."""
    return Kept()


@cache
def _engine() -> tuple[Any, Any]:
    """Return LLVM's loader, and the library that reads objects."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine), llvm


def loaded(code: bytes, symbol: str) -> int:
    """Load an object for the rest of this process; return the address of a function in it.

    Raises
    ------
    ImportError
        llvmlite is not installed.
    """
    engine, llvm = _engine()
    engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return int(engine.get_function_address(symbol))


def has_loader() -> bool:
    """Tell if objects can be loaded."""
    from importlib.util import find_spec

    return "llvmlite" in sys.modules or find_spec("llvmlite") is not None
