"""mpinet: an MPI-distributed emulator of message-passing machines.

The public names; they are loaded where first used, so that ``import mpinet`` stays instant. What is
imported for type checkers names the same (the tests compare the two).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mpinet.compiled import inlined as inlined
    from mpinet.compiled import rule as rule
    from mpinet.errors import ModelViolation as ModelViolation
    from mpinet.errors import MpinetError as MpinetError
    from mpinet.networks import Routing as Routing
    from mpinet.networks import Topology as Topology
    from mpinet.networks import check as check
    from mpinet.networks import open as open
    from mpinet.process import Machine as Machine

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

if not TYPE_CHECKING:  # a checker would take every name, also a misspelt one, for Any

    def __getattr__(name: str) -> object:
        """Load a public name from its room."""
        if name not in _PUBLIC:
            raise AttributeError(f"module 'mpinet' has no attribute '{name}'")
        return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    """Names that completion offers."""
    return sorted(__all__)
