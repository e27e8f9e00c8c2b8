"""mpinet: an MPI-distributed emulator of message-passing machines.

The public names; they are loaded where first used, so that ``import mpinet`` stays instant.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_PUBLIC = {
    "Machine": "mpinet.process",
    "ModelViolation": "mpinet.errors",
    "MpinetError": "mpinet.errors",
    "Routing": "mpinet.networks",
    "Topology": "mpinet.networks",
    "check": "mpinet.networks",
    "inlined": "mpinet.compiled",
    "open": "mpinet.networks",
    "rule": "mpinet.compiled",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    """Load a public name from its room."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'mpinet' has no attribute '{name}'")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    """Names that completion offers."""
    return sorted(__all__)
