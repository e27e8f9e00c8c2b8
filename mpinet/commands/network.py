"""Networks as option values: strings, results of `mpinet.open`, or networkx graphs.

The network classes are loaded with the first network, because NumPy takes longer to load than the
help.
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
    """Return the topology families that begin with a prefix, for shell completion."""
    from mpinet.networks.catalogue import FAMILIES

    return [f"{name}:" for name in FAMILIES if name.startswith(prefix)]


AnyNetwork = str | Topology | NetworkxGraph
"""A network as Python passes it."""

Network = Annotated[
    AnyNetwork,
    Typed(
        "Network, such as ``torus:8x8x8`` (see: mpinet topologies).",
        metavar="TOPO",
        complete=families_completed,
        group="network",
    ),
]
"""Option for a network: a string, a result of `mpinet.open`, or a networkx graph."""

FOLDERS = re.compile(r"[^:,=]*/(?=[^/:,=]*\.[A-Za-z])")
"""Folders of a file path within a name."""


def without_folders(name: str) -> str:
    """Return a name without folders, so the digest does not depend on the folder of a file."""
    return FOLDERS.sub("", name)


def named(value: Any) -> str:
    """Return the printed name of a value such as a network or a function."""
    if isinstance(value, Topology):
        return value.name
    if callable(value):
        return f"{value.__module__}:{value.__name__}"
    return str(value)
