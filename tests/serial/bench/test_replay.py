"""Rows of programs in time: they end when the reference says so, and LogGOPSim has to agree."""

import re
from io import BytesIO

import pytest
from mpi.machine.timed_reference import Flat, Routed, play

from mpinet.bench.benchmark import CLOCKS, BenchSetting
from mpinet.bench.catalogue import run_here, select
from mpinet.bench.replay import COSTS, dissemination, ends_of, linear_alltoall
from mpinet.machine.timed.scripted import stored
from mpinet.networks import open as open_topology
from mpinet.programs.messages.regular import halo
from mpinet.programs.messages.writing import write_goal


def referred(program, network=None):
    """When each processor is done by the reference."""
    text, topology = BytesIO(), network and open_topology(network)
    write_goal(stored(program), text)
    links = Routed(topology, COSTS.latencies, COSTS.byte_times) if network else Flat(COSTS.flat)
    costs = {"o": COSTS.overhead, "g": COSTS.gap, "G": COSTS.gap_byte}
    return play(text.getvalue().decode(), links, "cut", **costs)["ends"]


@pytest.mark.parametrize("network", [None, "torus:3x4"])
def test_programs_end_when_the_reference_says(network):
    for program in (dissemination(12), linear_alltoall(12), halo([3, 4], 64, 2)):
        assert ends_of(program, network) == referred(program, network), program.name
        assert (program.counts > 0).all()


SAYS = """#!/bin/sh
test "$1" = -f && grep -q 'num_ranks 16' "$2" && echo "$*" > "$0.words" || exit 1
echo PERFORMANCE: none
{}
"""


def test_loggopsim_plays_the_same_program_and_has_to_end_it_at_the_same_nanosecond(tmp_path):
    binary, converter = tmp_path / "LogGOPSim", tmp_path / "txt2bin"

    def row(*lines, clock="wall"):
        binary.write_text(SAYS.format("\n".join(f"echo '{line}'" for line in lines)))
        binary.chmod(0o755)
        setting = BenchSetting("small", repeat=1, clock=CLOCKS[clock], loggopsim=str(binary))
        return run_here(select(["replay-dissemination"]), setting, lambda *done: None)[0]

    assert re.search(r"txt2bin cannot be run: No such file", row("nothing").error)
    converter.write_text('#!/bin/sh\ncp "$2" "$4"\n')
    converter.chmod(0o755)
    ends = referred(dissemination(16))
    hosts = [f"Host {host}: {time}" for host, time in enumerate(ends)]
    found = row(*hosts)
    assert found.against == "LogGOPSim" and found.ratio == found.figure / found.baseline
    assert found.command.endswith("--size small --loggopsim PATH")
    words = (tmp_path / "LogGOPSim.words").read_text().split(" ", 2)[2]
    assert words == "-L 2500 -o 1500 -O 0 -g 1000 -G 6 -S 1000000000\n"
    last = f"Maximum finishing time at host 3: {max(ends)} (0.1 s)"
    assert ends[3] == max(ends) and row(last, clock="cpu").baseline > 0
    later = f"Host 2: {ends[2] + 1}"
    differs = row(*hosts[:2], later, *hosts[3:]).error
    assert f"Host 2 ends at {ends[2] + 1} ns in LogGOPSim and at {ends[2]} ns" in differs
    assert re.search("did not print the end times", row().error)
    converter.write_text("#!/bin/sh\n")
    assert re.search("txt2bin wrote no file", row(*hosts).error)
    converter.write_text('#!/bin/sh\necho nothing > "$4"\n')
    assert re.search("LogGOPSim failed: it printed nothing", row(*hosts).error)
