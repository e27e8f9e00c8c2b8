"""BookSim 2 as a baseline: its binary, built from its own source, on the same workload.

Nothing of its code is here: the binary is given by `mpinet bench --booksim PATH`.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from mpinet.bench.benchmark import CLOCKS, Absent, Round, Setting, speed
from mpinet.errors import MpinetError

BOOKSIM = "BookSim 2"

ROUTERS = """
use_noc_latency = 0; routing_delay = 0; speculative = 1;
vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1; credit_delay = 0;
vc_allocator = islip; sw_allocator = islip; alloc_iters = 1;
injection_process = bernoulli; sim_type = throughput; sim_count = 1;
warmup_periods = 1; max_samples = 2; latency_thres = 1000000000.0;
"""
"""BookSim's settings: routers of two cycles, links of one; two periods, then the network empties.
"""

ROUTING = {"torus": "dim_order", "mesh": "dor"}


@dataclass(frozen=True)
class Workload:
    """Uniform traffic on a mesh or torus with equal sides.

    Attributes
    ----------
    network : str
        As mpinet names it.
    flits : int
        Flits of a message.
    load : float
        Flits of a processor a step.
    steps : int
        Steps, or cycles, in which messages are generated.
    vcs, buffers : int
        Virtual channels, and flits that the buffer of each holds.
    """

    network: str
    flits: int
    load: float
    steps: int
    vcs: int = 2
    buffers: int = 8

    def __str__(self) -> str:
        return f"{self.network}, {self.flits} flits, load {self.load:g}"

    def configuration(self, seed: int) -> str:
        """Return BookSim's settings for the same workload."""
        family, _, sides = self.network.partition(":")
        lengths = sides.split("x")
        return (
            f"topology = {family}; k = {lengths[0]}; n = {len(lengths)};\n"
            f"routing_function = {ROUTING[family]}; traffic = uniform;\n"
            f"num_vcs = {self.vcs}; vc_buf_size = {self.buffers};\n"
            f"packet_size = {self.flits}; injection_rate = {self.load / self.flits!r};\n"
            f"sample_period = {self.steps // 2}; seed = {seed};\n{ROUTERS}"
        )

    def flit_hops(self, said: str) -> float:
        """Number of flits times links crossed, from BookSim's output."""
        nodes = 1
        for side in self.network.partition(":")[2].split("x"):
            nodes *= int(side)
        flits = nodes * self.steps * number_after("Injected flit rate average", said)
        # Its hops are the routers on the way, the source's and the target's among them.
        return flits * (number_after("Hops average", said) - 1)


def number_after(name: str, said: str) -> float:
    """Return the last number that was printed under a name."""
    found = re.findall(rf"^{name} *=? *([0-9.e+-]+)", said, re.MULTILINE)
    if not found:
        raise MpinetError(f"BookSim did not print its {name.lower()!r}.")
    return float(found[-1])


def by_booksim(setting: Setting, workload: Workload) -> Round | Absent:
    """Measure millions of flit-hops per second of BookSim's run, without its setup.

    By the clock of the processor, which BookSim does not print, the whole process counts.
    """
    if not setting.booksim:
        return Absent("give its binary, built from its source: --booksim PATH")

    def measured() -> float:
        before = getrusage(RUSAGE_CHILDREN)
        said = output_of(setting.booksim, workload.configuration(setting.seed + 1))
        after = getrusage(RUSAGE_CHILDREN)
        seconds = number_after("Total run time", said)
        if setting.clock is CLOCKS["cpu"]:
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return speed(workload.flit_hops(said), seconds)

    return measured


def output_of(binary: str, configuration: str) -> str:
    """Return BookSim's output for a configuration."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder) / "workload.cfg"
        file.write_text(configuration)
        words = [str(Path(binary).resolve()), str(file)]
        try:
            ended = subprocess.run(words, capture_output=True, text=True, check=False)
        except OSError as error:
            raise MpinetError(f"{binary} cannot be run: {error.strerror}.") from None
    # It ends with -1 where all went well, too; what it has printed says whether it did.
    if "Total run time" not in ended.stdout:
        lines = (ended.stderr or ended.stdout).strip().splitlines()
        raise MpinetError(f"BookSim failed: {lines[-1] if lines else 'it printed nothing'}")
    return ended.stdout
