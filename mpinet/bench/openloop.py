"""Open-loop traffic in a steady state: flits times links per second, against BookSim's."""

from __future__ import annotations

from functools import partial

from mpinet.bench.benchmark import (
    MPINET,
    Baseline,
    Benchmark,
    Contenders,
    Setting,
    at_least,
    speed,
)
from mpinet.bench.booksim import BOOKSIM, Workload, by_booksim
from mpinet.machine import Machine
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.machine.traffic.run import OpenLoop
from mpinet.machine.transport import Local
from mpinet.measure.deadlock import counted_classes
from mpinet.networks import open as open_topology
from mpinet.programs.patterns import pattern_of

FLIT_HOPS = "Mflit-hops/s"

WORMHOLE = Buffering(buffers=8)
QUEUES = Buffering("saf", buffers=0, policy="fifo")


def make_run(
    workload: Workload, buffering: Buffering, seed: int, transport: Local | None = None
) -> OpenLoop:
    """Make a run like BookSim's: all steps generate, then the network empties."""
    topology = open_topology(workload.network)
    parity = "parity" in topology.routings
    routing = topology.routing("parity" if parity else None)
    classes = counted_classes(topology, routing, "wrap" if parity else None)
    pattern = pattern_of(topology, "uniform")
    return OpenLoop(
        Machine(topology, "all", transport or Local()),
        routing,
        classes,
        buffering,
        Generation(pattern.rule, pattern.params, workload.load / workload.flits, workload.flits),
        Window(0, workload.steps, 100 * workload.steps),
        seed,
    )


def flit_hops(run: OpenLoop) -> int:
    """Number of flits times links crossed, in all (collective)."""
    moves, done = int(run.ledger.moves), int(run.ledger.done)
    # Where buffers are finite a flit's last move is the one to its processor.
    ejected = done * run.generation.flits if run.limited else 0
    return run.machine.sum(moves - ejected)[0]


def in_steady_state(setting: Setting, workload: Workload, buffering: Buffering) -> Contenders:
    """Compare mpinet and BookSim."""

    def by_mpinet() -> float:
        run = make_run(workload, buffering, setting.seed)
        seconds = setting.seconds(run.run)
        return speed(flit_hops(run), seconds)

    return {MPINET: by_mpinet, BOOKSIM: by_booksim(setting, workload)}


BENCHMARKS = tuple(
    Benchmark(
        f"load-{network}-{name}",
        f"uniform traffic on {{}}, {words}",
        FLIT_HOPS,
        {"small": Workload(small, flits, 0.1, 200), "full": Workload(full, flits, load, steps)},
        partial(in_steady_state, buffering=buffering),
        (Baseline(BOOKSIM, at_least(ratio)),),
        most_rounds=3,
    )
    for name, words, buffering, flits, ratio in (
        ("wormhole", "wormhole with 2 VCs of 8 flits", WORMHOLE, 5, 10),
        ("queues", "queues without limit", QUEUES, 1, 50),
    )
    for network, small, full, load, steps in (
        ("torus", "torus:4x4x4", "torus:8x8x8", 0.2, 2000),
        ("mesh", "mesh:8x8", "mesh:64x64", 0.03, 1000),
    )
)
