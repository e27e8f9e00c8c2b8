"""Graphs of networkx and of files as topologies.

Only this module stores networks as graphs: every rank needs the whole graph. The ranks of a host
share one copy of a large graph.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.base.numerals import is_whole, quoted
from mpinet.compiled import Mapped, inlined, kernel, rule
from mpinet.errors import TopologyError
from mpinet.networks.adjacency import spread
from mpinet.networks.graphfiles.wiring import MOST_LINKS
from mpinet.networks.linkclasses import ONE_CLASS, link_classes
from mpinet.networks.networkxgraph import graph_of
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    import networkx

OFFSETS = 2
"""Place in the rules' parameters of the N+1 offsets of the nodes' neighbours; the neighbours of all
nodes follow, then the reverse ports in the same order.
"""


SWITCH = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
"""Switch flag of a node, by the text of its attribute."""


@inlined
def stored_at(node, port, params):
    """Return the index of a port's neighbour in the parameters; -1 for an unwired port."""
    at = params[OFFSETS + node] + port
    return OFFSETS + params[0] + 1 + at if at < params[OFFSETS + node + 1] else -1


class StoredGraph(Topology):
    """A network with stored neighbours; ports lead to the neighbours in ascending order.

    The graph need not be connected. `Graph` checks that the graph is a valid network.

    Parameters
    ----------
    name : str
        The topology's name.
    nodes : sequence of hashable
        The nodes in the order of their numbers; their texts are the addresses.
    pairs : iterable of (hashable, hashable), or ndarray of int64, shape (L, 2)
        The links, by nodes or, in an array, by node numbers. A repeated pair is a parallel link. A
        link from a node to itself is left out.
    kinds : sequence of int, optional
        The class of each of the links. Default: one class for all links.
    hosts : int, optional
        Number of nodes that are processors, numbered first; the others are switches. Default: all.
    """

    def __init__(
        self,
        name: str,
        nodes: Sequence[Hashable],
        pairs: Iterable[tuple[Any, Any]] | Table,
        kinds: Sequence[int] = (),
        hosts: int | None = None,
    ):
        self.nodes = nodes if isinstance(nodes, range) else tuple(nodes)
        ends = pairs if isinstance(pairs, np.ndarray) else numbered(self.nodes, pairs)
        offsets, targets, back, links = adjacency(ends, len(nodes))
        stored = [offsets, targets, back]
        if max(kinds, default=0) > 0:
            stored.append(np.asarray(kinds, np.int64)[links])
        super().__init__(
            "",
            size=len(self.nodes),
            ports=int(np.diff(offsets).max(initial=0)),
            params=np.concatenate(stored),
            hosts=hosts,
        )
        self.name = name
        if len(stored) > 3:
            self.link_class = Mapped(stored_class, self.params)  # type: ignore[misc]

    @rule
    def neighbor(node, port, params):
        """Return the neighbour with index `port`."""
        at = stored_at(node, port, params)
        return -1 if at < 0 else params[at]

    @rule
    def reverse_port(node, port, params):
        """Return the stored reverse port; -1 for an unwired port."""
        at = stored_at(node, port, params)
        return -1 if at < 0 else params[params[OFFSETS + params[0]] + at]

    @property
    def most_wired(self) -> int:
        """Number of ends of all links."""
        return int(self.params[OFFSETS + self.size])

    def port_counts(self, nodes: Ints) -> Ints:
        """Return the number of ports per node; all of them are wired."""
        return self.params[OFFSETS + nodes + 1] - self.params[OFFSETS + nodes]

    def neighbor_lists(self) -> tuple[Ints, Ints]:
        """Return the neighbours' offsets, shape (N + 1,), and neighbours, shape (2L,)."""
        first = OFFSETS + self.size + 1
        return self.params[OFFSETS:first], self.params[first : first + self.most_wired]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Number of the node with each address."""
        return {str(node): number for number, node in enumerate(self.nodes)}

    def _address(self, node: int) -> str:
        """Return the text of the node in the graph."""
        return str(self.nodes[node])

    def read_address(self, address: str) -> int:
        """Return the number of the node with this address."""
        if not isinstance(self.nodes, range):
            return self.numbers.get(address, -1)
        number = int(address) if is_whole(address) else -1
        return number if number < self.size and str(number) == address else -1


class Graph(StoredGraph):
    """A network given by a graph; ports lead to the neighbours in ascending order.

    Parameters
    ----------
    graph : networkx.Graph, or ndarray of int64, shape (L, 2)
        A connected, undirected graph without self-loops. An array has the labels of each link's
        ends.

        An edge with a ``capacity`` c is c parallel links, as parallel edges are: it carries c
        messages a step each way. All edges or none have a ``class``, or a ``latency`` and a
        ``time_byte`` (`mpinet.networks.linkclasses`).

        Nodes whose ``switch`` is true are switches. Processors are numbered first, then switches,
        each in ascending order if all nodes are whole numbers, otherwise in the order of their
        texts. The nodes' texts are the addresses.
    family, arguments : str
        The topology's name.
    ordered : bool
        Whether processors, and switches, are numbered in the graph's own order instead.

    Raises
    ------
    TopologyError
        The graph is not a valid network.
    """

    def __init__(
        self,
        graph: networkx.Graph | Table,
        family: str = "graph",
        arguments: str = "",
        *,
        ordered: bool = False,
    ):
        where = f"{family}:{arguments}" if arguments else family
        if isinstance(graph, np.ndarray):
            self._classes = ONE_CLASS
            labels, ends = numbers_of(graph)
            require_several(where, len(labels))
            require_no_loop(where, graph[graph[:, 0] == graph[:, 1], 0].tolist())
            super().__init__(where, labels, ends)
            require_connected(where, count_pieces(*self.neighbor_lists()))
            return
        require_network(where, graph)
        self.ignored = tuple(graph.graph.get("ignored", ()))
        self._classes = link_classes(where, graph)
        copies = capacities(where, graph)
        pairs = chain.from_iterable(map(repeat, graph.edges(), copies))
        # An edge of capacity c is c parallel links of one class. The classes have to be repeated
        # like the edges.
        kinds = [*chain.from_iterable(map(repeat, self._classes.kinds, copies))]
        switches = read_switches(where, graph)
        given = [*graph] if ordered else ordered_nodes(where, graph)
        nodes = sorted(given, key=switches.__contains__)
        super().__init__(where, nodes, pairs, kinds, len(nodes) - len(switches))

    def _identity(self) -> tuple[Any, ...]:
        """Return the nodes' texts and the links' costs; the links are part of the parameters."""
        if self.family not in ("", "graph"):
            return super()._identity()
        nodes: Sequence[Any] = self.nodes
        if not isinstance(nodes, range):
            nodes, numbers = tuple(map(str, nodes)), range(self.size)
            # A graph with nodes 0..N-1 equals the same graph read from a file, where these nodes
            # are texts.
            nodes = numbers if nodes == tuple(map(str, numbers)) else nodes
        costs = tuple(sorted(self.link_costs.items()))
        return Graph, self.hosts, nodes, self.link_classes, costs

    def __hash__(self) -> int:
        return hash((self.size, self.hosts))  # hashing the nodes' texts is slow

    @property
    def link_classes(self) -> tuple[str, ...]:
        """Names of the link classes that the edges' attributes define."""
        return self._classes.names

    @property
    def link_costs(self) -> Mapping[str, tuple[str, ...]]:
        """Costs of each link class, from the edges' attributes."""
        return self._classes.costs


class GivenGraph(Graph):
    """A network made from a networkx graph; its methods use the nodes of that graph.

    Rules and results use node numbers 0..N-1. Methods with a node as argument, and iteration, use
    the graph's own nodes. An integer that is not a node of the graph means the node with this
    number.

    Parameters
    ----------
    graph : networkx.Graph
        As in `Graph`. The network's name is ``networkx:`` and the graph's name.

    Examples
    --------
    >>> import mpinet, networkx
    >>> grid = mpinet.open(networkx.grid_2d_graph(2, 2))
    >>> [*grid], grid.neighbors((0, 0)), (0, 2) in grid
    ([(0, 0), (0, 1), (1, 0), (1, 1)], [(0, 1), (1, 0)], False)
    """

    def __init__(self, graph: networkx.Graph):
        super().__init__(graph, "networkx", str(getattr(graph, "name", "")))

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the graph's nodes, in the order of their numbers."""
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        """Return whether a value is a node of the graph."""
        number = self.numbers.get(str(node), -1)
        return number >= 0 and self.nodes[number] == node

    def neighbors(self, node: Any) -> list[Any]:
        """Return the neighbours of a node as nodes of the graph, in the order of ports."""
        return [self.nodes[number] for number in super().neighbors(node)]

    def find(self, text: str) -> int:
        """Return the number of the graph's node with this text, or of the node with this number."""
        found = self.read_address(text)
        return found if found >= 0 else super().find(text)

    def to_networkx(self) -> networkx.Graph:
        """Return the graph of this network, with the nodes of the original graph."""
        return graph_of(self, self.nodes)


def from_networkx(graph: networkx.Graph, name: str = "graph") -> Graph:
    """Return the network that a graph describes.

    Parameters
    ----------
    graph : networkx.Graph
        As in `Graph`.
    name : str
        The topology's name, which cannot be used to open the topology.

    Raises
    ------
    TopologyError
        The graph is not a valid network.
    """
    return Graph(graph, name)


def require_network(where: str, graph: networkx.Graph) -> None:
    """Raise `TopologyError` unless a graph is a valid network."""
    import networkx

    if graph.is_directed():
        raise TopologyError(f"{where}: the graph is directed; a network's links go both ways.")
    require_several(where, graph.number_of_nodes())
    require_no_loop(where, networkx.nodes_with_selfloops(graph))
    require_connected(where, networkx.number_connected_components(graph))


def require_several(where: str, nodes: int) -> None:
    """Raise `TopologyError` if a graph has too few nodes for a network."""
    if nodes < 2:
        raise TopologyError(f"{where}: the graph has {nodes} nodes; a network has two or more.")


def require_no_loop(where: str, looped: Iterable[Hashable]) -> None:
    """Raise `TopologyError` if any node has a link to itself."""
    for node in looped:
        raise TopologyError(f"{where}: node {node} has a link to itself.")


def require_connected(where: str, pieces: int) -> None:
    """Raise `TopologyError` if a graph has several components."""
    if pieces > 1:
        raise TopologyError(f"{where}: the graph is not connected, but has {pieces} components.")


def capacities(where: str, graph: networkx.Graph) -> list[int]:
    """Return the capacity of each edge: its number of parallel links.

    Raises
    ------
    TopologyError
        A capacity is not a whole number, or the graph has too many links.
    """
    # A capacity of a few digits may mean millions of links. A large graph of single links is no
    # accident, and is allowed.
    found, most = list[int](), max(MOST_LINKS, graph.number_of_edges())
    for u, v, given in graph.edges(data="capacity", default=1):
        try:
            capacity = float(str(given))
        except ValueError:
            capacity = 0
        if not (1 <= capacity <= MOST_LINKS and capacity.is_integer()):
            raise TopologyError(
                f"{where}: the capacity of the link between {u} and {v} is a whole number "
                f"1..{MOST_LINKS} of messages a step, not {quoted(str(given))}."
            )
        found.append(int(capacity))
    if sum(found) > most:
        raise TopologyError(
            f"{where}: the capacities of edges add up to {sum(found)} links, more than {most}."
        )
    return found


def read_switches(where: str, graph: networkx.Graph) -> set[Hashable]:
    """Return the nodes that are switches.

    Raises
    ------
    TopologyError
        An attribute is neither true nor false, or all nodes are switches.
    """
    found = set[Hashable]()
    for node, given in graph.nodes(data="switch", default=False):
        # Formats write booleans differently: GraphML true, GML 1, DOT a text. Here all of these are
        # compared as texts.
        text = str(given).lower()
        if text not in SWITCH:
            raise TopologyError(
                f"{where}: the switch of node {node} is true or false, not {quoted(str(given))}."
            )
        if SWITCH[text]:
            found.add(node)
    if len(found) == graph.number_of_nodes():
        raise TopologyError(f"{where}: all nodes are switches; a network needs a processor.")
    return found


def ordered_nodes(where: str, graph: networkx.Graph) -> list[Hashable]:
    """Return the graph's nodes in the order of their numbers."""
    nodes = list(graph)
    try:
        numbers = {node: int(str(node)) for node in nodes}
    except ValueError:
        numbers = {}
    texts = {str(node) for node in nodes}
    if len(texts) < len(nodes):
        raise TopologyError(f"{where}: two different nodes have the same label.")
    # As texts, 10 would come before 9. Whole numbers are sorted as numbers.
    return sorted(nodes, key=numbers.__getitem__ if numbers else str)


def numbered(nodes: Sequence[Hashable], pairs: Iterable[tuple[Any, Any]]) -> Table:
    """Return the numbers of the nodes of each pair, shape (L, 2)."""
    number = {node: i for i, node in enumerate(nodes)}
    return np.fromiter((number[end] for pair in pairs for end in pair), np.int64).reshape(-1, 2)


def numbers_of(labels: Table) -> tuple[Sequence[int], Table]:
    """Return the sorted labels of a graph's nodes, and the links by node numbers.

    Parameters
    ----------
    labels : ndarray of int64, shape (L, 2)
        The labels of each link's ends.

    Returns
    -------
    nodes : range or tuple of int
        The labels, ascending.
    ends : ndarray of int64, shape (L, 2)
        The node numbers of each link's ends, the lower one first. Parallel links therefore have the
        same order at both ends, independent of the direction in the file.
    """
    found, ends = np.unique(labels, return_inverse=True)
    # Labels 0..N-1 need no table of names. For large graphs that table would be larger than the
    # wiring.
    whole = found[-1] == len(found) - 1
    nodes = range(len(found)) if whole else tuple(found.tolist())
    return nodes, np.sort(ends.reshape(-1, 2), axis=1)


def adjacency(ends: Table, count: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Return offsets and neighbours of the nodes, the reverse ports, and the links.

    Each of two parallel links leads back by itself; a link's number is its place among the pairs.
    """
    links = np.flatnonzero(ends[:, 0] != ends[:, 1])
    sources, targets = np.concatenate([ends[links], ends[links, ::-1]]).T
    # A stable sort keeps parallel links in the file's order at both ends. The k-th link there
    # therefore leads back as the k-th link here.
    order = np.argsort(sources * count + targets, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    offsets = np.searchsorted(sources[order], np.arange(count + 1))
    # Each link is listed once per direction, half the list apart. Rolling by that half finds its
    # other direction without a search.
    back = np.roll(place, len(links))[order] - offsets[targets[order]]
    return offsets, targets[order], back, np.tile(links, 2)[order]


@kernel
def count_pieces(offsets: Ints, targets: Ints) -> int:
    """Return the number of connected components of a graph."""
    reached = np.full(offsets.size - 1, -1, np.int32)
    queue, pieces = np.empty(reached.size, np.int32), 0
    for node in range(reached.size):
        if reached[node] < 0:
            spread(offsets, targets, node, reached, queue)
            pieces += 1
    return pieces


@rule
def stored_class(node, port, params):
    """Return the stored class; 0 for an unwired port."""
    at = stored_at(node, port, params)
    return 0 if at < 0 else params[2 * params[OFFSETS + params[0]] + at]
