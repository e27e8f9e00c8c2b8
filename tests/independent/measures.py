"""Measures of graphs, by breadth-first search in plain Python."""

import networkx as nx


def hops_from(graph, source):
    """Distances from a node, by node."""
    found, front = {source: 0}, [source]
    while front:
        reached = []
        for u in front:
            for v in graph[u]:
                if v not in found:
                    found[v] = found[u] + 1
                    reached.append(v)
        front = reached
    return found


def diameter(graph, sources=None):
    """The largest distance from any of the sources (default: all nodes)."""
    return max(max(hops_from(graph, u).values()) for u in sources or graph)


def bus_hops(graph, sources=None):
    """The largest distance of processors in busses: half of that in the graph of both."""
    every = [node for node in graph if node[0] == "p"]
    found = 0
    for u in sources or every:
        hops = hops_from(graph, u)
        found = max(found, max(hops[v] for v in every) // 2)
    return found


def mean_with_self(graph):
    """Mean distance over all ordered pairs, a node and itself among them."""
    return sum(sum(hops_from(graph, u).values()) for u in graph) / len(graph) ** 2


def mean_of_pairs(graph, source):
    """Mean distance from a node that stands for all, to the others."""
    return sum(hops_from(graph, source).values()) / (len(graph) - 1)


def degrees(graph):
    """The different degrees, ascending."""
    return sorted({degree for _, degree in graph.degree})


def counts(graph, node):
    """Number of nodes at each distance."""
    hops = list(hops_from(graph, node).values())
    return [hops.count(far) for far in range(max(hops) + 1)]


def looks_alike(graph):
    """Tell if all nodes have the same number of nodes at each distance."""
    first = counts(graph, next(iter(graph)))
    return all(counts(graph, node) == first for node in graph)


def width(graph):
    """The fewest links between two halves, by trying all halves."""
    from itertools import combinations

    nodes = list(graph)
    first, others = nodes[0], nodes[1:]
    return min(
        nx.cut_size(graph, {first, *chosen}) for chosen in combinations(others, len(nodes) // 2 - 1)
    )
