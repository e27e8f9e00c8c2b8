"""Graphs of networkx and of files as topologies, and topologies as graphs of networkx.

The one place where networks are stored graphs: every rank that uses one holds all of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.files import read_bytes
from mpinet.base.markup import require_plain
from mpinet.base.numerals import quoted
from mpinet.compiled import rule
from mpinet.errors import TopologyError, TopologyFileError
from mpinet.networks.parameters import Parameter
from mpinet.networks.shortest import neighbor_table
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    import networkx

OFFSETS = 2
"""Start of the N+1 offsets of the nodes' neighbours in the rules' parameters; the neighbours of all
nodes follow, then the reverse ports in the same order.
"""


class Graph(Topology):
    """A network given by a graph; ports lead to the neighbours in ascending order.

    Parameters
    ----------
    graph : networkx.Graph
        Connected, undirected, without self-loops and parallel edges, and without a ``capacity``
        other than 1. Its nodes are numbered in ascending order if all are whole numbers, else in
        the order of their texts; their texts are the addresses.
    family, arguments : str
        The topology's name.

    Raises
    ------
    TopologyError
        The graph cannot be a network.
    """

    def __init__(self, graph: networkx.Graph, family: str = "graph", arguments: str = ""):
        where = f"{family}:{arguments}" if arguments else family
        require_network(where, graph)
        labels = ordered_nodes(where, graph)
        self.labels = [str(label) for label in labels]
        self.numbers = {label: number for number, label in enumerate(self.labels)}
        offsets, targets, back = adjacency(graph, labels)
        super().__init__(
            arguments,
            size=len(labels),
            ports=int(np.diff(offsets).max()),
            params=np.concatenate([offsets, targets, back]).tolist(),
        )
        self.name = where

    @rule
    def neighbor(node, port, params):
        """The neighbour number `port`."""
        at = params[OFFSETS + node] + port
        if at >= params[OFFSETS + node + 1]:
            return -1
        return params[OFFSETS + params[0] + 1 + at]

    @rule
    def reverse_port(node, port, params):
        """Return the stored reverse port; -1 for an unwired port."""
        at = params[OFFSETS + node] + port
        if at >= params[OFFSETS + node + 1]:
            return -1
        return params[OFFSETS + params[0] + 1 + params[OFFSETS + params[0]] + at]

    @property
    def most_wired(self) -> int:
        """The ends of all links."""
        return int(self.params[OFFSETS + self.size])

    def address(self, node: int) -> str:
        """The node's label in the graph."""
        self.require_node(node)
        return self.labels[node]

    def read_address(self, address: str) -> int:
        """Look the label up."""
        return self.numbers.get(address, -1)


class GraphFile(Graph):
    """A network read from a file: edge list, GraphML, GML or graph6."""

    family = "graph"
    parameters = (
        Parameter("FILE", "a file .txt, .edges, .edgelist, .graphml, .gml or .g6", str, whole=True),
    )
    example = "graph:wiring.edges"
    paper = "the user's"
    specification = "contract 1"

    def __init__(self, FILE: str):
        super().__init__(read_graph(FILE), "graph", FILE)


def from_networkx(graph: networkx.Graph, name: str = "graph") -> Graph:
    """The network that a graph describes.

    Parameters
    ----------
    graph : networkx.Graph
        As in `Graph`.
    name : str
        The topology's name; it cannot be opened by it.

    Raises
    ------
    TopologyError
        The graph cannot be a network.
    """
    return Graph(graph, name)


def to_networkx(topology: Topology | str) -> networkx.Graph:
    """The graph of a topology, given itself or by its string.

    Nodes have the attribute ``address``. Edges have the attribute ``ports``: the lists of ports at
    the end with the lower number and at the other; several links make one edge.

    Examples
    --------
    >>> import mpinet
    >>> graph = mpinet.to_networkx("hypercube:3")
    >>> graph.number_of_nodes(), graph.number_of_edges()
    (8, 12)
    """
    import networkx

    from mpinet.networks.catalogue import open_topology

    topology = open_topology(topology) if isinstance(topology, str) else topology
    graph = networkx.Graph(name=topology.name)
    graph.add_nodes_from((u, {"address": topology.address(u)}) for u in range(topology.size))
    table = neighbor_table(topology)
    nodes, ports = np.nonzero(table > np.arange(topology.size)[:, np.newaxis])
    others = table[nodes, ports]
    back = topology.reverse_port(nodes, ports)
    for u, v, p, q in zip(*(a.tolist() for a in (nodes, others, ports, back)), strict=True):
        if not graph.has_edge(u, v):
            graph.add_edge(u, v, ports=([], []))
        here, there = graph.edges[u, v]["ports"]
        here.append(p)
        there.append(q)
    return graph


def require_network(where: str, graph: networkx.Graph) -> None:
    """Raise `TopologyError` unless a graph can be a network."""
    import networkx

    if graph.is_directed():
        raise TopologyError(f"{where}: the graph is directed; a network's links go both ways.")
    if graph.number_of_nodes() < 2:
        raise TopologyError(
            f"{where}: the graph has {graph.number_of_nodes()} nodes; a network has two or more."
        )
    if networkx.number_of_selfloops(graph):
        node = next(networkx.nodes_with_selfloops(graph))
        raise TopologyError(f"{where}: node {node} has a link to itself.")
    if graph.is_multigraph():
        for u, v, key in graph.edges(keys=True):
            if graph.number_of_edges(u, v) > 1:
                raise TopologyError(f"{where}: nodes {u} and {v} have several links (key {key}).")
    for u, v, capacity in graph.edges(data="capacity"):
        if capacity is not None and not _is_one(capacity):
            raise TopologyError(
                f"{where}: the link between {u} and {v} has the capacity {quoted(str(capacity))}, "
                "and here every link carries one message a step: capacities are not honoured."
            )
    if not networkx.is_connected(graph):
        pieces = networkx.number_connected_components(graph)
        raise TopologyError(f"{where}: the graph is not connected, it has {pieces} pieces.")


def _is_one(capacity: object) -> bool:
    """Whether a capacity, a number or its text, is 1."""
    try:
        return float(str(capacity)) == 1
    except ValueError:
        return False


def ordered_nodes(where: str, graph: networkx.Graph) -> list[Hashable]:
    """The graph's nodes in the order in which they are numbered."""
    nodes = list(graph)
    try:
        numbers = {node: int(str(node)) for node in nodes}
    except ValueError:
        numbers = {}
    texts = {str(node) for node in nodes}
    if len(texts) < len(nodes):
        raise TopologyError(f"{where}: two different nodes have the same label.")
    return sorted(nodes, key=numbers.__getitem__ if numbers else str)


def adjacency(graph: networkx.Graph, labels: list[Hashable]) -> tuple[Ints, Ints, Ints]:
    """The offsets of the nodes' neighbours, the neighbours, and the ports that lead back."""
    number = {label: i for i, label in enumerate(labels)}
    ends = np.array([(number[u], number[v]) for u, v in graph.edges()], np.int64)
    arcs = np.concatenate([ends, ends[:, ::-1]])
    sources, targets = arcs[np.lexsort((arcs[:, 1], arcs[:, 0]))].T
    offsets = np.searchsorted(sources, np.arange(len(labels) + 1))
    opposite = np.lexsort((sources, targets))
    back = np.empty(len(sources), np.int64)
    back[opposite] = np.arange(len(sources)) - offsets[targets[opposite]]
    return offsets, targets, back


def read_graph(path: str) -> networkx.Graph:
    """Read a graph from a file, in the format that its ending names.

    Raises
    ------
    TopologyError
        There is no such file or format, or the file is not in its format.
    """
    reader = READERS.get(Path(path).suffix.lower())
    if reader is None:
        raise TopologyError(
            f"graph: the format of {path!r} is told by its ending: {', '.join(READERS)}."
        )
    if not os.path.exists(path) or os.path.isdir(path):
        raise TopologyFileError(f"graph: there is no file {path}.")
    try:
        graph = reader(read_bytes(Path(path)))
    except OSError as error:
        raise TopologyFileError(f"graph: {path} cannot be read: {error.strerror}.") from None
    except Exception as error:
        kind = "edge list" if reader is read_edge_list else Path(path).suffix[1:]
        reason = str(error).rstrip(".")
        raise TopologyFileError(f"graph: {path} is not a readable {kind}: {reason}.") from error
    if isinstance(graph, list):
        raise TopologyError(f"graph: {path} has {len(graph)} graphs; give a file with one.")
    return graph


def read_edge_list(data: bytes) -> networkx.Graph:
    """An edge a line, two labels; ``#`` starts a comment. Repeated lines are parallel links."""
    import networkx

    graph = networkx.MultiGraph()
    lines = data.decode().splitlines()
    for number, line in enumerate(lines, 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if len(words) not in (0, 2):
            raise ValueError(f"line {number} has {len(words)} words, not the two ends of a link")
        if words:
            graph.add_edge(*words)
    return graph


def _networkx_reader(name: str) -> Callable[[bytes], Any]:
    def read(data: bytes) -> Any:
        import networkx

        return getattr(networkx, name)(BytesIO(data))

    return read


def _read_graphml(data: bytes) -> Any:
    """GraphML without document types and entities: networkx would expand them."""
    require_plain(data)
    return _networkx_reader("read_graphml")(data)


READERS: dict[str, Callable[[bytes], Any]] = {
    ".txt": read_edge_list,
    ".edges": read_edge_list,
    ".edgelist": read_edge_list,
    ".graphml": _read_graphml,
    ".gml": _networkx_reader("read_gml"),
    ".g6": _networkx_reader("read_graph6"),
}
"""File name's ending -> what reads such a file."""
