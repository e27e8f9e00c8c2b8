"""Every family of the catalogue once more: networks that are built without mpinet.

A new family needs an entry here: a few of its networks, each wired by a few lines of plain Python
(or by networkx) that share nothing with its rules. `test_every_family` holds the catalogue
against them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import networkx
from serial.gbsn.settings import WIRINGS
from serial.gmn.reference import Arbitrary, Loops
from serial.gmn.settings import ARBITRARY
from serial.gmn.settings import SETTINGS as LOOPS
from serial.hdn.reference import Network
from serial.hdn.settings import SMALL, full, ring
from serial.lens.reference import Hypergraph, multistage_lines
from serial.lens.settings import BUS_NETWORKS
from serial.networks.reference import EVERYTHING, Wiring
from serial.sth.reference import wired
from serial.sth.settings import NAMES


@dataclass(frozen=True)
class Reference:
    """A network that is built without mpinet.

    Attributes
    ----------
    wiring : list of lists
        Each node's neighbours by port, None where a port is not wired; absent last ports may be
        left out.
    busses : list of lists, optional
        In a bus network the name of the bus behind each of these ports.
    """

    wiring: Wiring
    busses: list[list[object]] | None = None


def linked(wiring: Wiring) -> Reference:
    return Reference(wiring)


def loops(m: int, N: int) -> Reference:
    return Reference(Loops(m, N).wiring())


def loops_of_any_size(N: int) -> Reference:
    return Reference(Arbitrary(N).wiring())


def dual_net(network: Network) -> Reference:
    numbers = {x: number for number, x in enumerate(network.nodes)}
    return Reference(
        [[None if y is None else numbers[y] for y in network.wiring(x)] for x in network.nodes]
    )


def bus_network(graph: Hypergraph) -> Reference:
    return Reference(
        [[node for _, node in ports] for ports in graph.ports],
        [[bus for bus, _ in ports] for ports in graph.ports],
    )


def multistage(kind: str, n: int) -> Reference:
    """A switch's lines to the right, then to the left, each pair in the order of the lines."""
    width = 2 ** (n - 1)
    sides: list[list[list[tuple[int, int]]]] = [[[], []] for _ in range(n * width)]
    for stage, a, b, line in multistage_lines(kind, n):
        sides[stage * width + a][0].append((line, (stage + 1) * width + b))
        sides[(stage + 1) * width + b][1].append((line, stage * width + a))
    absent: list[int | None] = [None, None]
    return Reference(
        [[v for side in pair for v in ([v for _, v in sorted(side)] or absent)] for pair in sides]
        if n > 1
        else [[]]
    )


def edge_list(file: Path) -> Reference:
    graph = networkx.read_edgelist(file, nodetype=int)
    return Reference([sorted(graph[node]) for node in sorted(graph)])


def in_family(family: str, listed: dict[str, Callable[[], Reference]]) -> dict:
    return {name: make for name, make in listed.items() if name.partition(":")[0] == family}


EDGES = Path(__file__).with_name("petersen.edges")
LISTED: dict[str, Callable[[], Reference]] = {
    **{name: partial(linked, wiring) for name, wiring in (EVERYTHING | WIRINGS).items()},
    **{name: partial(loops, *map(int, name[4:].split(","))) for name in LOOPS},
    **{f"gmnany:{N}": partial(loops_of_any_size, N) for N in ARBITRARY},
    **{name: partial(dual_net, network) for name, network in SMALL.items()},
    "rdn:2,0": partial(dual_net, Network([ring(2)])),
    "rdn:2,1": partial(dual_net, Network([ring(2)], [()])),
    "rdn:3,2": partial(dual_net, Network([ring(3)], [(), ()])),
    "rdn:K5,1": partial(dual_net, Network([full(5)], [()])),
    "rdn:2x2,2": partial(dual_net, Network([ring(2)] * 2, [(), ()])),
    **{f"dualcube:{n}": partial(dual_net, Network([ring(2)] * (n - 1), [()])) for n in (2, 3, 4)},
    **{name: partial(bus_network, graph) for name, graph in BUS_NETWORKS.items()},
    **{
        f"multistage:{kind},{n}": partial(multistage, kind, n)
        for kind in ("omega", "flip", "cube", "banyan", "baseline")
        for n in (1, 2, 3, 4, 6)
    },
    **{name: lambda name=name: Reference(wired(name)) for name in NAMES},
    f"graph:{EDGES}": partial(edge_list, EDGES),
}
"""Topology string -> what builds the network without mpinet."""

REFERENCES = {
    family: in_family(family, LISTED)
    for family in dict.fromkeys(name.partition(":")[0] for name in LISTED)
}
"""Family -> its networks."""


@cache
def reference(name: str) -> Reference:
    """The network of a topology string of `LISTED`."""
    return LISTED[name]()
