"""Open-loop traffic in a steady state: flit-hops per second of mpinet and BookSim."""

from __future__ import annotations

from functools import partial

from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, at_least, speed
from mpinet.bench.booksim import BOOKSIM, Ask, Workload, by_booksim
from mpinet.machine import Machine
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.machine.traffic.run import OpenLoop
from mpinet.machine.transport import Local
from mpinet.measure.deadlock import counted_classes, settled
from mpinet.programs.patterns import pattern_of

FLIT_HOPS = "Mflit-hops/s"

QUEUES = Buffering("saf", buffers=0, policy="fifo")


def make_run(
    workload: Workload,
    seed: int,
    transport: Local | None = None,
    buffering: Buffering | None = None,
    window: Window | None = None,
) -> OpenLoop:
    """Make a run like BookSim's: traffic is generated in all steps, then the network drains."""
    topology = workload.topology
    # BookSim's tori distribute ties over both directions and change classes at the wraparound link.
    # The same routing is chosen here.
    parity = "parity" in topology.routings
    routing = settled(
        topology, topology.routing(workload.routing or ("parity" if parity else None))
    )
    classes = counted_classes(topology, routing, "wrap" if parity else None)
    pattern = pattern_of(topology, workload.pattern)
    return OpenLoop(
        Machine(topology, "all", transport or Local()),
        routing,
        classes,
        buffering or Buffering(vcs=workload.vcs, buffers=workload.buffers),
        Generation(pattern.rule, pattern.params, workload.load / workload.flits, workload.flits),
        window or Window(0, workload.steps, 100 * workload.steps),
        seed,
    )


def flit_hops(run: OpenLoop) -> int:
    """Return the number of link crossings of all flits (collective)."""
    moves, done = int(run.ledger.moves), int(run.ledger.done)
    # With finite buffers, the last move of a flit is the move to its processor.
    ejected = done * run.generation.flits if run.limited else 0
    return run.machine.sum(moves - ejected)[0]


def in_steady_state(
    setting: BenchSetting, workload: Workload, buffering: Buffering | None = None
) -> Contenders:
    """Compare the speed of mpinet and BookSim."""

    def by_mpinet() -> float:
        run = make_run(workload, setting.seed, buffering=buffering)
        seconds = setting.seconds(run.run)
        return speed(flit_hops(run), seconds)

    def peer(ask: Ask) -> float:
        said, seconds = ask(workload)
        return speed(workload.flit_hops(said), seconds)

    return Contenders(by_mpinet, {BOOKSIM: by_booksim(setting, peer)})


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
        ("wormhole", "wormhole with 2 VCs of 8 flits", None, 5, 10),
        ("queues", "queues without limit", QUEUES, 1, 50),
    )
    for network, small, full, load, steps in (
        ("torus", "torus:4x4x4", "torus:8x8x8", 0.2, 2000),
        ("mesh", "mesh:8x8", "mesh:64x64", 0.03, 1000),
    )
)
