"""mpi4py scripts on emulated processors: messages per second, with all machine steps."""

from __future__ import annotations

from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, Goal
from mpinet.bench.threads import THREADS, run_bare
from mpinet.machine import Machine

PROCESSORS = 1000

WORLD = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
"""

RING = """
def main():
    size, rank = comm.size, comm.rank
    left, right = (rank - 1) % size, (rank + 1) % size
    for k in range({rounds}):
        {exchange}

main()
"""

EXCHANGES = {
    "ring": "comm.send(k, dest=right); comm.recv(source=left)",
    "shift": "comm.sendrecv(k, dest=right, source=left)",
}
"""Code of each processor of the ring in a round, by name."""


def messages_of_both(setting: BenchSetting, work: tuple[str, int]) -> Contenders:
    """Measure thousands of messages per second, on an emulated ring and between bare threads."""
    from mpinet.mpi import source
    from mpinet.mpi.script import run_script

    exchange, rounds = work
    text = RING.format(rounds=rounds, exchange=EXCHANGES[exchange])
    # Both run the same text. The baseline differs only in the communicator.
    script, bare = source.line(WORLD + text), compile(text, exchange, "exec")

    def run_on_machine() -> None:
        run_script(Machine(f"ring:{PROCESSORS}", "one", setting.transport), script)

    def thousands(seconds: float) -> float:
        return PROCESSORS * rounds / seconds / 1e3

    return Contenders(
        lambda: thousands(setting.seconds(run_on_machine)),
        {THREADS: lambda: thousands(setting.seconds(lambda: run_bare(bare, PROCESSORS)))},
    )


BENCHMARKS = tuple(
    Benchmark(
        f"scripts-{name}",
        f"{exchange} on ring:{PROCESSORS}, {{0[1]}} rounds",
        "k messages/s",
        {"small": (name, 2), "full": (name, 300)},
        messages_of_both,
        (Baseline(THREADS, Goal("ratio", ">=", 0.4)),),
        scripts=True,
    )
    for name, exchange in EXCHANGES.items()
)
