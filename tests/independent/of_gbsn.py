"""Claims about block shift networks."""

from itertools import product
from math import ceil, log2

import networkx as nx
from entry import equal, of
from measures import (
    degrees,
    mean_with_self,
)
from wirings import (
    bsn,
    bsn_shifts,
    hypercube,
    literal_gbsn,
)

BSNS = [
    (a, b, n)
    for n in range(2, 8)
    for b in range(1, n)
    for a in range(1, b + 1)
    if b % a == 0
]  # fmt: skip


@of("GBSN-S2-bsn-size")
def bsn_size():
    for a, b, n in BSNS:
        yield f"topology=bsn:{a},{b},{n}", *equal(len(bsn(a, b, n)), 2**n)


@of("GBSN-S2-two-shift-links")
def bsn_shift_links():
    for a, b, n in BSNS:
        graph = nx.Graph(bsn_shifts(b, n))
        least = min(graph.degree[u] if u in graph else 0 for u in range(2**n))
        yield f"topology=bsn:{a},{b},{n}", least, least == 2


def bsn_degree(a, b):
    return (2**a - 1) * b // a + 2


@of("GBSN-S3-degree-bsn")
def bsn_degrees():
    for a, b, n in BSNS:
        yield f"topology=bsn:{a},{b},{n}", *equal(degrees(bsn(a, b, n))[-1], bsn_degree(a, b))


@of("GBSN-S3-degree-bsn-generic")
def bsn_degrees_generic():
    for a, b, n in BSNS:
        if n != 2 * b:
            found = degrees(bsn(a, b, n))[-1]
            yield f"topology=bsn:{a},{b},{n}", *equal(found, bsn_degree(a, b))


def formula_1(a, b, n):
    part = 2.0**-b
    return (2 + b / a) * (n / b - part / (1 - part)) - 2 * (1 - part) / 2 ** (n - b)


@of("GBSN-E1-graph")
def bsn_average():
    for a, b, n in BSNS:
        mean, claimed = mean_with_self(bsn(a, b, n)), formula_1(a, b, n)
        yield f"topology=bsn:{a},{b},{n}", mean, abs(mean - claimed) <= 0.05 * claimed


@of("GBSN-E1-upper")
def bsn_average_bound():
    for a, b, n in BSNS:
        mean = mean_with_self(bsn(a, b, n))
        yield f"topology=bsn:{a},{b},{n}", mean, mean <= formula_1(a, b, n)


def block_of(graph):
    """The block 0 of a BSN with blocks of four nodes."""
    return graph.subgraph(range(4))


@of("GBSN-F1-a-circle")
def block_is_circle():
    yield "", *equal(nx.is_isomorphic(block_of(bsn(1, 2, 4)), nx.cycle_graph(4)), True)


@of("GBSN-F1-a-complete")
def block_is_complete():
    yield "", *equal(nx.is_isomorphic(block_of(bsn(2, 2, 4)), nx.complete_graph(4)), True)


@of("GBSN-F1-same-a")
def one_graph_by_two_names():
    yield "", *equal(nx.is_isomorphic(bsn(1, 2, 4), bsn(2, 2, 4)), True)


@of("GBSN-F1-same-b")
def one_gbsn_by_two_names():
    first, _ = literal_gbsn(1, (4, 4, 4, 2), (1,) * 4)
    second, _ = literal_gbsn(2, (4, 4, 4, 3), (1,) * 4)
    yield "", *equal(nx.is_isomorphic(first, second), True)


@of("GBSN-S4-hypercube")
def is_hypercube():
    for n in range(1, 9):
        same = nx.utils.graphs_equal(bsn(1, n, n), hypercube(n))
        yield f"n={n}", *equal(same, True)


@of("GBSN-S4-shuffle-exchange")
def is_shuffle_exchange():
    for n in range(1, 9):
        graph = nx.Graph((u, u ^ 1) for u in range(2**n))
        shuffled = ((u, (u << 1 | u >> (n - 1)) % 2**n) for u in range(2**n))
        graph.add_edges_from((u, v) for u, v in shuffled if u != v)
        yield f"n={n}", *equal(nx.utils.graphs_equal(bsn(1, 1, n), graph), True)


@of("GBSN-S4-complete")
def is_complete():
    for n in range(1, 9):
        links = bsn(n, n, n).number_of_edges()
        yield f"n={n}", *equal(links == 2**n * (2**n - 1) // 2, True)


GBSNS = [
    (b, sizes)
    for k in (1, 2, 3)
    for sizes in product((2, 3, 5), repeat=k)
    for b in range(1, min(3, ceil(log2(max(sizes)))) + 1)
]


def gbsns():
    """Some GBSNs with a = 1: their names and literal graphs."""
    for b, sizes in GBSNS:
        name = f"topology=gbsn:{b},m={'-'.join(map(str, sizes))},a=1"
        yield name, sizes, literal_gbsn(b, sizes, (1,) * len(sizes))


@of("GBSN-S2-literal-connected")
def literal_is_connected():
    for name, _, (graph, _) in gbsns():
        yield name, *equal(nx.is_connected(graph), True)


@of("GBSN-S3-size")
def gbsn_size():
    for name, sizes, (graph, _) in gbsns():
        yield name, *equal(len(graph), sum(sizes))


@of("GBSN-S2-step4-vacuous")
def literal_shift_links():
    for name, _, (graph, shifts) in gbsns():
        most = max(sum(u in link for link in shifts) for u in graph)
        yield name, most, most <= 2
