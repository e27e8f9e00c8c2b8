"""Messages have bytes, so a run in time needs to be told what a byte costs."""

import networkx
import pytest

import mpinet
from mpinet.cli.commands import parse
from mpinet.errors import UsageError
from mpinet.jobs import module_of
from mpinet.machine.timed.program import Builder
from mpinet.machine.transport import world

GRAPH = "a b latency=30ns\nb c latency=40ns\n"

UNTOLD = [
    "replay allreduce:ring,1MB --on ring:4",
    "replay allreduce:ring,1MB --on ring:4 --latency 3 --overhead 5 --gap 7",
    "replay allreduce:ring,1MB,processors=4 --flat 1us",
    "replay exchange:halo,1kB --on ring:4",
    "replay allreduce:ring,1kB --vary on=ring:4 --vary on=complete:4",
    "tune allreduce --on torus:4x4 --bytes 1..1MB --overhead 500 --latency 100",
    "tune allreduce --on ring:4 --bytes 1MB",
    "tune broadcast --flat 1us --processors 8",
]


def prepared(line):
    """The job of a command line."""
    options = parse(line.split())
    return module_of(options.command).prepare(options)


@pytest.mark.parametrize("line", UNTOLD)
def test_bytes_without_a_cost_are_refused_with_a_command_that_works(line):
    with pytest.raises(UsageError, match="The cost of a byte is missing") as refused:
        prepared(line)
    sentence, _, command = str(refused.value).partition(", as in mpinet ")
    assert "\n" not in sentence and "--machine" in command
    job = prepared(command + (" --bytes 8" if command.startswith("tune") else ""))
    assert job.run(world(), lambda *done: None)


def test_a_time_per_byte_on_links_is_no_cost_where_there_are_no_links():
    with pytest.raises(UsageError, match="give --gap-byte"):
        mpinet.replay("broadcast:linear,8,processors=2", flat=10, time_byte=2)


@pytest.mark.parametrize(
    "costs",
    [
        {"on": "complete:2", "time_byte": 0},
        {"on": "complete:2", "gap_byte": 0},
        {"on": "complete:2", "overhead_byte": 0},
        {"flat": 1, "gap_byte": 0},
    ],
)
def test_a_cost_of_nothing_is_a_cost(costs):
    assert mpinet.replay("broadcast:linear,8,processors=2", **costs).time == 1


def test_a_graph_says_what_a_byte_costs_if_its_edges_have_bandwidths(tmp_path):
    file = tmp_path / "net.edges"
    file.write_text(GRAPH)
    with pytest.raises(UsageError, match="The cost of a byte is missing"):
        mpinet.replay("broadcast:chain,300", on=f"graph:{file}")
    file.write_text(GRAPH.replace("ns\n", "ns time_byte=300GB/s\n"))
    # Each processor sends on what it has got: 300 bytes take 1 ns on either link.
    assert mpinet.replay("broadcast:chain,300", on=f"graph:{file}").time == 30 + 1 + 40 + 1
    graph = networkx.path_graph(2)
    graph.edges[0, 1].update(latency="30ns", time_byte="600GB/s")
    assert mpinet.replay("broadcast:linear,900", on=graph).time == 31.5


def test_computing_needs_no_cost_of_bytes():
    program = Builder(2)
    program.calc(1, 17)
    assert mpinet.replay(program.done(), on="complete:2").time == 17


def test_machines_with_other_units_are_compared_in_a_unit_that_is_given():
    program, machines = "broadcast:linear,1001,processors=2", ["machine=now", "machine=loggopsim"]
    with pytest.raises(UsageError, match=r"ps and ns\..* --unit ns"):
        mpinet.replay(program, vary=machines)
    now, other = mpinet.replay(program, vary=machines, unit="ns").settings
    # 1,000 further bytes at 26,316 ps, and at 6 ns; twice the overhead, and the latency.
    assert (now.time, other.time) == (26_316 + 2 * 2900 + 5000, 6000 + 2 * 1500 + 2500)
    assert (now.best, other.best) == (False, True)
