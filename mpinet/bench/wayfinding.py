"""Speed of every family's routings, compared with bit fixing on the hypercube.

Both route in ideal mode, in which every message hops in every step. Messages do not wait for
channels, so only the routing rules and the loop over messages take time. Queue lengths are a
property of the network and are not measured. The time includes the writing of headers.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_least, speed
from mpinet.bench.permutation import make_router
from mpinet.draws import draw
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology

HYPERCUBE = "hypercube"

PERMUTATION, PAIRS = "permutation", "random:16384"
"""Traffic patterns of networks with a few thousand processors, and of smaller or larger
networks.
"""


@dataclass(frozen=True)
class Course:
    """Network with a routing and a traffic pattern."""

    network: str
    """A topology string; ``graph:N`` is a random graph of N nodes."""
    routing: str
    """Name of the network's routing."""
    pattern: str = PERMUTATION
    """Traffic pattern."""
    dead: tuple[int, ...] = ()
    """Dead processors, which the routing avoids and which neither send nor receive."""

    def __str__(self) -> str:
        around = f" around dead {self.dead[0]}" if self.dead else ""
        return f"{self.pattern} on {self.network} by {self.routing}{around}"

    def open(self) -> Topology:
        """Open the course's network."""
        family, _, size = self.network.partition(":")
        return random_graph(int(size)) if family == "graph" else open_topology(self.network)


def random_graph(size: int) -> Topology:
    """Return a ring with a random chord at every node, made from an edge list."""
    lines = {(u, (u + 1) % size) for u in range(size)}
    for u in range(size):
        v = (u + 2 + draw(0, u, 0) % (size - 3)) % size
        if (v, u) not in lines:
            lines.add((u, v))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "random.edges"
        file.write_text("".join(f"{u} {v}\n" for u, v in sorted(lines)))
        return open_topology(f"graph:{file}")


def routed(setting: BenchSetting, topology: Topology, course: Course) -> Callable[[], float]:
    """Return a function that routes the traffic and returns millions of message-hops per second."""
    routing = topology.routing(course.routing, setting.seed)
    # Without queues only the rules and the loop take time. Congestion is a property of the network.
    router, run = make_router(
        topology, routing, setting.seed, words=course.pattern, mode="ideal", dead=course.dead
    )
    router.routing.start.native  # noqa: B018 (compiles it)

    def rate() -> float:
        before = router.machine.messages
        seconds = setting.seconds(run)
        return speed(router.machine.messages - before, seconds)

    return rate


def against_hypercube(setting: BenchSetting, course: Course) -> Contenders:
    """Compare a network's rules with the hypercube's rules at about the same size."""
    topology = course.open()
    n = nearest_dimension(topology.hosts)
    # The hypercube's rule is a few bit operations, close to the minimum cost of any routing.
    cube = replace(course, network=f"hypercube:{n}", routing="bitfixing", dead=())
    return Contenders(
        routed(setting, topology, course),
        {HYPERCUBE: routed(setting, cube.open(), cube)},
    )


def nearest_dimension(size: int) -> int:
    """Return the n >= 1 for which the ratio of 2^n and the size is closest to 1."""
    return max(1, round(math.log2(size)))


LENS = ("plans", "patternA", "stateless", "detour", "fair", "regular")
DUAL_NETS = ("algorithm1", "stateless", "landing", "detour")
"""Routings of several families."""

NETWORKS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "ring": ("ring:4096", "ring:16", ("shortest", "parity")),
    "complete": ("complete:4096", "complete:8", ("direct",)),
    "path": ("path:4096", "path:16", ("dimensions",)),
    "star": ("star:4096", "star:16", ("shortest",)),
    "tree": ("tree:2,11", "tree:2,4", ("shortest",)),
    "mesh": ("mesh:128x128", "mesh:8x8", ("dimensions",)),
    "torus": ("torus:32x32x16", "torus:4x4x4", ("dimensions", "parity")),
    "hypercube": ("hypercube:14", "hypercube:6", ("bitfixing",)),
    "ccc": ("ccc:11", "ccc:4", ("cycle",)),
    "debruijn": ("debruijn:12", "debruijn:7", ("shortest",)),
    "kautz": ("kautz:2,13", "kautz:2,4", ("shift",)),
    "shuffleexchange": ("shuffleexchange:12", "shuffleexchange:6", ("shortest",)),
    "moebius": ("moebius:12", "moebius:6", ("shortest",)),
    "circulant": ("circulant:16384,jumps=1-128", "circulant:16,jumps=1-4", ("shortest",)),
    "rcirculant": ("rcirculant:16384,4", "rcirculant:16,4", ("shortest",)),
    "chordalring": ("chordalring:16384,127", "chordalring:16,5", ("shortest",)),
    "doubleloop": ("doubleloop:16384,128", "doubleloop:16,4", ("shortest",)),
    "fattree": ("fattree:4,7", "fattree:4,3", ("dmodk", "updown")),
    "karytree": ("karytree:4,7", "karytree:4,2", ("dmodk", "updown")),
    "dragonfly": ("dragonfly:6,12,6", "dragonfly:2,4,2", ("minimal",)),
    "megafly": ("megafly:8,8,8", "megafly:2,2,2", ("minimal",)),
    "slimfly": ("slimfly:53", "slimfly:5", ("shortest",)),
    "polarfly": ("polarfly:73", "polarfly:5", ("shortest",)),
    "hyperx": ("hyperx:16x16x16", "hyperx:4x4x3", ("dimensions",)),
    "flatbutterfly": ("flatbutterfly:16,4", "flatbutterfly:4,3", ("dimensions",)),
    "butterfly": ("butterfly:10", "butterfly:3", ("shortest",)),
    "benes": ("benes:9", "benes:3", ("shortest",)),
    "exchangedcube": ("exchangedcube:6,6", "exchangedcube:2,3", ("halves",)),
    "pancake": ("pancake:8", "pancake:5", ("flips",)),
    "bubblesort": ("bubblesort:8", "bubblesort:4", ("shortest",)),
    "randomregular": ("randomregular:4096,4", "randomregular:16,3", ("shortest",)),
    "roadrunner": ("roadrunner:16,4,5", "roadrunner:3,2,3", ("updown",)),
    "twistedtorus": ("twistedtorus:32x16x16", "twistedtorus:8x4", ("shortest",)),
    "hammingmesh": ("hammingmesh:2,2,32,32", "hammingmesh:2,2,2,2", ("shortest",)),
    "rail": ("rail:256,16", "rail:4,4,2", ("shortest",)),
    "dgx1": ("dgx1", "dgx1", ("shortest",)),
    "dgxa100": ("dgxa100:240", "dgxa100:2", ("shortest",)),
    "dgxh100": ("dgxh100:256", "dgxh100:2", ("shortest",)),
    "mi250": ("mi250:64", "mi250:2", ("shortest",)),
    "bsn": ("bsn:2,2,14", "bsn:2,2,8", ("twsr", "gbsn")),
    "gbsn": (
        "gbsn:3,m=4096-2048-2048-2048-1536-1536-1024-999,a=3",
        "gbsn:1,m=4-4-4-2,a=1",
        ("gbsn", "twsr", "twsr-corrected"),
    ),
    "gmn": (
        "gmn:16380",
        "gmn:8,256",
        ("source", "shortest", "online", "discovered", "substituted", "planned"),
    ),
    "gmnany": ("gmnany:5000", "gmnany:100", ("source", "shortest", "online")),
    "lst": ("lst:512", "lst:3", ("paper", "optimal")),
    "tq": ("tq:14", "tq:4", ("shortest", "dimension")),
    "cq": ("cq:14", "cq:5", ("shortest", "dimension")),
    "hkv": ("hkv:13", "hkv:5", ("shortest", "dimension")),
    "sth": ("sth:16,7", "sth:3,3", ("paper", "optimal", "detour")),
    "dlh": ("dlh:16,8", "dlh:3,2", ("shortest",)),
    "hexcell": ("hexcell:52", "hexcell:3", ("shortest",)),
    "foldedcube": ("foldedcube:14", "foldedcube:5", ("shortest",)),
    "hhc": ("hhc:4", "hhc:2", ("shortest",)),
    "stargraph": ("stargraph:8", "stargraph:5", ("shortest",)),
    "arrangement": ("arrangement:10,4", "arrangement:5,2", ("shortest",)),
    "petersen": ("petersen", "petersen", ("shortest",)),
    "gpetersen": ("gpetersen:2048,45", "gpetersen:8,3", ("shortest",)),
    "hp": ("hp:14", "hp:5", ("shortest",)),
    "fp": ("fp:4", "fp:2", ("shortest",)),
    "fpq": ("fpq:7,2", "fpq:2,2", ("shortest",)),
    "starcube": ("starcube:7,3", "starcube:4,3", ("shortest",)),
    "arrstar": ("arrstar:5,6,3", "arrstar:3,4,2", ("shortest",)),
    "hypermesh": ("hypermesh:4,4,10", "hypermesh:2,3,2", ("shortest",)),
    "bh": ("bh:5,5,4", "bh:3,2,4", ("shortest",)),
    "lens": ("lens:3,4,8", "lens:3,4,3", LENS),
    "clens": ("clens:3,11", "clens:3,4", LENS),
    "plens": ("plens:3,16000", "plens:3,50", ("plans",)),
    "snowflake": ("snowflake:4,7", "snowflake:3,4", ("corners",)),
    "busstar": ("busstar:4,7", "busstar:3,4", ("connectors",)),
    "multistage": ("multistage:omega,10", "multistage:omega,4", ("shortest",)),
    "hdn": ("hdn:4x4x4,super=0.1/1.2", "hdn:4x4,super=0.1/0.1", DUAL_NETS),
    "rdn": ("rdn:4x4x4,1", "rdn:2x3,1", DUAL_NETS),
    "dualcube": ("dualcube:7", "dualcube:3", DUAL_NETS),
    "graph": ("graph:4096", "graph:64", ("shortest",)),
}
"""Networks by family: one of some 4k to 40k processors (`TRAFFIC` lists exceptions), a small one,
and all its routings. `table_routing` limits the nodes and ports of networks with tables.
"""

TRAFFIC = {"petersen": PAIRS, "hhc": PAIRS, "dgx1": PAIRS, "mi250": PAIRS}
"""Traffic at full size of families without a network of usual size: they have 10 processors, 2^11
or 2^20, 8, and at most 1024.
"""

AROUND = {
    "gmn": {"online": 1 / 64, "discovered": 1 / 64, "substituted": 1 / 64, "planned": 1 / 32},
    "gmnany": {"online": 1 / 64},
    **{name: {"detour": 1 / 64} for name in ("sth", "lens", "clens", "hdn", "rdn", "dualcube")},
}
"""Routings that avoid a dead processor, and the required fraction of the hypercube's speed."""

DEAD = 17


def benchmark(family: str, routing: str, dead: tuple[int, ...] = ()) -> Benchmark:
    """Make the row of a family and a routing."""
    full, small, _ = NETWORKS[family]
    # Rules may take far longer than bit fixing. The goal only detects rules that have become
    # extremely slow.
    least = AROUND[family][routing] if dead else 1 / 64
    pattern = {"full": TRAFFIC.get(family, PERMUTATION), "small": PERMUTATION}
    return Benchmark(
        f"rules-{family}-{routing}{'-around' if dead else ''}",
        "{}, ideal",
        "Mhops/s",
        {
            size: Course(network, routing, pattern[size], dead)
            for size, network in (("small", small), ("full", full))
        },
        against_hypercube,
        (Baseline(HYPERCUBE, at_least(least)),),
    )


BENCHMARKS = tuple(
    benchmark(family, routing, dead)
    for family, (_, _, routings) in NETWORKS.items()
    for routing in routings
    for dead in ((), (DEAD,))
    if not dead or routing in AROUND.get(family, ())
)
