"""Version and folder of this mpinet, and the versions of other packages."""

import os
import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

__version__ = "1.0.0.dev0"

PACKAGE = Path(__file__).parent.parent
"""Folder of the package."""

END = ".dist-info"
"""Ending of the name of the metadata folder of an installed package."""


def installed(package: str) -> str | None:
    """Return the version of an installed package; None if it is not installed.

    Folder names give most versions, because `importlib.metadata` takes longer than many runs.
    """
    for folder in sys.path:
        if package in (versions := _versions(folder)):
            return versions[package]
    if PathFinder.find_spec(package) is None:
        return None
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


@cache
def _versions(folder: str) -> dict[str, str]:
    """Return the versions of the packages in a folder, by name."""
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return {}
    parts = [name.removesuffix(END).partition("-") for name in names if name.endswith(END)]
    return {name: version for name, _, version in parts}
