"""The construction of RDN and HDN (Section 2): dual-construction, products, clusters."""

from __future__ import annotations

import numpy as np

from mpinet import measure
from mpinet.claims import Measured, claim, once, over, points
from mpinet.networks import open as open_topology
from mpinet.papers.hdn import built, measured
from mpinet.papers.hdn.grids import (
    R1,
    TORUS,
    Net,
    listed,
    members_text,
    net,
    nodes_of,
    read_base,
    size_of,
    sub_products,
)
from mpinet.papers.measured import alike
from mpinet.papers.sweeps import reached

DUAL_BASES = ("2", "3", "4", "5", "K4", "2x3", TORUS)

dual_size = claim(
    "HDN-S2-dual-size",
    claimed=lambda topology: {
        "clusters": 2 * net(topology).nodes(0),
        "nodes": 2 * net(topology).nodes(0) ** 2,
        "degree": net(topology).degree + 1,
    },
    grid=points(
        "G = K2, C3, C4, C5, K4, K2xC3, C2xC3xC5", listed([f"rdn:{b},1" for b in DUAL_BASES])
    ),
    measured=lambda topology: measured.counts(topology, "clusters", "nodes", "degree"),
)


@claim(
    "HDN-S2-dual-unique",
    relation="iso",
    grid=over(
        "G = C5, K2xC3, C6, P4, five random numberings each",
        topology=("hdn:P4", "hdn:5", "hdn:2x3", "hdn:6"),
        numbering=range(5),
    ),
)
def dual_unique(topology: str, numbering: int) -> Measured:
    """Return whether the dual-constructions by own and by random numbers are isomorphic."""
    network = open_topology(topology)
    number = np.random.default_rng(numbering).permutation(network.size)
    links = built.dual_construction(measure.edges(network), network.size, number.tolist())
    other = built.as_network(links, f"dual {topology} {numbering}")
    return Measured(
        measure.isomorphic(built.dual_of(topology), other), {"numbers": number.tolist()}
    )


dual_symmetric = claim(
    "HDN-S2-dual-symmetric",
    relation="all",
    grid=points(
        "RDN(B,1) and RDN(B,2), B = K2, C3, C4, C5, K4, K2^2, N <= 2100",
        listed(
            [
                name
                for base in ("2", "3", "4", "5", "K4", "2x2")
                for name in (f"rdn:{base},1", f"rdn:{base},2")
                if size_of(name) <= 2100
            ]
        ),
    ),
    cost=nodes_of,
    measured=alike,
)


@claim(
    "HDN-S2-rdn-size",
    claimed=lambda m, k: (2 * m) ** (2**k) // 2,
    grid=points(
        "m = 2..8, k = 0..3; base ring C_m, K2 and for m = 8 the 3-cube",
        sorted(
            ({"m": m, "k": k} for m in range(2, 9) for k in range(4)),
            key=lambda p: (2 * p["m"]) ** (2 ** p["k"]),
        ),
    ).quick(lambda m, k: (2 * m) ** (2**k) < 10**6),
    cost=lambda m, k: min((2 * m) ** (2**k), MOST_COUNTED) / 3000,
)
def rdn_size(m: int, k: int) -> int:
    """Return the number of nodes that node 0 reaches."""
    base = "2x2x2" if m == 8 else str(m)
    # With k = 3, networks have up to 2 * 10^9 nodes, too many to mark in memory.
    if open_topology(f"rdn:{base},{k}").size > MOST_COUNTED:
        return counted_by_clusters(base, k)
    return reached(f"rdn:{base},{k}")


MOST_COUNTED = 10**7
"""Largest number of nodes of a network that is counted node by node."""


def counted_by_clusters(base: str, k: int) -> int:
    """Return the nodes of one cluster times the number of clusters, found along cross-edges.

    The cross-edges of a cluster lead to all clusters of the other class. The cross-edges of one of
    these lead to all clusters of the first class.
    """
    network = measured.dual_net(f"rdn:{base},{k}")
    inside = reached(f"rdn:{base},{k - 1}")
    first = np.arange(inside)
    port = measured.cross_port(network, k, k)
    others = network.neighbor(first, port) // inside
    second = int(others.min()) * inside + np.arange(inside)
    own = network.neighbor(second, port) // inside
    return (len(np.unique(others)) + len(np.unique(own))) * inside


@claim(
    "HDN-S2-rdn-special",
    relation="all",
    grid=points(
        "B = K2, C5, K2xC3, k = 1, 2",
        listed([Net(read_base(b), ((),) * k).name for b in ("2", "5", "2x3") for k in (1, 2)]),
    ),
    cost=nodes_of,
)
def rdn_special(topology: str) -> bool:
    """Build the network and compare all links, also with the network named RDN."""
    found = net(topology)
    base = Net(found.base, ())
    links, size = measure.edges(base.name), base.nodes(0)
    for _ in range(found.k):
        # Built from the definition as a stored graph, because the emulator's rules are compared
        # with it.
        links, size = built.dual_construction(links, size), 2 * size**2
    links = links[np.lexsort((links[:, 1], links[:, 0]))]
    rdn = f"rdn:{base.name.removeprefix('hdn:')},{found.k}"
    return all(np.array_equal(measure.edges(name), links) for name in (topology, rdn))


GRIDS = {f"torus:{p}x{q}": f"hdn:{p}x{q}" for p in range(3, 7) for q in range(3, 7)}
CUBES = {f"hypercube:{r}": f"hdn:{'x'.join(['2'] * r)}" for r in range(1, 7)}


@claim(
    "HDN-S2-product-torus",
    relation="all",
    grid=points("p, q = 3..6; r = 1..6", [{"topology": name} for name in [*CUBES, *GRIDS]]),
)
def product_torus(topology: str) -> bool:
    """Return whether the network has the links of the torus or cube with equal node numbers."""
    product = (CUBES | GRIDS)[topology]
    return np.array_equal(measure.edges(topology), measure.edges(product))


PRODUCTS = {"hdn:2xK4": ("2", "K4"), "hdn:P3xP4": ("P3", "P4"), "hdn:3x5": ("3", "5")}
SIZES = {"2": 2, "K4": 4, "P3": 3, "P4": 4, "3": 3, "5": 5}

product_copies = claim(
    "HDN-S2-product-copies",
    claimed=lambda topology: {
        "copies of G1": SIZES[PRODUCTS[topology][1]],
        "copies of G2": SIZES[PRODUCTS[topology][0]],
    },
    grid=points("K2xK4, P3xP4, C3xC5", [{"topology": name} for name in PRODUCTS]),
    measured=lambda topology: {f"copies of G{j + 1}": copies_of(topology, j) for j in (0, 1)},
)


def copies_of(topology: str, factor: int) -> int:
    """Return the number of components without the other factor's links, isomorphic to a factor."""
    network = open_topology(topology)
    address = [network.address(node).split(",") for node in range(network.size)]
    others = [
        (u, v)
        for u, v in measure.edges(network).tolist()
        if address[u][factor] == address[v][factor]
    ]
    left = measure.without(network, links=others)
    alone = f"hdn:{PRODUCTS[topology][factor]}"
    return sum(
        measure.isomorphic(measure.part(left, piece), alone) for piece in measure.components(left)
    )


product_symmetric = claim(
    "HDN-S2-product-symmetric",
    claimed=lambda topology: not topology.startswith("mesh"),
    grid=points(
        "C3xC5, K2^3, K2xC3xC5; mesh 3x4",
        [{"topology": name} for name in ("hdn:2x2x2", "mesh:3x4", "hdn:3x5", "hdn:2x3x5")],
    ),
    measured=lambda topology: bool(alike(topology).value),
)


@claim(
    "HDN-S2-supernode-sizes",
    claimed=(1, 2, 3, 5, 6, 10, 15, 30),
    grid=once("all S of HDN(C2xC3xC5,1,S)"),
)
def supernode_sizes() -> list[object]:
    """Return the number of cross-edges between two clusters, for all super-nodes."""
    names = [f"hdn:{TORUS},super={members_text(members)}" for members in sub_products(TORUS)]
    return sorted(measured.dissection(name)["links of joined super-nodes"] for name in names)


clusters = claim(
    "HDN-S2-clusters",
    claimed=lambda topology: {
        "clusters": 2 * net(topology).n(net(topology).k),
        "of a class": net(topology).n(net(topology).k),
        "super-nodes of a cluster": net(topology).n(net(topology).k),
        "nodes of a cluster": net(topology).lower.nodes(net(topology).k - 1),
    },
    grid=R1,
    cost=nodes_of,
    measured=lambda topology: measured.counts(
        topology, "clusters", "of a class", "super-nodes of a cluster", "nodes of a cluster"
    ),
)


@claim(
    "HDN-S2-cross-count",
    claimed=lambda topology: {
        "links of a node": 1,
        "links of joined super-nodes": net(topology).s(net(topology).k),
        "pairs of super-nodes that join two clusters": 1,
        "other clusters not joined": 0,
    },
    grid=R1,
    cost=nodes_of,
)
def cross_count(topology: str) -> dict[str, object]:
    """Return the cross-edges of a node, and of pairs of super-nodes and clusters."""
    own, lower = measured.degree(topology), measured.degree(net(topology).lower.name)
    return {
        "links of a node": own - lower if isinstance(own, int) and isinstance(lower, int) else own,
        **measured.counts(
            topology,
            "links of joined super-nodes",
            "pairs of super-nodes that join two clusters",
            "other clusters not joined",
        ),
    }


no_intra_class = claim(
    "HDN-S2-no-intra-class",
    claimed=0,
    grid=R1,
    cost=nodes_of,
    measured=lambda topology: measured.dissection(topology)["links within a class"],
)


case_2 = claim(
    "HDN-S4-case-2",
    relation=">",
    claimed=0,
    grid=R1,
    cost=nodes_of,
    measured=lambda topology: measured.dissection(topology)["links within a class"],
)


@claim("HDN-S2-cross-rule", relation="all", grid=R1, cost=nodes_of)
def cross_rule(topology: str) -> Measured:
    """Return whether the addresses of both ends of every cross-edge follow the rule."""
    network, k = measured.dual_net(topology), net(topology).k
    nodes = np.arange(network.size)
    above = np.array([network.digits(node) for node in nodes.tolist()])
    for level in range(1, k + 1):
        behind = measured.across(network, measured.cross_port(network, k, level))
        own = measured.addresses(topology, level)
        C, U, SN, N = own.T
        right = (own[behind] == np.stack([1 - C, SN, U, N], axis=1)).all(axis=1)
        right &= (behind[behind] == nodes) & (behind != nodes)
        high = above[:, : 2 * (k - level)]
        right &= (high[behind] == high).all(axis=1)
        if not right.all():
            node = int(np.flatnonzero(~right)[0])
            return Measured(False, {"node": node, "level": level, "joined to": int(behind[node])})
    return Measured(True)
