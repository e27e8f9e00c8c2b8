"""Message programs in simulated time: compared with LogGOPSim without a network, then on a torus.

Both simulators run the same program with the same parameters in nanoseconds. mpinet's figure is the
time from the program in memory to the result. LogGOPSim's figure is the time of its whole process,
which maps the binary file made by its own txt2bin. LogGOPSim has no networks with contention.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, Goal
from mpinet.bench.loggopsim import LOGGOPSIM, by_loggopsim
from mpinet.machine import Machine
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.program import Program
from mpinet.machine.timed.results import result_of
from mpinet.machine.timed.run import TimedRun
from mpinet.machine.timed.scripted import Scripted, stored
from mpinet.machine.transport import Local
from mpinet.networks import open as open_topology
from mpinet.programs.messages import regular
from mpinet.programs.messages.named import made

BYTES = 1000

COSTS = Costs(overhead=1500, gap=1000, gap_byte=6, flat=2500, latencies=(100,), byte_times=(2,))
"""LogGOPSim's default parameters, with links of 100 ns and 500 MB/s for the torus."""

FLAT = "without a network"

SMALL = "torus:4x4"


def dissemination(processors: int) -> Scripted:
    """Return a dissemination program: in each round, processors send twice as far as before."""
    return regular.dissemination(processors, BYTES)


def linear_alltoall(processors: int) -> Program:
    """Return an all-to-all program, in which each processor sends to the next one first."""
    return made("alltoall", "linear", BYTES * processors, processors).program


def make_run(
    program: Program | Scripted, network: str | None, transport: Local | None = None
) -> TimedRun:
    """Make a run of a program on a network; without contention if `network` is None."""
    # Without a network all pairs are neighbours, as in LogGOPSim's model.
    topology = open_topology(network or f"complete:{max(2, program.processors)}")
    routing = topology.routing() if network else None
    return TimedRun(Machine(topology, "all", transport or Local()), program, COSTS, routing)


def playing(
    setting: BenchSetting, size: int | str, make: Callable[[int], Program | Scripted]
) -> Contenders:
    """Compare mpinet and LogGOPSim on hosts without a network, or on as many of a network."""
    network = size if isinstance(size, str) else None
    program = make(open_topology(size).hosts if isinstance(size, str) else size)
    ends: list[int] = []

    def play(on: str | None) -> float:
        began = setting.clock()
        ends[:] = ends_of(program, on)
        return setting.clock() - began

    # With a network, `ends` must come from the run without a network, because LogGOPSim has none.
    beside = {FLAT: partial(play, None)} if network else {}
    theirs = by_loggopsim(setting, stored(program), COSTS, ends)
    return Contenders(partial(play, network), {**beside, LOGGOPSIM: theirs})


def ends_of(program: Program | Scripted, network: str | None) -> list[int]:
    """Run a program and return the end time of each processor, in nanoseconds."""
    found: list[int] = result_of(make_run(program, network).run())["ends"]
    return found


DISSEMINATION, ALLTOALL = 1.8, 31
"""Seconds that LogGOPSim took without a network on the machine where the goals were set."""


def baselines(size: int | str, ratio: float) -> tuple[Baseline, ...]:
    """Return the baselines of a row; the goal is a multiple of LogGOPSim's time."""
    beside = (Baseline(FLAT),) if isinstance(size, str) else ()
    return (*beside, Baseline(LOGGOPSIM, Goal("ratio", "<=", round(ratio, 3))))


BENCHMARKS = tuple(
    Benchmark(
        f"replay-{name}",
        f"{words} of {BYTES:,} bytes on {{}}",
        "s",
        {"small": small, "full": full},
        partial(playing, make=make),
        baselines(full, ratio),
        most_rounds=3,
    )
    for name, words, make, small, full, ratio in (
        ("dissemination", "dissemination", dissemination, 16, 1 << 16, 1 / DISSEMINATION),
        ("alltoall", "linear alltoall", linear_alltoall, 16, 512, 1 / ALLTOALL),
        ("dissemination-torus", "dissemination", dissemination, SMALL, "torus:256x256",
         3 / DISSEMINATION),
        ("alltoall-torus", "linear alltoall", linear_alltoall, SMALL, "torus:16x32", 3 / ALLTOALL),
    )
)  # fmt: skip
