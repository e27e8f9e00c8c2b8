"""mpi4py scripts on emulated processors: messages per second, with all machine steps."""

from __future__ import annotations

from typing import NamedTuple

from mpinet.bench.benchmark import Baseline, Benchmark, BenchSetting, Contenders, Goal
from mpinet.bench.threads import THREADS, run_bare
from mpinet.machine import Machine
from mpinet.networks.catalogue import open_topology

WORLD = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
"""

SCRIPT = """
import numpy as np

def main():
    size, rank = comm.size, comm.rank
    left, right, side = (rank - 1) % size, (rank + 1) % size, round(size**0.5)
    row, column = rank - rank % side, rank % side
    near = [row + (column - 1) % side, row + (column + 1) % side]
    near += [(rank - side) % size, (rank + side) % size]
    own, got, halos = np.zeros(8), np.zeros(8), np.zeros((4, 8))
    wide = (size, 8) if {rows} else (0, 8)
    table, into = np.zeros(wide), np.zeros(wide)
    wait_all = comm.wait_all if hasattr(comm, "wait_all") else MPI.Request.Waitall
    for k in range({rounds}):
        {exchange}

main()
"""

ARRAYS = """wait_all(
            [comm.Irecv(halos[way], near[way], way) for way in range(4)]
            + [comm.Isend(own, near[way], way ^ 1) for way in range(4)]
        )"""


class Exchange(NamedTuple):
    """Exchange of messages between all processors in a round."""

    code: str
    """Code of each processor."""
    goal: float
    """Least ratio to bare threads."""
    network: str = "ring:1000"
    messages: int = 1000
    """Messages of a round."""
    rounds: int = 300
    """Rounds at full size."""


EXCHANGES = {
    "ring": Exchange("comm.send(k, dest=right); comm.recv(source=left)", 0.4),
    "shift": Exchange("comm.sendrecv(k, dest=right, source=left)", 0.4),
    "arrays": Exchange("comm.Sendrecv(own, right, 0, got, left)", 0.5),
    "halo": Exchange(ARRAYS, 0.4, "torus:32x32", 4096, 60),
    "alltoall": Exchange("comm.Alltoall(table, into)", 0.15, "torus:16x16", 65280, 3),
    "bcast": Exchange("comm.Bcast(own)", 0.04, "complete:4", 3, 3000),
}
"""Exchanges by name."""


def messages_of_both(setting: BenchSetting, work: tuple[str, int]) -> Contenders:
    """Measure thousands of messages per second, on an emulated ring and between bare threads."""
    from mpinet.mpi import source
    from mpinet.mpi.script import run_script

    name, rounds = work
    exchange = EXCHANGES[name]
    topology = open_topology(exchange.network)
    rows = name == "alltoall"
    text = SCRIPT.format(rounds=rounds, exchange=exchange.code, rows=rows)
    # Both run the same text. The baseline differs only in the communicator.
    script, bare = source.line(WORLD + text), compile(text, name, "exec")

    def run_on_machine() -> None:
        run_script(Machine(topology, "one", setting.transport), script)

    def thousands(seconds: float) -> float:
        return exchange.messages * rounds / seconds / 1e3

    return Contenders(
        lambda: thousands(setting.seconds(run_on_machine)),
        {THREADS: lambda: thousands(setting.seconds(lambda: run_bare(bare, topology.size)))},
    )


BENCHMARKS = tuple(
    Benchmark(
        f"scripts-{name}",
        f"{name} on {exchange.network}, {{0[1]}} rounds",
        "k messages/s",
        {"small": (name, 2), "full": (name, exchange.rounds)},
        messages_of_both,
        (Baseline(THREADS, Goal("ratio", ">=", exchange.goal)),),
        scripts=True,
    )
    for name, exchange in EXCHANGES.items()
)
