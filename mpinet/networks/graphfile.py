"""Networks from files; the ranks of a host share the wiring of a large file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.files import hash_of_file
from mpinet.base.onecopy import one_copy
from mpinet.networks.graph import OFFSETS, Graph
from mpinet.networks.graphfiles.bandwidths import split_wish, with_capacities
from mpinet.networks.graphfiles.reading import read_graph
from mpinet.networks.linkclasses import ONE_CLASS
from mpinet.networks.listedroutes import Routes, listed_routing
from mpinet.networks.parameters import Parameter
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology

LARGE = 2**24
"""Size in bytes of the smallest file whose wiring the ranks of a host share."""

FORM = "edge list 1"
"""Version name of the shared data; it must change when the layout of the parameters changes."""


class GraphFile(Graph):
    """A network read from a file, in one of the formats of `mpinet.networks.graphfiles`.

    The argument ``,bandwidth`` after the file's name turns the links' bandwidths into capacities.
    """

    parameters = (Parameter("FILE", "a file of a known format", str, whole=True),)
    example = "graph:wiring.edges"
    paper = "the user's"
    specification = "contract 1"

    def __init__(self, FILE: str):
        self._routes: Routes = {}  # listed routes, if each pair of processors has one
        file, asked, unit = split_wish(FILE)
        words = None if asked else shared_wiring(FILE)
        if words is None:
            graph, ordered = read_graph(file)
            if asked:
                graph = with_capacities(f"graph:{FILE}", graph, unit)
            super().__init__(graph, "graph", FILE, ordered=ordered)
            if not isinstance(graph, np.ndarray):
                number = self.numbers
                self._routes = {
                    (number[u], number[v]): [number[node] for node in nodes]
                    for (u, v), nodes in graph.graph.get("routes", {}).items()
                }
            return
        # The shared words are the parameters themselves. Building the graph again would need a
        # private copy on every rank.
        Topology.__init__(self, FILE, int(words[0]), int(words[1]))
        end = OFFSETS + self.size + 1
        end += 2 * int(words[end - 1])
        self.params, labels = words[:end], words[end:]
        self.nodes = tuple(labels.tolist()) or range(self.size)
        self._classes = ONE_CLASS

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """Shortest-path routing by a table; with listed routes in the file also that routing."""
        found = super().routings
        if self._routes:
            found["routes"] = lambda: listed_routing(self, self._routes)
        return found


def shared_wiring(path: str) -> Ints | None:
    """Return the wiring of a large edge list of numbers, shared by all ranks of this host.

    Returns
    -------
    ndarray of int64 or None
        The parameters of the rules, then the nodes' labels if these are not 0..N-1. None for other
        files: each rank reads these.
    """

    def wired() -> Ints | None:
        graph, _ = read_graph(path)
        if not isinstance(graph, np.ndarray):
            return None
        network = Graph(graph, "graph", path)
        labels = () if isinstance(network.nodes, range) else network.nodes
        return np.concatenate([network.params, np.asarray(labels, np.int64)])

    try:
        # Small files are read faster than they are hashed and mapped. Each rank then reads the
        # file.
        if not os.path.isfile(path) or os.path.getsize(path) < LARGE:
            return None
        content = hash_of_file(Path(path))
    except OSError:
        return None  # the reader reports the error
    return one_copy(f"{FORM} {Path(path).suffix} {content}", wired)
