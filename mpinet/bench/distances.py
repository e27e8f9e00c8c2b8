"""W5: distances between all pairs of nodes, measured on hypercubes as examples of graphs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpinet.bench import kernels, libraries
from mpinet.bench.benchmark import (
    Absent,
    Baseline,
    Benchmark,
    BenchSetting,
    Contenders,
    Round,
    at_least,
    speed,
)
from mpinet.bench.libraries import if_installed
from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.measure.wiring import edges
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology
from mpinet.programs.flood import distances

KERNEL = "bit-parallel kernel"

WORDS = 8
"""Number of 64-bit words, a bit per source, that the kernel floods together."""

KERNEL_PAIRS = 2**27
"""Largest number of pairs that the kernel measures in a round."""

LIBRARIES: dict[str, tuple[Callable[..., libraries.Sum], int, int | None]] = {
    "igraph": (libraries.by_igraph, 2**21, 10),
    "rustworkx": (libraries.by_rustworkx, 2**63, 5),
    "scipy": (libraries.by_scipy, 2**20, None),
    "networkx": (libraries.by_networkx, 2**19, 100),
}
"""Libraries: function that makes the measurement, largest number of pairs per round (rustworkx can
only measure all pairs), and the goal for the ratio.
"""


def all_pairs(setting: BenchSetting, n: int, libraries_too: tuple[str, ...]) -> Contenders:
    """Compare mpinet on all pairs with the kernel and the libraries on some sources."""
    topology = open_topology(f"hypercube:{n}")
    links = edges(topology)
    baselines: dict[str, Round | Absent] = {KERNEL: _kernel(setting, topology)}
    for name in libraries_too:
        baselines[name] = if_installed(name, _library(setting, topology, links, name))
    return Contenders(
        lambda: _rate(setting, topology, topology.size, lambda: by_flooding(topology)), baselines
    )


def by_flooding(topology: Topology) -> int:
    """Return the sum of distances between all pairs, by mpinet on one rank."""
    return distances(Machine(topology, "all", Local())).distance_sum


def sources_of(name: str, size: int) -> int:
    """Return the number of sources that a contender measures in a round."""
    pairs = KERNEL_PAIRS if name == KERNEL else LIBRARIES[name][1]
    return max(1, min(size, pairs // size))


def kernel_sum(topology: Topology, sources: int) -> Callable[[], int]:
    """Return a function that sums the distances from the first nodes with the kernel."""
    size = topology.size
    nodes, ports = np.arange(size)[:, np.newaxis], np.arange(topology.ports)
    neighbors = topology.neighbor(nodes, ports).astype(np.int32)
    rooms = np.zeros((3, size, WORDS), np.uint64)
    together = 64 * WORDS

    def run() -> int:
        return sum(
            kernels.add_distances(neighbors, first, min(together, sources - first), *rooms)
            for first in range(0, sources, together)
        )

    return run


def _kernel(setting: BenchSetting, topology: Topology) -> Round:
    sources = sources_of(KERNEL, topology.size)
    run = kernel_sum(topology, sources)
    return lambda: _rate(setting, topology, sources, run)


def _library(setting: BenchSetting, topology: Topology, links: np.ndarray, name: str) -> Round:
    """Make a contender that builds its library's graph in its first round."""
    make, _, _ = LIBRARIES[name]
    sources = sources_of(name, topology.size)
    made: list[libraries.Sum] = []

    def measured() -> float:
        # Building the graph is not measured, because libraries would spend most of that time on
        # Python lists.
        if not made:
            made.append(make(topology.size, links, sources))
        return _rate(setting, topology, sources, made[0])

    return measured


def _rate(
    setting: BenchSetting, topology: Topology, sources: int, work: Callable[[], int]
) -> float:
    return speed(sources * topology.size, setting.seconds(work))


PAIRS_A_SECOND = "Mpairs/s"


def _benchmark(name: str, n: int, small: int, names: tuple[str, ...], rounds: int) -> Benchmark:
    goals = {other: LIBRARIES[other][2] for other in names}
    others = (Baseline(o, None if goal is None else at_least(goal)) for o, goal in goals.items())
    return Benchmark(
        name,
        "all-pairs distances of hypercube:{}",
        PAIRS_A_SECOND,
        {"small": small, "full": n},
        lambda setting, size: all_pairs(setting, size, names),
        (Baseline(KERNEL, at_least(1 / 3)), *others),
        most_rounds=rounds,
    )


BENCHMARKS = (
    _benchmark("w5-4k", 12, 7, ("igraph", "rustworkx", "scipy", "networkx"), 1000),
    _benchmark("w5-16k", 14, 7, ("igraph", "scipy", "networkx"), 1000),
    _benchmark("w5-64k", 16, 7, ("igraph", "scipy", "networkx"), 3),
)
