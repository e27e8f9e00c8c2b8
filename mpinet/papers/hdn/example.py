"""The example of Section 4: Figures 10 and 11, and the printed path."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from mpinet import measure
from mpinet.claims import Corrected, Measured, once, section
from mpinet.claims.remembered import remembered
from mpinet.papers.hdn.grids import FIG10, FIG11
from mpinet.papers.hdn.measured import cross_port, described, dual_net
from mpinet.papers.hdn.reindexing import BY_NUMBER
from mpinet.papers.hdn.routing import ALGORITHM_1
from mpinet.papers.measured import counted

Label = tuple[int, ...]

U, V = (0, 0, 0, 0), (1, 19, 19, 14)
"""Source and target of the example."""

TO_U1: tuple[Label, ...] = (
    (0, 0, 0, 0),
    (0, 0, 4, 0),
    (1, 4, 0, 0),
    (1, 4, 1, 0),
    (1, 4, 2, 0),
    (1, 4, 2, 1),
    (1, 4, 2, 2),
    (1, 4, 2, 3),
)
"""Printed walk from u to u', in indices of level 1."""

TO_V1: tuple[Label, ...] = (
    (1, 4, 4, 5),
    (1, 4, 0, 5),
    (0, 0, 4, 5),
    (0, 0, 3, 5),
    (0, 0, 2, 5),
    (0, 0, 2, 0),
    (0, 0, 2, 1),
    (0, 0, 2, 2),
)
"""Printed walk from v to v'."""

CROSSING: tuple[Label, ...] = ((0, 0, 19, 0), (1, 19, 0, 0))
"""Printed hop from u' to u'', in indices of level 2."""

INSIDE: tuple[Label, ...] = ((0, 0), (2, 0), (2, 4))
"""Printed walk from u'' to v', in coordinates of the 3x5 torus."""

FIGURES = (
    described(
        "HDN-EX-fig10",
        statement="HDN(B,1,(6)) over the 2x3x5 torus: 300 nodes, 5 clusters a class, 6 links "
        "between joined super-nodes",
        claimed={"nodes": 300, "clusters of a class": 5, "links of joined super-nodes": 6},
        text="B = C2xC3xC5",
        topology=FIG10,
    ),
    described(
        "HDN-EX-fig11",
        statement="HDN(B,2,(6,15)) over the 2x3x5 torus: 12000 nodes, 20 super-nodes a cluster, "
        "20 clusters a class, 15 links between joined super-nodes",
        claimed={
            "nodes": 12000,
            "super-nodes of a cluster": 20,
            "clusters of a class": 20,
            "links of joined super-nodes": 15,
        },
        text="B = C2xC3xC5",
        topology=FIG11,
    ),
)


def node_at(label: Label) -> int:
    """Return the node of the network of Figure 11 with an index of level 2."""
    return dual_net(FIG11).node(",".join(map(str, label)))


@remembered(most=1)
def route() -> tuple[list[int], int, int]:
    """Return the route of Algorithm 1 from u to v, and the positions of u'' and v' on it.

    u'' comes after the hop over level 2. v' is the last node in the super-node of u''.
    """
    network = dual_net(FIG11)
    nodes = measure.walk(network, node_at(U), node_at(V), ALGORITHM_1)
    far = network.neighbor(np.array(nodes), cross_port(network, 2, 2))
    # The single hop over level 2 marks u' and u'', which the paper names without numbers.
    u2 = next(i + 1 for i, node in enumerate(nodes[1:]) if node == far[i])
    home = network.level_address(nodes[u2], 2)[:3]
    v1 = u2
    while v1 + 1 < len(nodes) and network.level_address(nodes[v1 + 1], 2)[:3] == home:
        v1 += 1
    return nodes, u2, v1


claim_4_example = section(place="Sec 4 example", grid=once("network of Figure 11"))


@claim_4_example("HDN-EX-super-nodes", claimed={"super-nodes": 2, "nodes of a super-node": 15})
def supernodes_of_base() -> dict[str, object]:
    """Return the number of super-nodes and their size, by the coordinates outside of them."""
    base = dual_net("hdn:2x3x5")
    found, sizes = np.unique([base.digits(v)[0] for v in range(base.size)], return_counts=True)
    return {"super-nodes": len(found), "nodes of a super-node": counted(sizes)}


@claim_4_example(
    "HDN-EX-uprime", claimed={"u'": (0, 0, 19, 0), "v'": (1, 19, 0, 14), "u''": (1, 19, 0, 0)}
)
def intermediate() -> dict[str, Label]:
    """Return the route's nodes u' and u'' at its hop over level 2, and v'."""
    network, (nodes, u2, v1) = dual_net(FIG11), route()
    places = {"u'": u2 - 1, "v'": v1, "u''": u2}
    return {name: network.level_address(nodes[place], 2) for name, place in places.items()}


@claim_4_example(
    "HDN-EX-reindex",
    claimed={"u": TO_U1[0], "u'": TO_U1[-1], "v'": TO_V1[-1], "v": TO_V1[0]},
    reading=BY_NUMBER,
)
def reindexed() -> dict[str, Label]:
    """Return the indices at level 1 of the nodes' numbers in their clusters at level 2."""
    places = {"u": U, "u'": (0, 0, 19, 0), "v'": (1, 19, 0, 14), "v": V}
    whole, cluster = dual_net(FIG11), dual_net(FIG10)
    numbers = {name: whole.node(f"0,0,{SN},{N}") for name, (_, _, SN, N) in places.items()}
    return {name: cluster.level_address(number, 1) for name, number in numbers.items()}


RINGS = "hdn:5x6,super=1"
"""Figure 10 as drawn: the super-nodes are rings of 6 in rings of 5."""


def on_rings(source: int, target: int) -> list[Label]:
    """Return a walk in Figure 10 as drawn, between two serial numbers.

    The walk goes to the cross-edge of the target's cluster and across. It then changes SN first and
    N second.
    """
    network = dual_net(RINGS)
    port = cross_port(network, 1, 1)
    clusters = {network.level_address(node, 1)[:2] for node in (source, target)}
    if len(clusters) == 1:
        nodes = measure.walk(network, source, target, ALGORITHM_1)
        return [network.level_address(node, 1) for node in nodes]
    C, cluster, _, N = network.level_address(source, 1)
    goal = network.node(f"{C},{cluster},{network.level_address(target, 1)[1]},{N}")
    nodes = measure.walk(network, source, goal, ALGORITHM_1)
    nodes += measure.walk(network, int(network.neighbor(goal, port)), target, ALGORITHM_1)
    return [network.level_address(node, 1) for node in nodes]


@claim_4_example(
    "HDN-EX-path-labels",
    claimed={
        "u to u'": TO_U1,
        "v to v'": TO_V1,
        "u' to u''": CROSSING,
        "u'' to v'": INSIDE,
        "hops": 17,
    },
    grid=once("emulation on labels"),
)
def path_labels() -> dict[str, object]:
    """Return the walks on such a network between the end points' serial numbers 15 SN^2 + N^2."""
    network = dual_net(FIG11)
    (_, _, u_SN, u_N), (_, _, v_SN, v_N) = U, V
    u1, v1 = (0, 0, V[1], u_N), (1, V[1], U[1], v_N)
    crossed = int(network.neighbor(node_at(u1), cross_port(network, 2, 2)))
    u2 = network.level_address(crossed, 2)
    walks: dict[str, list[Label]] = {
        "u to u'": on_rings(15 * u_SN + u_N, 15 * u1[2] + u1[3]),
        "v to v'": on_rings(15 * v_SN + v_N, 15 * v1[2] + v1[3]),
        "u' to u''": [u1, u2],
        "u'' to v'": inside_torus(u2[3], v1[3]),
    }
    return walks | {"hops": sum(len(walk) - 1 for walk in walks.values())}


def inside_torus(source: int, target: int) -> list[Label]:
    """Return the base routing's walk in the 3x5 torus, in coordinates."""
    torus = dual_net("hdn:3x5")
    return [torus.digits(node) for node in measure.walk(torus, source, target, ALGORITHM_1)]


@claim_4_example("HDN-EX-path-links", claimed=17)
def path_links() -> Measured:
    """Return the number of hops whose ends are neighbours, with the missing links."""
    whole, cluster, torus = dual_net(FIG11), dual_net(FIG10), dual_net("hdn:3x5")
    linked, missing = 0, []
    for network, walk in (
        (cluster, TO_U1),
        (cluster, TO_V1),
        (whole, CROSSING),
        (torus, INSIDE),
    ):
        for hop in pairwise(walk):
            u, v = (network.node(",".join(map(str, label))) for label in hop)
            if v in network.neighbor(u, np.arange(network.ports)):
                linked += 1
            else:
                missing.append(hop)
    return Measured(linked, {"no links": missing})


@claim_4_example("HDN-EX-subpath", claimed=INSIDE)
def subpath() -> list[Label]:
    """Return the part of the route from u'' to v', in coordinates of C3 and C5."""
    network, (nodes, u2, v1) = dual_net(FIG11), route()
    return [network.digits(node)[-2:] for node in nodes[u2 : v1 + 1]]


def example_hops() -> dict[str, Any]:
    """Return the hops of the route, and the distance of its ends by a flood."""
    nodes = route()[0]
    flooded = measure.distance_matrix(FIG11, [nodes[0]])[0]
    return {"hops": len(nodes) - 1, "distance": int(flooded[nodes[-1]])}


@claim_4_example(
    "HDN-EX-length",
    claimed=17,
    corrected=Corrected(
        "HDN-C-EX-length", claimed={"hops": 9, "distance": 9}, measured=example_hops
    ),
)
def route_length() -> Measured:
    """Return the number of hops of the walked route."""
    nodes = route()[0]
    return Measured(len(nodes) - 1, {"route": nodes})
