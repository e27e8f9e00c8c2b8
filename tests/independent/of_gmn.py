"""Claims about G(m,N) and the networks beside it."""

from itertools import product
from math import sqrt

import networkx as nx
from entry import CLAIMS, equal, of
from measures import (
    degrees,
    diameter,
)
from wirings import (
    chordal_ring,
    circulant,
    gmn,
    hop_types,
)

MULTIPLE_LOOPS = [
    (3, 12), (4, 16), (4, 24), (4, 32), (5, 40), (6, 48), (6, 60), (6, 72), (6, 84), (6, 96),
    (7, 112), (8, 128), (8, 256),
]  # fmt: skip


def loops(limit=256):
    """G(m,N): m, N, name and graph."""
    for m, N in MULTIPLE_LOOPS:
        if limit >= N:
            yield m, N, f"topology=gmn:{m},{N}", gmn(m, N)


@of("GMN-S-degset")
def loop_degrees():
    for _, _, name, graph in loops():
        yield name, *equal(degrees(graph), [2, 3, 4])


@of("GMN-S-avgdeg-even")
def even_degree():
    for m, N, name, graph in loops():
        if m % 2 == 0:
            found = 2 * graph.number_of_edges() / N
            yield name, found, abs(found - (3 + 1 / m)) < 1e-12


@of("GMN-S-avgdeg-odd")
def odd_degree():
    for m, N, name, graph in loops():
        if m % 2:
            yield name, *equal(2 * graph.number_of_edges() / N, 3.0)


@of("GMN-S-avgdeg-max")
def largest_mean_degree():
    for _, N, name, graph in loops():
        found = 2 * graph.number_of_edges() / N
        yield name, found, found <= 3.25


@of("GMN-S-links-dl")
def fewer_than_double_loop():
    for _, N, name, graph in loops():
        links = graph.number_of_edges()
        yield name, links, links < 2 * N


@of("GMN-S-links-ch")
def half_of_chordal_ring():
    for _, N, name, graph in loops():
        links = graph.number_of_edges()
        yield name, links, links <= 1.5 * N / 2


@of("GMN-C-links-ch")
def beside_chordal_ring():
    for _, N, name, graph in loops():
        links = graph.number_of_edges()
        yield name, links, links <= 13 / 12 * 1.5 * N


@of("GMN-S-rot")
def sectors_alike():
    for m, N, name, graph in loops():
        same = all(graph.has_edge((u + m) % N, (v + m) % N) for u, v in graph.edges)
        yield name, *equal(same, True)


@of("GMN-S-ham")
def ring_within():
    for _, N, name, graph in loops():
        yield name, *equal(all(graph.has_edge(u, (u + 1) % N) for u in range(N)), True)


@of("GMN-F1a")
def hops_of_8():
    for N in range(128, 257, 16):
        yield f"topology=gmn:8,{N}", *equal([*hop_types(8).values()], [3, 1, 0, 2])


@of("GMN-F2")
def figure_2():
    graph = gmn(5, 40)
    drawn = {f"{u}-{v}": graph.has_edge(u, v) for u, v in
             ((0, 20), (1, 11), (1, 31), (3, 8), (3, 38))}  # fmt: skip
    found = {"links": graph.number_of_edges(), **drawn}
    yield "", found, found["links"] == 60 and all(drawn.values())


@of("GMN-S-ringdiam")
def ring_diameter():
    for N in range(3, 60):
        yield f"N={N}", *equal(diameter(nx.cycle_graph(N), [0]), N // 2)


@of("GMN-T1-mod")
def diameter_by_residue():
    for m, _, name, graph in loops():
        found = diameter(graph, range(m))
        yield name, found, found <= 11 * m // 8 + (m % 8 in (2, 4, 5))


@of("GMN-T1-abs")
def diameter_of_abstract():
    for m, _, name, graph in loops():
        found = diameter(graph, range(m))
        yield name, found, found <= 11 * m // 8 + 1


def best_chord(N):
    return min(diameter(chordal_ring(N, w), (0, 1)) for w in range(3, N // 2 + 1, 2))


def best_jump(N):
    return min(diameter(circulant(N, 1, s), (0,)) for s in range(2, (N - 1) // 2 + 1))


@of("GMN-I-dlbound")
def double_loop_bound():
    for N in range(5, 60):
        found = best_jump(N)
        yield f"N={N}", found, found >= (sqrt(2 * N - 1) - 1) / 2


@of("GMN-I-chsqrt")
def chordal_ring_bound():
    for N in range(6, 61, 2):
        found = best_chord(N) / sqrt(N)
        yield f"N={N}", found, found <= 2


@of("GMN-I-superior")
def better_than_both():
    for m, N, name, graph in loops(128):
        found = diameter(graph, range(m)) < min(best_chord(N), best_jump(N))
        yield name, found, found


@of("GMN-FT-bicon")
def biconnected():
    for _, _, name, graph in loops():
        yield name, *equal(nx.is_biconnected(graph), True)


LEAST_CHORDAL, LEAST_DOUBLE = {96: 9, 256: 15}, {96: 7, 256: 11}
SECTORS, MOST = {96: 6, 256: 8}, {96: 8, 256: 11}


def table_1(N):
    """The row of table 1: how each cell ends, its heading, the value, whether it holds."""
    ring, loop, graph = chordal_ring(N, 5), circulant(N, 1, 2), gmn(SECTORS[N], N)
    chord, jump = best_chord(N), best_jump(N)
    own, far = graph.number_of_edges(), diameter(graph, range(SECTORS[N]))
    stated = {96: 152, 256: 400}[N]
    yield "ch-links", "chordal ring: links", *equal(ring.number_of_edges(), 3 * N // 2)
    yield "ch-diam", "chordal ring: diameter", chord, chord >= LEAST_CHORDAL[N]
    yield "dl-links", "double loop: links", *equal(loop.number_of_edges(), 2 * N)
    yield "dl-diam", "double loop: diameter", jump, jump >= LEAST_DOUBLE[N]
    yield "links", "G(m,N): links", *equal(own, stated)
    yield "diam", "G(m,N): diameter", far, far <= MOST[N]


def enter_table_1():
    """A claim for each cell; a row is measured once."""
    rows = {}

    def cell(N, wanted):
        if N not in rows:
            rows[N] = list(table_1(N))
        for ending, heading, found, holds in rows[N]:
            if ending == wanted:
                yield "", {heading: found}, holds

    for N, ending in product((96, 256), ("ch-links", "ch-diam", "dl-links", "dl-diam", "links",
                                         "diam")):  # fmt: skip
        CLAIMS[f"GMN-TB1-{N}-{ending}"] = lambda N=N, ending=ending: cell(N, ending)


enter_table_1()
