"""BookSim 2 as a baseline: its binary, built from its own source, runs the same workload.

mpinet contains no code of BookSim. `mpinet bench --booksim PATH` names the binary.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import TypeVar

from mpinet.bench.benchmark import CLOCKS, Absent, BenchSetting, Round
from mpinet.errors import MpinetError
from mpinet.networks import open as open_topology
from mpinet.networks.topology import Topology

T = TypeVar("T")

BOOKSIM = "BookSim 2"

ROUTERS = """
use_noc_latency = 0; routing_delay = 0; speculative = 1;
vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1; credit_delay = 0;
vc_allocator = islip; sw_allocator = islip; alloc_iters = 1;
injection_process = bernoulli; sim_type = throughput; sim_count = 1;
warmup_periods = 1; max_samples = 2; latency_thres = 1000000000.0;
"""
"""BookSim's settings: routers of two cycles, links of one cycle, two measurement periods, then the
network drains.
"""

ROUTING = {"torus": "dim_order", "mesh": "dor"}
TRAFFIC = {"uniform": "uniform", "adversarial": "bad_dragon"}

PERIOD = "sample_period"


@dataclass(frozen=True)
class Workload:
    """Traffic on a network that both simulators have."""

    network: str
    """Topology string of the network in mpinet."""
    flits: int
    """Number of flits of a message."""
    load: float
    """Offered load in flits per processor and step."""
    steps: int
    """Number of steps, or cycles, in which messages are generated."""
    vcs: int = 2
    """Number of virtual channels of a link."""
    buffers: int = 8
    """Buffer size of each virtual channel, in flits."""
    pattern: str = "uniform"
    """Name of the traffic pattern in mpinet."""
    routing: str | None = None
    """Name of the routing in mpinet; None for the network's first routing."""
    peer: str = ""
    """BookSim's network and routing. Default: a mesh or torus with equal sides."""
    more: str = ""
    """Additional settings of BookSim, which override other settings."""

    def __str__(self) -> str:
        words = [self.network, f"{self.flits} flits", f"load {self.load:g}", f"{self.vcs} VCs"]
        more = [self.pattern] * (self.pattern != "uniform") + [self.routing or ""]
        return ", ".join(word for word in (*words, *more) if word)

    @property
    def topology(self) -> Topology:
        """Return the network."""
        return open_topology(self.network)

    def configuration(self, seed: int) -> str:
        """Return BookSim's settings for the same workload."""
        return (
            f"{self.peer or self._cube()}\n"
            f"traffic = {TRAFFIC[self.pattern]};\n"
            f"num_vcs = {self.vcs}; vc_buf_size = {self.buffers};\n"
            f"packet_size = {self.flits}; injection_rate = {self.load / self.flits!r};\n"
            f"{PERIOD} = {max(1, self.steps // 2)}; seed = {seed};\n{ROUTERS}{self.more}"
        )

    def _cube(self) -> str:
        """Return BookSim's network settings for a mesh or torus with equal sides."""
        family, _, sides = self.network.partition(":")
        lengths = sides.split("x")
        return (
            f"topology = {family}; k = {lengths[0]}; n = {len(lengths)}; "
            f"routing_function = {ROUTING[family]};"
        )

    def flit_hops(self, said: str) -> float:
        """Return the number of link crossings of all flits, from BookSim's output."""
        topology = self.topology
        flits = topology.hosts * self.steps * number_after("Injected flit rate average", said)
        # BookSim counts the routers on a route, including source and target. It does not count
        # links between processors and routers, which are ordinary links of a network with switches.
        beside = 1 if topology.hosts < topology.size else -1
        return flits * (number_after("Hops average", said) + beside)


def number_after(name: str, said: str) -> float:
    """Return the last number printed after a name."""
    found = re.findall(rf"^{name} *=? *([0-9.e+-]+)", said, re.MULTILINE)
    if not found:
        raise MpinetError(f"BookSim did not print its {name.lower()!r}.")
    return float(found[-1])


Ask = Callable[[Workload], tuple[str, float]]
"""Function that returns BookSim's output for a workload, and its seconds."""


def by_booksim(setting: BenchSetting, measured: Callable[[Ask], float]) -> Round | Absent:
    """Measure a figure with BookSim, if its binary exists.

    Parameters
    ----------
    setting : BenchSetting
        Names the binary.
    measured : callable
        Returns the figure. Its argument is a function from a workload to BookSim's output and
        seconds. Wall-clock seconds exclude BookSim's set-up. CPU seconds, which BookSim does not
        print, cover the whole process.
    """
    if not setting.booksim:
        return Absent("give its binary, built from its source: --booksim PATH")

    def ask(workload: Workload) -> tuple[str, float]:
        words = workload.configuration(setting.seed + 1)
        said, seconds = timed_programs(setting, lambda: output_of(setting.booksim, words))
        if setting.clock is not CLOCKS["cpu"]:
            seconds = number_after("Total run time", said)
        return said, seconds

    return lambda: measured(ask)


def timed_programs(setting: BenchSetting, work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of some work, and the seconds of the programs that it starts.

    The seconds are wall-clock or CPU seconds, depending on the setting's clock.
    """
    # The clock of this process excludes its children, so the system's account of children is read.
    before, began = getrusage(RUSAGE_CHILDREN), setting.wall()
    returned = work()
    if setting.clock is not CLOCKS["cpu"]:
        return returned, setting.wall() - began
    used = getrusage(RUSAGE_CHILDREN)
    return returned, used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime


def output_of(binary: str, configuration: str) -> str:
    """Return BookSim's output for a configuration."""
    from tempfile import TemporaryDirectory

    # BookSim reads its settings only from a file.
    with TemporaryDirectory() as folder:
        file = Path(folder) / "workload.cfg"
        file.write_text(configuration)
        # BookSim's exit status is -1 even after success, so the output is checked instead.
        return printed_by(binary, [str(file)], "Total run time", "BookSim")


def printed_by(binary: str, words: list[str], sign: str, name: str) -> str:
    """Return a program's output; raise an error if it lacks `sign`, the sign of success."""
    try:
        ended = subprocess.run(
            [str(Path(binary).resolve()), *words], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise MpinetError(f"{binary} cannot be run: {error.strerror}.") from None
    if sign not in ended.stdout:
        lines = (ended.stderr or ended.stdout).strip().splitlines()
        raise MpinetError(f"{name} failed: {lines[-1] if lines else 'it printed nothing'}")
    return ended.stdout
