"""LogGOPSim as a baseline: its binary, built from its own source, runs the same message program.

mpinet contains no code of LogGOPSim. `mpinet bench --loggopsim PATH` names the binary.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mpinet.bench.benchmark import Absent, BenchSetting, Round
from mpinet.bench.booksim import printed_by, timed_programs
from mpinet.errors import MpinetError
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.program import Program
from mpinet.programs.messages.writing import write_goal

LOGGOPSIM = "LogGOPSim"

ALL_EAGER = 10**9

ENDS = re.compile(r"^(?:Host|Maximum finishing time at host) (\d+): (\d+)\b", re.MULTILINE)
"""Pattern of hosts and end times in LogGOPSim's output, which has all hosts of up to 16, otherwise
only the last host to finish.
"""


def by_loggopsim(
    setting: BenchSetting, program: Program, costs: Costs, ends: Sequence[int]
) -> Round | Absent:
    """Time LogGOPSim's process on a program without a network, if the binary exists.

    Parameters
    ----------
    setting : BenchSetting
        Names the binary.
    program : Program
        The program. All its messages are eager.
    costs : Costs
        LogGOPS parameters, in nanoseconds.
    ends : sequence of int
        End time of each host in mpinet's run, filled before the round. A round raises `MpinetError`
        if LogGOPSim prints another time.
    """
    if not setting.loggopsim:
        return Absent("give its binary, built from its source: --loggopsim PATH")
    words = ["-L", costs.flat, "-o", costs.overhead, "-O", costs.overhead_byte]
    words += ["-g", costs.gap, "-G", costs.gap_byte, "-S", ALL_EAGER]

    # The binary program is made once. The conversion is not part of any measured time.
    @cache
    def data() -> bytes:
        return binary_of(program, str(Path(setting.loggopsim).with_name("txt2bin")))

    def play() -> float:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "program.bin"
            file.write_bytes(data())
            options = ["-f", str(file), *map(str, words)]
            said, seconds = timed_programs(
                setting,
                lambda: printed_by(setting.loggopsim, options, "PERFORMANCE", LOGGOPSIM),
            )
        # Times are compared only if both simulators agree on the end time of every host.
        require_equal(said, ends)
        return seconds

    return play


def binary_of(program: Program, converter: str) -> bytes:
    """Return a program as binary GOAL, made by LogGOPSim's converter."""
    with TemporaryDirectory() as folder:
        text, binary = Path(folder) / "program.goal", Path(folder) / "program.bin"
        with text.open("wb") as file:
            write_goal(program, file)
        printed_by(converter, ["-i", str(text), "-o", str(binary)], "", "txt2bin")
        if not binary.exists():
            raise MpinetError(f"{converter} wrote no file.")
        return binary.read_bytes()


def require_equal(said: str, ends: Sequence[int]) -> None:
    """Raise `MpinetError` unless LogGOPSim's end times equal mpinet's."""
    found = [(int(host), int(time)) for host, time in ENDS.findall(said)]
    if not found:
        raise MpinetError("LogGOPSim did not print the end times of hosts.")
    last = max(time for _, time in found)
    for host, time in [*found, (int(np.argmax(ends)), last)]:
        if ends[host] != time:
            raise MpinetError(
                f"Host {host} ends at {time} ns in LogGOPSim and at {ends[host]} ns in mpinet."
            )
