"""Which mpinet this is, and where it is installed."""

from pathlib import Path

__version__ = "0.1.0"

PACKAGE = Path(__file__).parent
"""The folder of the package."""
