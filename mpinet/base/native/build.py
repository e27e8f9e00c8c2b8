"""Compile the extension ``_calls`` next to its source: ``python -m mpinet.base.native.build``.

mpinet also works without the extension, so a missing C compiler is not an error.
"""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

SOURCE = Path(__file__).with_name("_calls.c")
TARGET = SOURCE.with_name("_calls.abi3.so")
MARK = b"mpinet calls built from "
"""Text in the compiled extension, followed by the checksum of the extension's source."""


def checksum() -> str:
    """Return the checksum of the extension's source; empty if the source is missing."""
    try:
        return f"{zlib.crc32(SOURCE.read_bytes()):08x}"
    except OSError:
        return ""


def is_current(built_from: str) -> bool:
    """Return whether an extension with this mark was built from the source next to it."""
    source = checksum()
    return not source or built_from == MARK.decode() + source


def compiler() -> list[str]:
    """Return the command of the C compiler, from $CC or cc; an empty list if none is installed."""
    import shlex
    import shutil

    command = shlex.split(os.environ.get("CC") or "cc")
    return command if shutil.which(command[0]) else []


def headers() -> dict[str, str]:
    """Return the folders of the headers of Python and NumPy, with one header of each."""
    import sysconfig

    import numpy as np

    return {
        sysconfig.get_paths()["include"]: "Python.h",
        # This header exists only in NumPy 2. Code built with the headers of NumPy 1 does not work
        # with NumPy 2.
        np.get_include(): "numpy/npy_2_compat.h",
    }


def build(target: Path | None = None) -> str:
    """Compile the extension unless a current build exists; return a sentence about the outcome."""
    target = target or TARGET
    try:
        if target.exists() and MARK + checksum().encode() in target.read_bytes():
            os.utime(target)  # launch/setup compares times
            return "the extension is up to date"
        missing = _missing() or _compile(target)
    except OSError as error:
        missing = f"the extension cannot be written ({error})"
    return f"ctypes calls kernels: {missing}" if missing else "the extension was compiled"


def _missing() -> str:
    """Return the missing prerequisite of compilation; empty if none is missing."""
    if "t" in sys.abiflags:
        return "this Python has no global lock"
    if not compiler():
        return f"there is no C compiler '{os.environ.get('CC') or 'cc'}'"
    for folder, header in headers().items():
        if not Path(folder, header).exists():
            return f"there is no {header} in {folder}"
    return ""


def _compile(target: Path) -> str:
    """Compile the extension; return the compiler's error, or an empty text on success."""
    import subprocess

    made = target.with_name(f".{target.name}.{os.getpid()}")
    includes = [f"-I{folder}" for folder in headers()]
    options = ["-shared", "-fPIC", "-O2", f'-DSOURCE="{checksum()}"', *includes]
    if sys.platform == "darwin":
        options += ["-undefined", "dynamic_lookup"]
    command = [*compiler(), *options, "-o", str(made), str(SOURCE)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            said = (done.stderr.strip() or f"status {done.returncode}").splitlines()[0]
            return f"the C compiler failed ({said})"
        made.replace(target)
    finally:
        made.unlink(missing_ok=True)
    return ""


if __name__ == "__main__":
    print(build(*map(Path, sys.argv[1:])))
