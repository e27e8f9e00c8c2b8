"""Claims about STH and its parts."""

from math import ceil

from entry import CLAIMS, equal, of
from measures import (
    degrees,
    diameter,
    mean_of_pairs,
    width,
)
from wirings import (
    ccc,
    crossed,
    dlh,
    hexcell,
    hypercube,
    lst,
    sth,
    twisted,
)


@of("STH-S3-lst-size")
def lst_size():
    for m in range(2, 65):
        yield f"topology=lst:{m}", *equal(len(lst(m)), 8 * m)


@of("STH-S3-lst-degree")
def lst_degree():
    for m in range(2, 65):
        graph = lst(m)
        found = {"degree": degrees(graph)[-1], "links": graph.number_of_edges()}
        yield f"topology=lst:{m}", found, degrees(graph) == [4] and found["links"] == 16 * m


@of("STH-L3-lst-diameter")
def lst_diameter():
    for m in range(2, 65):
        yield f"topology=lst:{m}", *equal(diameter(lst(m), [0]), m + 1)


@of("STH-L3-lst-examples")
def lst_examples():
    found = {f"LST({m})": diameter(lst(m)) for m in (2, 3, 4)}
    yield "", *equal(found, {"LST(2)": 3, "LST(3)": 4, "LST(4)": 5})


@of("STH-F1-lst3")
def figure_1_of_sth():
    graph = lst(3)
    found = {"nodes": len(graph), "links": graph.number_of_edges()}
    yield "", *equal(found, {"nodes": 24, "links": 48})


@of("STH-F2-sth23")
def figure_2_of_sth():
    graph = sth(2, 3)
    found = {"nodes": len(graph), "degree": degrees(graph)[-1], "links": graph.number_of_edges()}
    yield "", *equal(found, {"nodes": 128, "degree": 7, "links": 448})


@of("STH-D7-hypercube")
def definition_7():
    for n in range(1, 10):
        graph = hypercube(n)
        found = {"nodes": len(graph), "degree": degrees(graph)[-1],
                 "links": graph.number_of_edges(), "diameter": diameter(graph, [0])}  # fmt: skip
        claimed = {"nodes": 2**n, "degree": n, "links": n * 2 ** (n - 1), "diameter": n}
        yield f"topology=hypercube:{n}", *equal(found, claimed)


@of("STH-I-growth")
def growth():
    found = {f"Q_{n}": len(hypercube(n)) for n in (9, 10)}
    yield "", *equal(found, {"Q_9": 512, "Q_10": 1024})


@of("STH-D8-degree")
def twisted_degree():
    for n in range(2, 11):
        graph = twisted(n)
        found = {"nodes": len(graph), "degree": degrees(graph)[-1]}
        yield f"topology=tq:{n}", *equal(found, {"nodes": 2**n, "degree": n})


@of("STH-D8-diameter")
def twisted_diameter():
    for n in range(3, 9):
        yield f"topology=tq:{n}", *equal(diameter(twisted(n)), n - 1)


@of("STH-D8-diameter-n2")
def smallest_twisted_diameter():
    yield "topology=tq:2", *equal(diameter(twisted(2)), 1)


@of("STH-L3-tq-diameter-tq")
def lemma_3_twisted():
    for n in range(2, 9):
        yield f"topology=tq:{n}", *equal(diameter(twisted(n)), ceil((n + 1) / 2))


@of("STH-L3-tq-diameter-cq")
def lemma_3_crossed():
    for n in range(1, 9):
        yield f"topology=cq:{n}", *equal(diameter(crossed(n)), ceil((n + 1) / 2))


def products(kind, ns):
    """STH(m,n) of one kind of cube; columns of LST are alike, so that those of 0 stand for all."""
    ending = "" if kind == "tq" else f",{kind}"
    for n in ns:
        for m in (2, 3, 4):
            graph = sth(m, n, kind)
            yield m, n, f"topology=sth:{m},{n}{ending}", graph


@of("STH-L3-sth-diameter-tq")
def lemma_3_with_twisted():
    for m, n, name, graph in products("tq", range(2, 6)):
        far = diameter(graph, [node for node in graph if node[0] == 0])
        yield name, *equal(far, m + 1 + ceil((n + 1) / 2))


@of("STH-L3-sth-diameter-cq")
def lemma_3_with_crossed():
    for m, n, name, graph in products("cq", range(1, 5)):
        far = diameter(graph, [node for node in graph if node[0] == 0])
        yield name, *equal(far, m + 1 + ceil((n + 1) / 2))


@of("STH-L1-nodes")
def lemma_1():
    for m, n, name, graph in (*products("cq", range(1, 5)), *products("tq", range(2, 5))):
        if m in (2, 3):
            yield name, *equal(len(graph), m * 2 ** (n + 3))


@of("STH-L2-degree")
def lemma_2():
    for m, n, name, graph in (*products("cq", range(1, 5)), *products("tq", range(2, 5))):
        if m in (2, 3):
            found = degrees(graph)
            yield name, found[-1], found == [n + 4]


@of("STH-L4-regular")
def lemma_4():
    for m, _, name, graph in (*products("cq", range(1, 5)), *products("tq", range(2, 5))):
        if m in (2, 3):
            yield name, *equal(len(degrees(graph)) == 1, True)


@of("STH-I-ccc")
def ccc_sizes():
    for n in range(3, 9):
        graph = ccc(n)
        found = {"nodes": len(graph), "degree": degrees(graph)[-1]}
        yield f"topology=ccc:{n}", *equal(found, {"nodes": n * 2**n, "degree": 3})


@of("STH-I-hx-diameter")
def hexcell_diameter():
    for depth in range(1, 6):
        yield f"topology=hexcell:{depth}", *equal(diameter(hexcell(depth)), 4 * depth - 1)


@of("STH-I-hx-degree")
def hexcell_degree():
    for depth in range(1, 9):
        most = degrees(hexcell(depth))[-1]
        yield f"topology=hexcell:{depth}", most, most <= 3


@of("STH-T1-m2")
def lst_2_width():
    found = {"N": 16, "width": width(lst(2))}
    yield "", *equal(found, {"N": 16, "width": 20})


PRINTED_AVERAGES = {"hc": (5.004888, 5.502687), "dlh": (3.489320, 3.485549)}
TOLERANCE = 1e-6


@of("STH-T7-avg-hc")
def hypercube_average():
    for n, printed in zip((10, 11), PRINTED_AVERAGES["hc"], strict=True):
        mean = mean_of_pairs(hypercube(n), 0)
        yield f"topology=hypercube:{n}", mean, abs(mean - printed) <= TOLERANCE


@of("STH-T7-avg-dlh")
def dlh_average():
    for m, printed in zip((2, 4), PRINTED_AVERAGES["dlh"], strict=True):
        mean = mean_of_pairs(dlh(m, 7), ((0, 0), 0))
        yield f"topology=dlh:{m},7", mean, abs(mean - printed) <= TOLERANCE


def available(sizes, psi):
    """Number of sizes A up to 50000 that have an offered size B with 100 |A-B| / A < psi."""
    found, offered = 0, sorted(sizes)
    at = 0
    for wanted in range(1, 50001):
        while at + 1 < len(offered) and abs(offered[at + 1] - wanted) <= abs(offered[at] - wanted):
            at += 1
        found += 100 * abs(offered[at] - wanted) < psi * wanted
    return found


def of_products(first, base):
    """Sizes m 2^(n + base), m from 2 on, n from the first on, up to 60000."""
    return {m << (n + base) for n in range(first, 20) for m in range(2, (60000 >> (n + base)) + 1)}


def table_8(psi, name, sizes, printed):
    """A cell of table 8."""
    count = available(sizes, psi)
    found = {f"{name} sizes": count, f"{name} %": round(count / 500, 2)}
    yield "", found, count == printed[0] and abs(found[f"{name} %"] - printed[1]) <= 0.0099


CELLS_8 = {
    "STH-T8-2-dlh": (2, "DLH", lambda: of_products(1, 2), (49898, 99.79)),
    "STH-T8-20-sth-link": (20, "STH", lambda: of_products(1, 3), (49973, 99.94)),
    "STH-T8-10-tq-def8": (
        10, "TQ by definition 8", lambda: {2**n for n in range(2, 17)}, (13239, 26.47)),
    "STH-T8-5-hx": (5, "HX", lambda: {6 * d * d for d in range(1, 100)}, (49939, 99.87)),
}  # fmt: skip

for _id, (_psi, _name, _sizes, _printed) in CELLS_8.items():
    CLAIMS[_id] = lambda p=_psi, n=_name, s=_sizes, c=_printed: table_8(p, n, s(), c)
