"""W1: a random permutation, one message per processor, all ports, one message per link and step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import DTypeLike

from mpinet.base.arrays import Array, Ints
from mpinet.bench import kernels
from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_least, speed
from mpinet.bench.libraries import if_installed
from mpinet.bench.objects import route_by_objects, route_by_simpy
from mpinet.bench.rules import shift_in_digits
from mpinet.machine import Machine
from mpinet.machine.faults import Faults
from mpinet.machine.placement import Mapping
from mpinet.machine.router import Router
from mpinet.machine.transport import Local
from mpinet.networks import open as open_topology
from mpinet.networks.routing import Routing, stateless, target_only
from mpinet.networks.topology import Topology
from mpinet.programs.traffic import traffic

MASK_KERNEL, SWEEP = "mask kernel", "mask sweep with the same rules"


def make_router(
    topology: Topology,
    routing: Routing,
    seed: int,
    transport: Local | None = None,
    mapping: Mapping | None = None,
    words: str = "permutation",
    mode: str = "queued",
    dead: tuple[int, ...] = (),
) -> tuple[Router, Callable[[], None]]:
    """Make a router, and a function that routes traffic up to the last delivery.

    Dead processors neither send nor receive.
    """
    machine = Machine(topology, "all", transport or Local(), mapping)
    pattern = traffic(topology, words, seed)
    numbers = pattern.sent_by(machine)
    sources, targets = pattern.ends(numbers)
    for node in dead:
        alive = (sources != node) & (targets != node)
        numbers, sources, targets = numbers[alive], sources[alive], targets[alive]
    router = Router(machine, routing, mode, faults=Faults(topology, dead))
    # Memory is reserved before the clock starts, because the kernel's arrays also exist already.
    router.reserve(len(numbers))

    def run() -> None:
        router.inject(sources, targets, numbers, pattern.total)
        router.run()

    return router, run


def routed(setting: BenchSetting, topology: Topology, routing: Routing) -> float:
    """Return millions of message-hops per second of mpinet on one rank."""
    router, run = make_router(topology, routing, setting.seed)
    seconds = setting.seconds(run)
    return speed(router.machine.messages, seconds)


def targets_of(topology: Topology, seed: int) -> Ints:
    """Return the target of every processor under the permutation."""
    return traffic(topology, "permutation", seed).ends(np.arange(topology.size))[1]


def by_mask_kernel(setting: BenchSetting, targets: Ints) -> float:
    """Return millions of message-hops per second of the mask kernel."""
    at, counts = np.arange(targets.size, dtype=np.uint32), np.zeros(2, np.int64)
    target, used = targets.astype(np.uint32), touched_zeros(targets.size, np.uint32)
    seconds = setting.seconds(lambda: kernels.fix_bits(at, target, used, counts))
    return speed(counts[kernels.HOPS], seconds)


def by_sweep(setting: BenchSetting, topology: Topology, routing: Routing, targets: Ints) -> float:
    """Return millions of message-hops per second of the bare sweep with the network's own rules.

    The measured time includes the writing of headers at the sources, as in mpinet.
    """
    rules = topology.neighbor.native, routing.decide.native, topology.params, routing.params
    used, counts = touched_zeros(topology.size, np.uint32), np.zeros(2, np.int64)
    if routing.start is target_only:
        at, target = np.arange(topology.size, dtype=np.uint32), targets.astype(np.uint32)
        seconds = setting.seconds(lambda: kernels.sweep(*rules, at, target, used, counts))
        return speed(counts[kernels.HOPS], seconds)
    nodes, port = np.arange(topology.size), touched_zeros(topology.size, np.uint8)

    def work() -> None:
        kernels.sweep_headers(*rules, nodes, port, headers_of(routing, targets), used, counts)

    seconds = setting.seconds(work)
    return speed(counts[kernels.HOPS], seconds)


def touched_zeros(size: int, dtype: DTypeLike) -> Array:
    """Return zeros in mapped memory, so no round waits for page faults."""
    # `zeros` maps pages at first use, which would slow down only the first round.
    return np.full(size, 0, dtype)


def headers_of(routing: Routing, targets: Ints) -> Ints:
    """Return the header of a message from each node, shape (N, words)."""
    words = np.empty((len(targets), routing.words), np.int64)
    kernels.write_headers(routing.start.native, routing.params, targets, words)
    return words


def on_hypercube(setting: BenchSetting, n: int) -> Contenders:
    """Compare mpinet with the mask kernel."""
    topology = open_topology(f"hypercube:{n}")
    routing, targets = topology.routing(), targets_of(topology, setting.seed)
    return Contenders(
        lambda: routed(setting, topology, routing),
        {MASK_KERNEL: lambda: by_mask_kernel(setting, targets)},
    )


def against_smaller(setting: BenchSetting, sizes: tuple[int, int]) -> Contenders:
    """Compare mpinet on a large hypercube with mpinet on a small one."""
    large, small = (open_topology(f"hypercube:{n}") for n in sizes)
    return Contenders(
        lambda: routed(setting, large, large.routing()),
        {"mpinet, smaller": lambda: routed(setting, small, small.routing())},
    )


def on_any(setting: BenchSetting, name: str) -> Contenders:
    """Compare mpinet with the bare sweep, both with the network's own rules."""
    topology = open_topology(name)
    return _with_sweep(setting, topology, topology.routing())


def on_de_bruijn(setting: BenchSetting, n: int) -> Contenders:
    """Compare as `on_any`, routed by shifts, because the network's own tables end at 4096 nodes."""
    topology = open_topology(f"debruijn:{n}")
    routing = stateless("shift", shift_in_digits, topology, shortest=False)
    return _with_sweep(setting, topology, routing)


def _with_sweep(setting: BenchSetting, topology: Topology, routing: Routing) -> Contenders:
    targets = targets_of(topology, setting.seed)
    return Contenders(
        lambda: routed(setting, topology, routing),
        {SWEEP: lambda: by_sweep(setting, topology, routing, targets)},
    )


def against_other_ways(setting: BenchSetting, n: int) -> Contenders:
    """Compare mpinet with naive programs: NumPy arrays, nodes as objects, and simpy."""
    topology = open_topology(f"hypercube:{n}")
    routing, targets = topology.routing(), targets_of(topology, setting.seed)
    return Contenders(
        lambda: routed(setting, topology, routing),
        {
            "numpy": lambda: _rate(setting, partial(route_by_sorting, targets)),
            "objects": lambda: _rate(setting, partial(route_by_objects, n, targets.tolist())),
            "simpy": if_installed(
                "simpy", lambda: _rate(setting, partial(route_by_simpy, n, targets.tolist()))
            ),
        },
    )


def _rate(setting: BenchSetting, work: Callable[[], int]) -> float:
    hops: list[int] = []
    seconds = setting.seconds(lambda: hops.append(work()))
    return speed(hops[0], seconds)


def route_by_sorting(targets: Ints) -> int:
    """Route on a hypercube by a stable sort and return the hops; each link's first message hops."""
    at, hops = np.arange(len(targets)), 0
    while True:
        here = at != targets
        at, targets = at[here], targets[here]
        if not len(at):
            return hops
        low = (at ^ targets) & -(at ^ targets)
        link = at * (1 << 31) + low
        # A stable sort keeps the message with the lower number first on each link, as in the
        # emulator.
        order = np.argsort(link, kind="stable")
        first = np.ones(len(order), bool)
        first[1:] = link[order[1:]] != link[order[:-1]]
        goes = order[first]
        at[goes] ^= low[goes]
        hops += len(goes)


HOPS_A_SECOND = "Mhops/s"

BENCHMARKS = (
    *(
        Benchmark(
            f"w1-n{n}",
            "random permutation on hypercube:{}, queued",
            HOPS_A_SECOND,
            {"small": n - 7, "full": n},
            on_hypercube,
            (Baseline(MASK_KERNEL, at_least(0.4)),),
        )
        for n in (14, 16, 18, 20)
    ),
    Benchmark(
        "w1-scaling",
        "the same on the hypercubes {0[0]} and {0[1]}",
        HOPS_A_SECOND,
        {"small": (8, 7), "full": (20, 14)},
        against_smaller,
        (Baseline("mpinet, smaller", at_least(0.7)),),
    ),
    *(
        Benchmark(
            f"w1-{name}",
            f"random permutation on {words}",
            HOPS_A_SECOND,
            {"small": small, "full": full},
            contenders,
            (Baseline(SWEEP, at_least(0.5)),),
        )
        for name, words, contenders, small, full in (
            ("torus", "{}, queued", on_any, "torus:4x4x5", "torus:40x40x40"),
            ("debruijn", "debruijn:{}, queued, routed by shifts", on_de_bruijn, 7, 16),
            ("gmn", "{}, queued", on_any, "gmn:96", "gmn:16380"),
            ("hdn", "{}, queued", on_any, "hdn:4x4,super=0.1/0.1", "hdn:4x4x4,super=0.1/1.2"),
        )
    ),
    Benchmark(
        "w1-other",
        "random permutation on hypercube:{}, queued",
        HOPS_A_SECOND,
        {"small": 7, "full": 12},
        against_other_ways,
        (Baseline("numpy"), Baseline("objects"), Baseline("simpy")),
        most_rounds=3,
    ),
)
