"""Networks as options: by their strings, as `mpinet.open` gives them, or as graphs of networkx.

The classes of networks are loaded with the first network, because NumPy takes longer than a help.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from mpinet.commands.optionrecords import Typed, late

if TYPE_CHECKING:
    from mpinet.networks.topology import NetworkxGraph, Topology
else:
    Topology = late("mpinet.networks.topology", "Topology")
    NetworkxGraph = late("mpinet.networks.topology", "NetworkxGraph")


def families_completed(prefix: str, **asked: object) -> list[str]:
    """The families that a name may go on to, for a shell that asks."""
    from mpinet.networks.catalogue import FAMILIES

    return [f"{name}:" for name in FAMILIES if name.startswith(prefix)]


AnyNetwork = str | Topology | NetworkxGraph
"""A network, as Python gives it."""

Network = Annotated[
    AnyNetwork,
    Typed(
        "Network, such as ``torus:8x8x8`` (see: mpinet topologies).",
        metavar="TOPO",
        complete=families_completed,
    ),
]
"""A network by its string, as `mpinet.open` gives it, or as a graph of networkx."""

FOLDERS = re.compile(r"[^:,=]*/(?=[^/:,=]*\.[A-Za-z])")
"""The folders of a file, in a name."""


def without_folders(name: str) -> str:
    """A name as a result has it, whose digest is the same wherever the files in it lie."""
    return FOLDERS.sub("", name)


def named(value: Any) -> str:
    """Return a value's name for a person: that of a network or a function."""
    if isinstance(value, Topology):
        return value.name
    if callable(value):
        return f"{value.__module__}:{value.__name__}"
    return str(value)
