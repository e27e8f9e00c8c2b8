"""Claims about the lens."""

import networkx as nx
from entry import equal, of
from measures import (
    bus_hops,
    degrees,
    diameter,
)
from wirings import (
    by_addresses,
    hypercube,
    lens,
    processors,
)

UNCOMPLETED = [(p, q, n) for p in range(2, 6) for q in range(2, 6) for n in range(1, 4)]
COMPLETED = [(2, 2), (2, 3), (2, 6), (3, 2), (3, 3), (3, 4), (3, 5), (4, 2), (4, 3), (5, 2)]


def lenses():
    """Lenses by their recursive construction."""
    for p, q, n in UNCOMPLETED:
        yield p, q, n, f"topology=lens:{p},{q},{n}", lens(p, q, n)


def circles():
    """Completed lenses."""
    for p, n in COMPLETED:
        yield p, n, f"topology=clens:{p},{n}", by_addresses(p, p, n, completed=True)


def busses(graph):
    return [node for node in graph if node[0] == "b"]


@of("LENS-S3-N-general")
def lens_processors():
    for p, q, n, name, graph in lenses():
        claimed = sum((p - 1) ** k * (q - 1) ** (n - k) for k in range(1, n + 1))
        yield name, *equal(len(processors(graph)), claimed)


@of("LENS-S3-M-general")
def lens_busses():
    for p, q, n, name, graph in lenses():
        claimed = sum((p - 1) ** k * (q - 1) ** (n - k) for k in range(n))
        yield name, *equal(len(busses(graph)), claimed)


@of("LENS-S3-deficient")
def lens_lacking():
    for p, q, n, name, graph in lenses():
        found = {
            "processors": sum(graph.degree[one] < q for one in processors(graph)),
            "busses": sum(graph.degree[bus] < p for bus in busses(graph)),
        }
        found["as many"] = found["processors"] == found["busses"] if p == q else "not said"
        right = found["processors"] == (p - 1) ** n and found["busses"] == (q - 1) ** n
        yield name, found, right and found["as many"] is not False


@of("LENS-F1-sizes")
def figure_1_of_lens():
    for n, size in enumerate((2, 8, 24), start=1):
        graph = lens(3, 3, n)
        found = [len(processors(graph)), len(busses(graph))]
        yield f"topology=lens:3,3,{n}", *equal(found, [size, size])


@of("LENS-S3-N-equal-pq", "LENS-S8-sizes")
def completed_processors():
    for p, n, name, graph in circles():
        yield name, *equal(len(processors(graph)), n * (p - 1) ** n)


@of("LENS-S3-bus-per-processor")
def bus_each():
    for _, _, name, graph in circles():
        yield name, *equal(len(processors(graph)) - len(busses(graph)), 0)


@of("LENS-S3-completed-degrees", "LENS-S8-degrees")
def completed_degrees():
    for p, _, name, graph in circles():
        found = {
            "busses of a processor": sorted({graph.degree[one] for one in processors(graph)}),
            "processors of a bus": sorted({graph.degree[bus] for bus in busses(graph)}),
        }
        yield name, found, all(value == [p] for value in found.values())


@of("LENS-F1-completion-edges")
def completion():
    before, after = by_addresses(3, 3, 3), by_addresses(3, 3, 3, completed=True)
    same = set(map(frozenset, before.edges)), set(map(frozenset, after.edges))
    found = {"added": len(same[1] - same[0]), "removed": len(same[0] - same[1])}
    yield "topology=clens:3,3", *equal(found, {"added": 8, "removed": 0})


@of("LENS-S8-diameter-completed")
def completed_diameter():
    for p, n, name, graph in circles():
        if p >= 3:
            yield name, *equal(bus_hops(graph), 3 * n // 2)


@of("LENS-S8-diameter-lens")
def lens_diameter():
    for p, _, n, name, graph in lenses():
        if p >= 3:
            yield name, *equal(bus_hops(graph), 2 * n)


@of("LENS-S8-survives-one-failure")
def survives():
    for _, _, name, graph in circles():
        if len(graph) <= 200:
            yield name, *equal(not list(nx.articulation_points(graph)), True)


@of("LENS-S1-hypercube")
def hypercube_of_lens():
    for n in range(1, 9):
        graph = hypercube(n)
        found = {"processors": len(graph), "diameter": diameter(graph, [0]),
                 "degrees": degrees(graph)}  # fmt: skip
        claimed = {"processors": 2**n, "diameter": n, "degrees": [n]}
        yield f"topology=hypercube:{n}", *equal(found, claimed)


@of("LENS-F2-B-saving")
def figure_2_of_lens():
    """From 021.0212012 to 0110010.212, over busses that follow from the addresses alone."""
    start, goal = (3, (0, 2, 1, 0, 2, 1, 2, 0, 1, 2)), (7, (0, 1, 1, 0, 0, 1, 0, 2, 1, 2))
    yield "", *equal(_meet(start, goal, 10, 3), 9)


def _near(node, n, radix):
    """Processors on a bus with this one: the dot moves over a digit, or the digit changes."""
    k, d = node
    for b in range(radix):
        yield k % n + 1, (*d[: k % n], b, *d[k % n + 1 :])
        yield (k - 1) or n, (*d[: k - 1], b, *d[k:])
        if b != d[k - 1]:
            yield k, (*d[: k - 1], b, *d[k:])


def _meet(start, goal, n, radix):
    """The distance, by search from both ends."""
    ends = [{start: 0}, {goal: 0}]
    fronts = [[start], [goal]]
    for hops in range(1, 2 * n):
        side = hops % 2
        reached = []
        for node in fronts[side]:
            for other in _near(node, n, radix):
                if other not in ends[side]:
                    ends[side][other] = ends[side][node] + 1
                    reached.append(other)
        fronts[side] = reached
        met = [
            ends[side][node] + ends[1 - side][node] for node in reached if node in ends[1 - side]
        ]
        if met:
            return min(met)
    return None
