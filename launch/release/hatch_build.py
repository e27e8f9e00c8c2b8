"""What hatch does about native code when it builds a wheel.

A release names a folder with the library, its indexes and the extension, and the platform that they
are for. They make a wheel of this platform. All other builds make a wheel of plain Python, without
native code: ``pip install .``, ``pip wheel .`` and installations for development.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER, PLATFORM = "MPINET_WHEEL_FOLDER", "MPINET_WHEEL_PLATFORM"
"""Variables with the folder and the platform, such as ``manylinux_2_17_x86_64``."""

TAG = "cp310-abi3"
"""Versions of Python that can load the extension: it keeps to the limited interface of 3.10."""

EXTENSION = "_calls.abi3.so"


class NativeCode(BuildHookInterface):  # type: ignore[type-arg]
    """Puts native code into the wheel of a release."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add files to the wheel, unless it is one for development."""
        named = os.environ.get(FOLDER)
        if not named or version != "standard":
            return
        folder = Path(named).absolute()
        files = {folder / EXTENSION: f"mpinet/base/native/{EXTENSION}"}
        for path in (*folder.glob("libmpinet-*.so"), *folder.glob("index-*.txt")):
            files[path] = f"mpinet/native/{path.name}"
        if missing := [path for path in files if not path.exists()]:
            raise FileNotFoundError(f"{FOLDER}: there is no {missing[0]}")
        build_data["force_include"] |= {str(path): files[path] for path in sorted(files)}
        build_data["pure_python"] = False
        build_data["tag"] = f"{TAG}-{os.environ[PLATFORM]}"
