"""Broadcasts on large networks: steps above the lower bound, and seconds to find both.

The networks belong to 24 families of links. The three networks of a family have 256 to 1,000
processors, up to 7,000 processors, and the largest common size up to 20,480. None is chosen for its
result. Steps are counted for the shortest one-port broadcast from processor 0, by the network's own
schedule or by passes. The bound is the largest of several: by distance, growth, classes and, on
smaller networks, the solver.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from statistics import median

from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_most
from mpinet.machine import Machine, PortModel
from mpinet.machine.transport import Local
from mpinet.measure.optimum.search import Search
from mpinet.networks import open as open_topology
from mpinet.programs.broadcast import BEST, PASSES, TREE, broadcast, require_algorithm

LARGE = (
    "hypercube:9 hypercube:12 hypercube:14 foldedcube:9 foldedcube:12 foldedcube:14 cq:9 cq:11 "
    "cq:13 debruijn:9 debruijn:12 debruijn:14 shuffleexchange:9 shuffleexchange:12 "
    "shuffleexchange:14 moebius:9 moebius:12 moebius:14 ccc:6 ccc:8 ccc:10 gmn:9,288 gmn:12,1536 "
    "gmn:16,8192 gmnany:300 gmnany:3000 gmnany:20000 doubleloop:300,24 doubleloop:4096,90 "
    "doubleloop:10000,140 chordalring:300,23 chordalring:4096,127 chordalring:10000,199 "
    "rcirculant:512,4 rcirculant:4096,4 rcirculant:16384,4 circulant:500,jumps=1-30 "
    "circulant:4000,jumps=1-60 circulant:10000,jumps=1-100 torus:7x7x7 torus:9x9x9x9 "
    "torus:21x21x21 mesh:18x18 mesh:14x14x14 mesh:100x100 stargraph:6 stargraph:7 arrangement:8,5 "
    "pancake:6 pancake:7 arrangement:7,4 hexcell:8 hexcell:20 hexcell:40 bsn:2,2,9 bsn:2,2,12 "
    "bsn:2,2,14 hdn:2x3x5,super=0.1 rdn:2x3,2 hdn:2x3x5,super=0.1/1.2 exchangedcube:4,4 "
    "exchangedcube:5,5 exchangedcube:6,6 dualcube:5 dualcube:6 dualcube:7 randomregular:300,4 "
    "randomregular:3000,4 randomregular:20000,4 kautz:2,8 kautz:2,11 kautz:3,8"
)
"""Names of the 72 networks."""

SMALL = "foldedcube:5 debruijn:5 gmn:4,32"

NETWORKS = {3: SMALL, 72: LARGE}
"""Names of the networks, by the number of networks."""

LIMIT = 60.0
"""Time limit of the search for a bound, in seconds per network."""

OWN = "own schedules"


@dataclass(frozen=True)
class Sides:
    """Known bounds of a network's broadcast."""

    lower: int
    """Lower bound for the steps of any broadcast."""
    steps: int
    """Number of steps of the shortest schedule found."""
    own: int
    """Number of steps of the network's own schedule, or of the tree."""
    seconds: float
    """Seconds to find the bound and the shortest schedule."""
    own_seconds: float
    """Seconds to find the network's own schedule, or the tree."""


@cache
def sides_of(name: str) -> Sides:
    """Search for both bounds; the result is cached, because two rows share it."""
    began = time.perf_counter()
    topology, model = open_topology(name), PortModel.named("one")
    # The shortest known schedule is an upper bound, so the search only has to prove that fewer
    # steps are impossible.
    best = broadcast(Machine(topology, model, Local()), 0, BEST).steps
    search = Search(topology, "broadcast", 0, "one", best, BEST, LIMIT)
    search.run()
    found = time.perf_counter()
    algorithm, _ = require_algorithm(topology, 0, None, model)
    simple = TREE if algorithm == PASSES else algorithm
    own = broadcast(Machine(topology, model, Local()), 0, simple).steps
    ended = time.perf_counter()
    return Sides(search.lower, search.upper, own, found - began, ended - found)


def gaps(setting: BenchSetting, number: int) -> Contenders:
    """Count the steps above the lower bound over all networks."""
    names = NETWORKS[number].split()
    return Contenders(
        lambda: float(sum(one.steps - one.lower for one in map(sides_of, names))),
        {OWN: lambda: float(sum(one.own - one.lower for one in map(sides_of, names)))},
    )


def seconds(setting: BenchSetting, number: int) -> Contenders:
    """Measure the median seconds per network."""
    names = NETWORKS[number].split()
    return Contenders(
        lambda: median(one.seconds for one in map(sides_of, names)),
        {OWN: lambda: median(one.own_seconds for one in map(sides_of, names))},
    )


BENCHMARKS = tuple(
    Benchmark(
        f"optimum-{name}",
        words,
        unit,
        {"small": 3, "full": 72},
        contenders,
        (Baseline(OWN, at_most(most)),),
        most_rounds=1,
        named=True,
    )
    for name, words, unit, contenders, most in (
        (
            "gap",
            "steps of one-port broadcasts above their lower bounds, in all on {} networks",
            "steps",
            gaps,
            44,
        ),
        (
            "time",
            "both sides of the optimum of a one-port broadcast, the median of {} networks",
            "s",
            seconds,
            10,
        ),
    )
)
