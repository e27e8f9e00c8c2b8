"""Compile the extension ``_calls`` next to its source: ``python -m mpinet.base.native.build``.

Every step works without the extension, so a missing C compiler is no error.
"""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

SOURCE = Path(__file__).with_name("_calls.c")
TARGET = SOURCE.with_name("_calls.abi3.so")
MARK = b"mpinet calls built from "
"""The extension contains this text, and then the checksum of its source."""


def checksum() -> str:
    """Return the checksum of the extension's source, or the empty text without a source."""
    try:
        return f"{zlib.crc32(SOURCE.read_bytes()):08x}"
    except OSError:
        return ""


def is_current(built_from: str) -> bool:
    """Tell if an extension with this mark was built from the source next to it."""
    source = checksum()
    return not source or built_from == MARK.decode() + source


def compiler() -> list[str]:
    """Return the C compiler's command, $CC or cc; the empty list where there is none."""
    import shlex
    import shutil

    command = shlex.split(os.environ.get("CC") or "cc")
    return command if shutil.which(command[0]) else []


def build() -> str:
    """Compile the extension where there is none of this source, and return a sentence about it."""
    import subprocess
    import sysconfig

    import numpy as np

    headers = {
        sysconfig.get_paths()["include"]: "Python.h",
        np.get_include(): "numpy/arrayobject.h",
    }
    if TARGET.exists() and MARK + checksum().encode() in TARGET.read_bytes():
        os.utime(TARGET)  # launch/setup compares times
        return "the extension is there already"
    if "t" in sys.abiflags:
        return "ctypes calls kernels: this Python has no global lock"
    if not (command := compiler()):
        return f"ctypes calls kernels: there is no C compiler '{os.environ.get('CC') or 'cc'}'"
    if np.__version__ < "2":  # what its headers make is of no use to NumPy 2
        return "ctypes calls kernels: the extension needs the headers of NumPy 2"
    for folder, header in headers.items():
        if not Path(folder, header).exists():
            return f"ctypes calls kernels: there is no {header} in {folder}"
    made = TARGET.with_name(f".{TARGET.name}.{os.getpid()}")
    options = [
        "-shared",
        "-fPIC",
        "-O2",
        f'-DSOURCE="{checksum()}"',
        *(f"-I{each}" for each in headers),
    ]
    if sys.platform == "darwin":
        options += ["-undefined", "dynamic_lookup"]
    command += [*options, "-o", str(made), str(SOURCE)]
    try:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            said = (done.stderr.strip() or f"status {done.returncode}").splitlines()[0]
            return f"ctypes calls kernels: the C compiler failed ({said})"
        made.replace(TARGET)
    except OSError as error:
        return f"ctypes calls kernels: the extension cannot be written ({error})"
    finally:
        made.unlink(missing_ok=True)
    return f"the extension was compiled: {TARGET.name}"


if __name__ == "__main__":
    print(build())
