"""The one door for files that are networks: their contents, or their names, tell the format."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mpinet.base.files import read_bytes
from mpinet.base.markup import require_plain
from mpinet.errors import TopologyError, TopologyFileError
from mpinet.networks.graphfiles.anynet import read_anynet
from mpinet.networks.graphfiles.edgelist import read_edge_list
from mpinet.networks.graphfiles.infragraph import read_infragraph
from mpinet.networks.graphfiles.simgrid import read_simgrid

if TYPE_CHECKING:
    import networkx

HEAD = 1 << 16
"""Bytes in which a file tells its format."""


class Format(NamedTuple):
    """A format of files that are networks.

    Attributes
    ----------
    name : str
        What a sentence calls it.
    endings : tuple of str
        Endings of names that tell it, where nothing in the file does.
    begins : bytes
        What the first 64 kB of such a file match (`re.search`, lines apart); empty: nothing does.
    read : callable
        Reads the bytes into a graph.
    ordered : bool
        Whether nodes are numbered in the order of the file.
    """

    name: str
    endings: tuple[str, ...]
    begins: bytes
    read: Callable[[bytes], Any]
    ordered: bool = False


def _networkx_reader(name: str) -> Callable[[bytes], Any]:
    def read(data: bytes) -> Any:
        import networkx

        return getattr(networkx, name)(BytesIO(data))

    return read


def _read_graphml(data: bytes) -> Any:
    """GraphML without document types and entities: networkx would expand them."""
    require_plain(data)
    return _networkx_reader("read_graphml")(data)


FORMATS = (
    Format("SimGrid platform", (), rb"\A\s*<(?s:.)*?<platform\b", read_simgrid, True),
    Format("InfraGraph", (), rb'\A\s*\{(?s:.)*"(devices|instances)"\s*:', read_infragraph, True),
    Format("anynet file", (), rb"\A\s*(router|node) +[0-9]+\s", read_anynet, True),
    Format("graphml", (".graphml",), rb"", _read_graphml),
    Format("gml", (".gml",), rb"", _networkx_reader("read_gml")),
    Format("g6", (".g6",), rb"", _networkx_reader("read_graph6")),
    Format("edge list", (".txt", ".edges", ".edgelist"), rb"", read_edge_list),
)
"""All formats; those that contents tell come first."""


def read_graph(path: str) -> tuple[networkx.Graph, bool]:
    """Read a graph from a file; also tell if its nodes are numbered in the order of the file.

    Raises
    ------
    TopologyError
        There is no such file or format, or the file is not in its format.
    """
    if not os.path.exists(path) or os.path.isdir(path):
        raise TopologyFileError(f"graph: there is no file {path}.")
    try:
        data = read_bytes(Path(path))
    except OSError as error:
        raise TopologyFileError(f"graph: {path} cannot be read: {error.strerror}.") from None
    format = _format_of(path, data.removeprefix(b"\xef\xbb\xbf"))
    try:
        graph = format.read(data)
    except RecursionError:
        raise TopologyFileError(f"graph: {path} is not a readable {format.name}.") from None
    except Exception as error:
        reason = str(error).rstrip(".")
        raise TopologyFileError(
            f"graph: {path} is not a readable {format.name}: {reason}."
        ) from error
    if isinstance(graph, list):
        raise TopologyError(f"graph: {path} has {len(graph)} graphs; give a file with one.")
    return graph, format.ordered


def _format_of(path: str, data: bytes) -> Format:
    """Find the format of a file."""
    ending, head = Path(path).suffix.lower(), data[:HEAD]
    for format in FORMATS:
        if ending in format.endings or (format.begins and re.search(format.begins, head)):
            return format
    endings = ", ".join(ending for format in FORMATS for ending in format.endings)
    told = ", ".join(format.name for format in FORMATS if format.begins)
    raise TopologyError(
        f"graph: {path} is none of those that contents tell ({told}), and its name does not end in "
        f"{endings}."
    )
