"""Programs of messages in time: against LogGOPSim where there is no network, then on a torus.

Both play the same program with the same parameters, in nanoseconds. mpinet's figure is the time
from the program in memory to the result; LogGOPSim's that of its whole process, which maps the
binary file that its own txt2bin has made. It knows no networks with contention.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.bench.benchmark import (
    MPINET,
    Baseline,
    Benchmark,
    Contenders,
    Setting,
    at_most,
)
from mpinet.bench.loggopsim import LOGGOPSIM, by_loggopsim
from mpinet.machine import Machine
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.layout import ANY, CALC, RECV, SEND
from mpinet.machine.timed.program import Program
from mpinet.machine.timed.results import result_of
from mpinet.machine.timed.run import TimedRun
from mpinet.machine.transport import Local
from mpinet.networks import open as open_topology
from mpinet.networks.shortest import neighbor_table
from mpinet.programs.messages.named import made

BYTES = 1000

COSTS = Costs(overhead=1500, gap=1000, gap_byte=6, flat=2500, latencies=(100,), byte_times=(2,))
"""LogGOPSim's own parameters, and links of 100 ns and 500 MB/s for the torus."""

FLAT = "without a network"

SMALL = "torus:4x4"


def dissemination(processors: int) -> Program:
    """Return the program of a dissemination: who has received sends on, twice as far each time."""
    rounds = (processors - 1).bit_length()
    nodes, far = np.arange(processors)[:, None], 1 << np.arange(rounds)
    peers = np.stack([nodes + far, nodes - far], axis=2) % processors
    needs = [[] if number % 2 or not number else [number - 1] for number in range(2 * rounds)]
    return alike([SEND, RECV] * rounds, needs, peers.reshape(processors, -1), "dissemination")


def linear_alltoall(processors: int) -> Program:
    """Return the program in which everybody sends to everybody else, the next one first."""
    return made("alltoall", "linear", BYTES * processors, processors).program


def halo(network: str, rounds: int) -> Program:
    """Return the program in which all processors of a network compute, then tell neighbours."""
    ports = neighbor_table(open_topology(network))
    ways = ports.shape[1]
    kinds = [CALC, *[SEND] * ways, *[RECV] * ways] * rounds
    needs: list[list[int]] = []
    for first in range(0, len(kinds), 1 + 2 * ways):
        needs += [[*range(max(0, first - ways), first)], *[[first]] * ways, *[[]] * ways]
    none = np.full((len(ports), 1), ANY)
    return alike(kinds, needs, np.tile(np.hstack([none, ports, ports]), rounds), "halo")


def alike(kinds: Sequence[int], needs: Sequence[Sequence[int]], peers: Ints, name: str) -> Program:
    """Return a program in which processors differ by their peers alone.

    Parameters
    ----------
    kinds : sequence of int
        Of each operation; each has `BYTES`, or takes as many nanoseconds.
    needs : sequence of sequence of int
        What each operation requires.
    peers : ndarray of int, shape (processors, operations)
        With whom.
    """
    processors, each = peers.shape
    rows = processors * each
    needed = np.tile(np.array([len(many) for many in needs]), processors)
    numbers = np.array([2 * number for many in needs for number in many], np.int64)
    return Program(
        np.arange(processors + 1) * each,
        np.tile(np.array(kinds, np.int8), processors), np.full(rows, BYTES),
        peers.ravel().astype(np.int32), np.zeros(rows, np.int32), np.zeros(rows, np.uint32),
        np.concatenate([[0], np.cumsum(needed)]), np.tile(numbers, processors),
        np.zeros(rows, np.int64), name,
    )  # fmt: skip


def make_run(program: Program, network: str | None, transport: Local | None = None) -> TimedRun:
    """Make a run of a program on a network; None: without one."""
    topology = open_topology(network or f"complete:{max(2, program.processors)}")
    routing = topology.routing() if network else None
    return TimedRun(Machine(topology, "all", transport or Local()), program, COSTS, routing)


def playing(setting: Setting, size: int | str, make: Callable[[int], Program]) -> Contenders:
    """Compare mpinet and LogGOPSim on so many hosts, or a network with the same hosts without."""
    network = size if isinstance(size, str) else None
    program = make(open_topology(size).hosts if isinstance(size, str) else size)
    ends: list[int] = []

    def play(on: str | None) -> float:
        began = setting.clock()
        ends[:] = ends_of(program, on)
        return setting.clock() - began

    ours = {MPINET: partial(play, network)}
    if network:
        return {**ours, FLAT: partial(play, None)}
    return {**ours, LOGGOPSIM: by_loggopsim(setting, program, COSTS, ends)}


def ends_of(program: Program, network: str | None) -> list[int]:
    """Play a program; return when each processor is done, in nanoseconds."""
    found: list[int] = result_of(make_run(program, network).run())["ends"]
    return found


BENCHMARKS = tuple(
    Benchmark(
        f"replay-{name}",
        f"{words} of {BYTES:,} bytes on {{}}",
        "s",
        {"small": small, "full": full},
        partial(playing, make=make),
        (Baseline(against, at_most(seconds)),),
        most_rounds=3,
    )
    for name, words, make, small, full, against, seconds in (
        ("dissemination", "dissemination", dissemination, 16, 1 << 16, LOGGOPSIM, 1),
        ("alltoall", "linear alltoall", linear_alltoall, 16, 512, LOGGOPSIM, 1),
        ("dissemination-torus", "dissemination", dissemination, SMALL, "torus:256x256", FLAT, 3),
        ("alltoall-torus", "linear alltoall", linear_alltoall, SMALL, "torus:16x32", FLAT, 3),
    )
)
