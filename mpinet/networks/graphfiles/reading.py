"""The common reader of network files: contents or file name determine the format."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpinet.base.arrays import Table
from mpinet.base.files import read_bytes
from mpinet.base.formats import Format, format_of, refusal
from mpinet.base.markup import require_plain
from mpinet.errors import TopologyError, TopologyFileError
from mpinet.networks.graphfiles.anynet import read_anynet
from mpinet.networks.graphfiles.dot import read_dot
from mpinet.networks.graphfiles.edgelist import read_csv, read_edge_list
from mpinet.networks.graphfiles.infragraph import read_infragraph, read_infragraph_yaml
from mpinet.networks.graphfiles.simgrid import read_simgrid

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True, kw_only=True)
class GraphFormat(Format):
    """A format of network files."""

    read: Callable[[bytes], Any]
    """Function from the file's bytes to a graph."""
    ordered: bool = False
    """True if nodes are numbered in the order of the file."""


def _networkx_reader(name: str) -> Callable[[bytes], Any]:
    def read(data: bytes) -> Any:
        import networkx

        return getattr(networkx, name)(BytesIO(data))

    return read


def _read_graphml(data: bytes) -> Any:
    """Read GraphML without document types and entities, which networkx would expand."""
    require_plain(data)
    return _networkx_reader("read_graphml")(data)


FORMATS = (
    GraphFormat("SimGrid platform", rb"\A\s*<(?s:.)*?<platform\b", read=read_simgrid, ordered=True),
    GraphFormat("InfraGraph", rb'\A\s*\{(?s:.)*"(devices|instances)"\s*:',
                read=read_infragraph, ordered=True),
    GraphFormat("InfraGraph (YAML)", rb"(?m:^(devices|instances|infrastructure):)",
                read=read_infragraph_yaml, ordered=True),
    GraphFormat("anynet file", rb"\A\s*(router|node) +[0-9]+\s", read=read_anynet, ordered=True),
    GraphFormat("graphml", endings=(".graphml",), read=_read_graphml),
    GraphFormat("gml", endings=(".gml",), read=_networkx_reader("read_gml")),
    GraphFormat("g6", endings=(".g6",), read=_networkx_reader("read_graph6")),
    GraphFormat("DOT", endings=(".dot", ".gv"), read=read_dot),
    GraphFormat("CSV", endings=(".csv",), read=read_csv),
    GraphFormat("edge list", endings=(".txt", ".edges", ".edgelist", ""), read=read_edge_list),
)  # fmt: skip
"""All formats; formats that are recognized by contents come first."""


def read_graph(path: str) -> tuple[networkx.Graph | Table, bool]:
    """Read a graph from a file; return also whether its nodes keep the order of the file.

    An edge list of whole numbers alone is returned as the labels of its links' ends, shape (L, 2).

    Raises
    ------
    TopologyError
        The file or format does not exist, or the file violates its format.
    """
    if not os.path.exists(path) or os.path.isdir(path):
        raise TopologyFileError(f"graph: there is no file {path}.")
    try:
        data = read_bytes(Path(path))
    except OSError as error:
        raise TopologyFileError(f"graph: {path} cannot be read: {error.strerror}.") from None
    format = format_of(FORMATS, Path(path), data)
    if format is None:
        raise TopologyError(f"graph: {path} {refusal(FORMATS)}")
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
