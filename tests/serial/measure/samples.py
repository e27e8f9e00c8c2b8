"""Networks to measure: small ones of all sorts as graphs of networkx, made without mpinet."""

import networkx
from serial.lens import reference as lenses
from serial.networks import reference as classic
from serial.networks.reference import EVERYTHING, graph

LINKED = """ring:3 ring:17 complete:2 complete:9 mesh:7 mesh:3x4 torus:2x2x2 torus:2x3x5
hypercube:1 hypercube:5 ccc:3 debruijn:3 shuffleexchange:3 moebius:4 fattree:2,2 roadrunner:3,2,2
chordalring:16,5 ring:3*hypercube:2""".split()
"""Topology strings of networks of links."""

WIRINGS = EVERYTHING | {
    "ring:7": classic.ring(7),
    "ring:8": classic.ring(8),
    "mesh:2x3": classic.mesh(2, 3),
    "hypercube:3": classic.hypercube(3),
    "hypercube:4": classic.hypercube(4),
    "fattree:2,2": classic.fat_tree(2, 2),
}

BUSSED = {
    "lens:3,3,2": lenses.lens(3, 3, 2),
    "lens:2,4,3": lenses.lens(2, 4, 3),
    "lens:4,3,2": lenses.lens(4, 3, 2),
    "clens:3,3": lenses.lens(3, 3, 3, completed=True),
    "clens:4,2": lenses.lens(4, 4, 2, completed=True),
}
"""Topology strings of bus networks, with their processors and busses."""


def graph_of(name: str) -> networkx.Graph:
    """A link for every pair of neighbours, or of fellow members of a bus."""
    if name not in BUSSED:
        return graph(WIRINGS[name])
    ports = BUSSED[name].ports
    return graph([[other for _, other in there] for there in ports])


def incidence_graph_of(name: str) -> networkx.Graph:
    """Processors p and busses (N + b) of a bus network."""
    network = BUSSED[name]
    made = networkx.Graph()
    size = len(network.processors)
    made.add_nodes_from(range(size), kind="processor")
    made.add_nodes_from(range(size, size + len(network.busses)), kind="bus")
    made.add_edges_from((p, size + b) for p, b in network.incidences)
    return made


def random_graphs(count: int, nodes: int, likelihood: float) -> list[networkx.Graph]:
    """Connected random graphs, irregular and mostly without symmetry."""
    drawn = (networkx.gnp_random_graph(nodes, likelihood, seed) for seed in range(1000))
    connected = [made for made in drawn if networkx.is_connected(made)]
    return connected[:count]
