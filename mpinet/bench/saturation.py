"""W2: uniform random traffic that saturates a torus, since an arrived message continues at once."""

from __future__ import annotations

import numpy as np

from mpinet.bench import kernels
from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_least, speed
from mpinet.bench.rules import set_out, wander
from mpinet.machine import Machine
from mpinet.machine.router import Router
from mpinet.machine.transport import Local
from mpinet.networks import open as open_topology
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology

KERNEL = "torus kernel"

WARM_STEPS, STEPS = 100, 50
"""Number of steps before the queues are stable, and number of steps per round."""


def wandering(topology: Topology) -> Routing:
    """Return the network's routing without arrivals: at its target a message draws a new target."""
    own = topology.routing()
    return Routing(
        name="wandering",
        decide=wander.bind(f"wander.{type(topology).__name__}", onward=own.decide),
        params=own.params,
        header_bits=lambda source, target: 0,
        start=set_out,
        words=2,
        shortest=False,
        stateless=False,
    )


def make_saturated(topology: Topology, load: int, seed: int, transport: Local) -> Router:
    """Make a router with `load` messages per processor that never arrive."""
    machine = Machine(topology, "all", transport)
    total = topology.size * load
    sources, targets = _everybody(topology, load, seed)
    mine = np.flatnonzero(np.isin(sources, machine.nodes))
    router = Router(machine, wandering(topology))
    router.inject(sources[mine], targets[mine], mine, total)
    return router


def _everybody(topology: Topology, load: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the sources and first targets of all messages."""
    sources = np.repeat(np.arange(topology.size), load)
    targets = _other_nodes(topology.size, len(sources), seed)
    # Numbers below size - 1, shifted past the source, are uniform over all other nodes without a
    # second draw.
    return sources, targets + (targets >= sources)


def on_torus(setting: BenchSetting, size: tuple[int, int, int]) -> Contenders:
    """Compare mpinet with the torus kernel, both in a steady state."""
    side, dimensions, load = size
    topology = open_topology("torus:" + "x".join([str(side)] * dimensions))
    sources, targets = _everybody(topology, load, setting.seed)
    router = make_saturated(topology, load, setting.seed, Local())
    state = [_pack(sources, side, dimensions), _pack(targets, side, dimensions)]
    words, used = np.arange(len(sources)), np.zeros(topology.size, np.uint32)
    counts = np.zeros(2, np.int64)

    def step_on(steps: int) -> None:
        for _ in range(steps):
            router.step()

    def by_mpinet() -> float:
        before = router.machine.messages
        seconds = setting.seconds(lambda: step_on(STEPS))
        return speed(router.machine.messages - before, seconds)

    def sweep_on(steps: int) -> None:
        kernels.saturate(*state, words, used, side, dimensions, steps, counts)

    def by_kernel() -> float:
        before = counts[kernels.HOPS]
        seconds = setting.seconds(lambda: sweep_on(STEPS))
        return speed(counts[kernels.HOPS] - before, seconds)

    # Queues grow in the first steps, so earlier rounds would not measure the steady state.
    step_on(WARM_STEPS)
    sweep_on(WARM_STEPS)
    return Contenders(by_mpinet, {KERNEL: by_kernel})


def _other_nodes(size: int, count: int, seed: int) -> np.ndarray:
    """Draw random numbers below size - 1."""
    return np.random.default_rng(seed).integers(0, size - 1, count)


def _pack(nodes: np.ndarray, side: int, dimensions: int) -> np.ndarray:
    """Pack nodes for the kernel, with one byte per coordinate."""
    packed = np.zeros(len(nodes), np.uint32)
    for i in range(dimensions):
        coordinate = nodes // side**i % side
        packed |= coordinate.astype(np.uint32) << np.uint32(8 * i)
    return packed


BENCHMARKS = tuple(
    Benchmark(
        f"w2-k{side}",
        "saturated uniform traffic on the torus (side, dimensions, messages a processor) {}",
        "Mhops/s",
        {"small": (5, 3, 4), "full": (side, 3, load)},
        on_torus,
        (Baseline(KERNEL, at_least(1 / 3)),),
    )
    for side, load in ((16, 16), (32, 8))
)
