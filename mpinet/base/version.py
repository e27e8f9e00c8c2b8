"""Version, commit and folder of this mpinet."""

from pathlib import Path

__version__ = "0.1.0"

PACKAGE = Path(__file__).parent.parent
"""Folder of the package."""
