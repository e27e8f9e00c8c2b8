"""Version and folder of this mpinet, and the versions of other packages."""

from pathlib import Path

__version__ = "0.2.0"

PACKAGE = Path(__file__).parent.parent
"""Folder of the package."""


def installed(package: str) -> str | None:
    """Return the version of an installed package; None where it is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
