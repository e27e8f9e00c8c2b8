"""The papers' networks in plain Python and networkx, written from the papers' definitions.

Nothing of mpinet is used here. A network is a graph of networkx whose nodes are numbers or tuples;
networks of busses are graphs of processors and busses, ("p", ..) and ("b", ..).
"""

from itertools import product
from math import ceil, log2

import networkx as nx


def rotated(word, by, bits):
    """The word rotated to the left by so many positions."""
    by %= bits
    return ((word << by) | (word >> (bits - by))) & ((1 << bits) - 1)


def partial_links(addresses, a, width):
    """Pairs of internal addresses that differ in one subsection of a bits (from the right)."""
    for u, v in product(addresses, repeat=2):
        if (
            u < v < 1 << width
            and len({bit // a for bit in range(width) if (u ^ v) >> bit & 1}) == 1
        ):
            yield u, v


def bsn(a, b, n):
    """BSN(a,b) on n bits: shifts by b both ways; the rightmost b bits in subsections of a."""
    graph = nx.Graph()
    graph.add_nodes_from(range(1 << n))
    for block in range(1 << (n - b)):
        links = partial_links(range(1 << b), a, b)
        graph.add_edges_from((block << b | u, block << b | v) for u, v in links)
    graph.add_edges_from(bsn_shifts(b, n))
    return graph


def bsn_shifts(b, n):
    """The shift links, without loops."""
    return [(u, rotated(u, b, n)) for u in range(1 << n) if b < n and rotated(u, b, n) != u]


def width_of(size):
    """The least number of bits for so many addresses: ceil(lg size)."""
    return ceil(log2(size))


def literal_gbsn(b, sizes, a):
    """The GBSN as its text builds it: partial links within blocks, shifts between valid words."""
    inner = max(map(width_of, sizes))
    bits = inner + width_of(len(sizes))
    words = {block << inner | i: (block, i) for block, m in enumerate(sizes) for i in range(m)}
    graph = nx.Graph()
    graph.add_nodes_from(words)
    for block, m in enumerate(sizes):
        links = partial_links(range(m), a[block], width_of(m))
        graph.add_edges_from((block << inner | u, block << inner | v) for u, v in links)
    shifts = {
        frozenset((u, v))
        for u in words
        for v in (rotated(u, b, bits), rotated(u, bits - b, bits))
        if v in words and u != v
    }
    graph.add_edges_from(map(tuple, shifts))
    return graph, shifts


def hop_types(m):
    """Types of hops by odd positions of a sector of G(m,N): the largest at 1, then every second."""
    count, place, kinds = m // 2, 1, {}
    for kind in range(count - 1, -1, -2):
        kinds[place] = kind
        place += 2
    for kind in range(1 - (count - 1) % 2, count, 2):
        if kind not in kinds.values():
            kinds[place] = kind
            place += 2
    return kinds


def gmn(m, N):
    """G(m,N): a ring, hops of m 2^t by position in the sector, diagonals at position 0."""
    graph = nx.Graph()
    kinds = hop_types(m)
    for u in range(N):
        graph.add_edge(u, (u + 1) % N)
        if u % m == 0:
            graph.add_edge(u, (u + N // 2) % N)
        if u % m in kinds:
            graph.add_edge(u, (u + m * 2 ** kinds[u % m]) % N)
    return graph


def circulant(N, *jumps):
    """Every node is linked with those so many places on."""
    return nx.circulant_graph(N, jumps)


def chordal_ring(N, w):
    """A ring whose odd nodes have a chord to the node w places on."""
    graph = nx.cycle_graph(N)
    graph.add_edges_from((u, (u + w) % N) for u in range(1, N, 2))
    return graph


def factor(name):
    """A ring, complete graph or path by its word: 3, K4, P4."""
    if name[0] == "K":
        return nx.complete_graph(int(name[1:]))
    if name[0] == "P":
        return nx.path_graph(int(name[1:]))
    return nx.complete_graph(2) if name == "2" else nx.cycle_graph(int(name))


def product_of(names):
    """The Cartesian product: nodes are tuples with a coordinate for each factor."""
    factors = [factor(name) for name in names]
    graph = nx.Graph()
    for node in product(*(range(len(one)) for one in factors)):
        graph.add_node(node)
        for j, one in enumerate(factors):
            graph.add_edges_from((node, (*node[:j], v, *node[j + 1 :])) for v in one[node[j]])
    return graph


def hdn(names, levels):
    """HDN(B,k,S): B as factors' words, S as tuples of the factors that make the super-nodes.

    A node of level i is (class, cluster, node of level i-1). Its level-i index splits the node
    below into SN, all but the super-node's coordinates, and N, these coordinates.
    """
    graph = product_of(names)
    for members in levels:

        def split(node, chosen=members):
            above, base = parts(node)
            inner = tuple(base[j] for j in chosen)
            return (*above, *(x for j, x in enumerate(base) if j not in chosen)), inner

        order = {}
        for node in graph:
            order.setdefault(split(node)[0], len(order))
        at = {(order[split(node)[0]], split(node)[1]): node for node in graph}
        above = nx.Graph()
        for side, cluster in product((0, 1), range(len(order))):
            copy = (side, cluster)
            above.add_nodes_from((*copy, node) for node in graph)
            above.add_edges_from(((*copy, u), (*copy, v)) for u, v in graph.edges)
        for cluster, node in product(range(len(order)), list(graph)):
            outer, inner = split(node)
            above.add_edge((0, cluster, node), (1, order[outer], at[cluster, inner]))
        graph = above
    return graph


def parts(node):
    """Digits above the base, and the base's coordinates."""
    digits = []
    while len(node) == 3 and isinstance(node[2], tuple):
        digits += node[:2]
        node = node[2]
    return tuple(digits), node


def lens(p, q, n):
    """The lens by its recursive construction, with q-1 copies of the level below."""
    busses = {("b", i): [("p", b) for b in range(p - 1)] for i in range(q - 1)}
    last = [("p", b) for b in range(p - 1)]
    for level in range(2, n + 1):
        made, new = {}, []
        for copy in range(q - 1):
            made |= {(*bus, copy): [(*one, copy) for one in held] for bus, held in busses.items()}
        for old in last:
            fresh = [("p", level, *old[1:], b) for b in range(p - 1)]
            new += fresh
            for copy in range(q - 1):
                made[("b", level, *old[1:], copy)] = [(*old, copy), *fresh]
        busses, last = made, new
    return nx.Graph((bus, one) for bus, held in busses.items() for one in held)


def by_addresses(p, q, n, completed=False):
    """The lens by its addresses: digits with a dot; a bus with the dot at k holds k and k+1."""
    graph = nx.Graph()
    left, right = range(p - 1), range(q - 1)
    for k in range(n):
        for d in product(*([left] * k + [right] * (n - k))):
            bus = ("b", k, d)
            if k or completed:
                graph.add_edge(bus, ("p", k or n, d))
            for b in left:
                graph.add_edge(bus, ("p", k + 1, (*d[:k], b, *d[k + 1 :])))
    return graph


def processors(graph):
    """Processors of a network of busses."""
    return [node for node in graph if node[0] == "p"]


def lst(m):
    """LST(m): i is joined with i+1 and i+4 modulo 8m."""
    return nx.circulant_graph(8 * m, (1, 4))


def hypercube(n):
    """Q_n on numbers."""
    graph = nx.Graph()
    graph.add_nodes_from(range(1 << n))
    graph.add_edges_from((u, u ^ 1 << i) for u in range(1 << n) for i in range(n))
    return graph


def twisted(n):
    """TQ_n of definition 8: two opposite links of one 4-cycle of Q_n are crossed."""
    graph = hypercube(n)
    graph.remove_edges_from([(0, 1), (2, 3)])
    graph.add_edges_from([(0, 3), (1, 2)])
    return graph


def crossed(n):
    """CQ_n by Efe's recursion: two CQ_(n-1), joined where pairs of bits are pair-related."""
    graph = nx.Graph([(0, 1)])
    related = {0: (0,), 2: (2,), 1: (3,), 3: (1,)}
    for bits in range(2, n + 1):
        top = 1 << (bits - 1)
        graph.update([(u | top, v | top) for u, v in list(graph.edges)])
        for u in range(top):
            v, low = 0, bits - 1
            if low % 2:
                low -= 1
                v |= u & 1 << low
            for i in range(0, low, 2):
                v |= related[u >> i & 3][0] << i
            graph.add_edge(u, v | top)
    return graph


def sth(m, n, kind="tq"):
    """STH(m,n): the Cartesian product of LST(m) and the cube."""
    return nx.cartesian_product(lst(m), {"tq": twisted, "cq": crossed}[kind](n))


def dlh(m, n):
    """DLH(m,n): a ring of 2m nodes, times two, times Q_n."""
    return nx.cartesian_product(
        nx.cartesian_product(nx.cycle_graph(2 * m), nx.path_graph(2)), hypercube(n)
    )


def ccc(n):
    """The cube-connected cycles."""
    graph = nx.Graph()
    for x, c in product(range(1 << n), range(n)):
        graph.add_edge((x, c), (x, (c + 1) % n))
        graph.add_edge((x, c), (x ^ 1 << c, c))
    return graph


def hexcell(depth):
    """The Hex-Cell: rings of 6(2X-1) nodes; a level's outward nodes meet the next one's inward."""
    graph = nx.Graph()
    for level in range(1, depth + 1):
        side = 2 * level - 1
        ring = [(level, i) for i in range(6 * side)]
        nx.add_cycle(graph, ring)
        if level > 1:
            outward = [(level - 1, i) for i in range(6 * (side - 2)) if i % (side - 2) % 2 == 0]
            inward = [node for node in ring if node[1] % side % 2]
            graph.add_edges_from(zip(outward, inward, strict=True))
    return graph
