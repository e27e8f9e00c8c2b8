"""Version and folder of this mpinet, and the versions of other packages."""

import sys
from pathlib import Path

__version__ = "0.2.0"

PACKAGE = Path(__file__).parent.parent
"""Folder of the package."""


def installed(package: str) -> str | None:
    """Return the version of an installed package; None where it is not installed.

    Most can be told by the name of a folder: `importlib.metadata` takes longer than many a run.
    """
    for folder in sys.path:
        for found in Path(folder).glob(f"{package}-*.dist-info"):
            return found.name[len(package) + 1 : -len(".dist-info")]
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
