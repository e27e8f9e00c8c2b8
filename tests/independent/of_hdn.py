"""Claims about hierarchical dual-nets."""

from itertools import combinations, product
from math import log2, prod

from entry import CLAIMS, equal, of
from measures import (
    degrees,
    diameter,
    looks_alike,
)
from wirings import (
    ccc,
    hdn,
    hypercube,
    product_of,
)


def named_hdns():
    """Small HDNs over products: name, factors, levels, graph."""
    bases = {"2": ["2"], "3": ["3"], "K4": ["K4"], "2x2": ["2", "2"], "2x3": ["2", "3"]}
    for text, names in bases.items():
        subsets = [c for r in range(len(names) + 1) for c in combinations(range(len(names)), r)]
        for k in (1, 2):
            for levels in product(subsets, repeat=k):
                size = hdn_size(names, levels)
                if size <= 700 and (k == 1 or len(names) > 1):
                    words = "/".join(".".join(map(str, one)) or "-" for one in levels)
                    yield f"topology=hdn:{text},super={words}", names, levels, hdn(names, levels)


def size_of_factor(name):
    return int(name.lstrip("KP"))


def super_size(names, members):
    return prod(size_of_factor(names[j]) for j in members)


def hdn_size(names, levels):
    """Theorem 1: (2 N_0)^(2^k) / (2 s_1^(2^(k-1)) .. s_k), by the recurrence N_i = 2 N^2 / s_i."""
    size = prod(map(size_of_factor, names))
    for members in levels:
        size = 2 * size * size // super_size(names, members)
    return size


def printed_size(names, levels):
    """Theorem 1 as it is printed: (2 N_0)^(2^k) / (2 s_1 .. s_k)."""
    k, base = len(levels), prod(map(size_of_factor, names))
    return (2 * base) ** 2**k / (2 * prod(super_size(names, members) for members in levels))


@of("HDN-Th1-nodes")
def theorem_1_nodes():
    for name, names, levels, graph in named_hdns():
        yield name, *equal(len(graph), printed_size(names, levels))


@of("HDN-S3-recurrence-N")
def recurrence():
    for name, names, levels, graph in named_hdns():
        yield name, *equal(len(graph), hdn_size(names, levels))


@of("HDN-Th1-degree")
def theorem_1_degree():
    for name, names, levels, graph in named_hdns():
        base = degrees(product_of(names))[-1]
        found = degrees(graph)
        yield name, found[-1], found == [base + len(levels)]


def theorem_1(names, levels):
    """2^k D(B) - sum of 2^j D(SN^(k-j)) + 2^(k+1) - 2."""
    k = len(levels)
    inner = [diameter(product_of([names[j] for j in one])) if one else 0 for one in levels]
    base = diameter(product_of(names))
    return 2**k * base - sum(2**j * inner[k - 1 - j] for j in range(k)) + 2 ** (k + 1) - 2


@of("HDN-Th1-diameter")
def theorem_1_diameter():
    for name, names, levels, graph in named_hdns():
        yield name, *equal(diameter(graph), theorem_1(names, levels))


@of("HDN-S1-symmetric")
def node_symmetric():
    for name, _, _, graph in named_hdns():
        if len(graph) <= 130:
            yield name, *equal(looks_alike(graph), True)


@of("HDN-S2-supernode-sizes")
def super_node_sizes():
    sizes = {prod(c) for r in range(4) for c in combinations((2, 3, 5), r)}
    yield "", *equal(sorted(sizes), [1, 2, 3, 5, 6, 10, 15, 30])


OVER_235 = {"-": (1, 1800, 10, 0.79), "0": (2, 900, 9, 0.82), "1": (3, 600, 9, 0.87)}


@of("HDN-Tab1-k1")
def table_1_of_hdn():
    subsets = [c for r in range(4) for c in combinations(range(3), r)]
    sizes = {super_size("235", c): len(hdn([*"235"], [c])) for c in subsets}
    found = {str(size): sizes[size] for size in sorted(sizes)}
    claimed = {str(size): 1800 // size for size in sorted(sizes)}
    yield "", found, found == claimed


def table_3(word):
    """A row over the 2x3x5 torus; all nodes of a base copy stand for the others."""
    _, n, D, ratio = OVER_235[word]
    graph = hdn([*"235"], [tuple(int(c) for c in word if c != "-")])
    sources = [node for node in graph if node[:2] == (0, 0)]
    far = diameter(graph, sources)
    found = {"n": len(graph), "D": far, "CR": round((7 + far) / 2 / log2(len(graph)), 2)}
    yield f"topology=hdn:2x3x5,super={word}", *equal(found, {"n": n, "D": D, "CR": ratio})


for _word, (_size, *_) in OVER_235.items():
    CLAIMS[f"HDN-Tab3-1-{_size}"] = lambda word=_word: table_3(word)


def row_of(graph, sources=None):
    return {"n": len(graph), "d": degrees(graph)[-1], "D": diameter(graph, sources)}


@of("HDN-Tab2-cube")
def cube_row():
    for n in range(1, 10):
        yield f"topology=hypercube:{n}", *equal(row_of(hypercube(n), [0]), dict(n=2**n, d=n, D=n))


@of("HDN-Tab2-ccc")
def ccc_row():
    for n in range(3, 8):
        found = row_of(ccc(n), [(0, 0)])
        yield f"topology=ccc:{n}", *equal(found, {"n": n * 2**n, "d": 3, "D": 2 * n})


@of("HDN-Tab2-torus3d")
def torus_row():
    for sides in product(range(2, 5), repeat=3):
        graph = product_of([str(side) for side in sides])
        claimed = {"n": prod(sides), "d": 6, "D": sum(sides) / 2}
        found = row_of(graph, [(0, 0, 0)])
        found["d"] += sides.count(2)  # both links of a side of two nodes lead to one node
        yield f"topology=torus:{'x'.join(map(str, sides))}", *equal(found, claimed)


@of("HDN-Tab2-dualcube")
def dual_cube_row():
    for n in range(2, 6):
        graph = hdn(["2"] * (n - 1), [()])
        claimed = {"n": 2 ** (2 * n - 1), "d": n, "D": 2 * n}
        yield f"topology=dualcube:{n}", *equal(row_of(graph), claimed)


@of("HDN-Tab3-cube10")
def ten_cube():
    found = row_of(hypercube(10), [0])
    found["CR"] = round((found["d"] + found["D"]) / 2 / log2(found["n"]), 2)
    yield "topology=hypercube:10", *equal(found, {"n": 1024, "d": 10, "D": 10, "CR": 1.0})


@of("HDN-Tab3-tori10")
def torus_of_1000():
    found = row_of(product_of(["10"] * 3), [(0, 0, 0)])
    found["CR"] = round((found["d"] + found["D"]) / 2 / log2(found["n"]), 2)
    yield "topology=torus:10x10x10", *equal(found, {"n": 1000, "d": 6, "D": 15, "CR": 1.05})
