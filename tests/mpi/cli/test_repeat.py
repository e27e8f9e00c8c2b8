"""``mpinet exec`` with ``--repeat``, ``--sends BYTES`` and ``--clock``."""

import pytest
from mpi.machine.ranks import everyone, transport

from mpinet.cli.commands import parse
from mpinet.errors import Deadlock, MpinetError, UsageError
from mpinet.jobs import module_of
from mpinet.mpi.checks.findings import CheckedEnd

pytestmark = pytest.mark.mpi

CORRECT = """
import os

from mpi4py import MPI

os.write(1, b"past Python's output\\n")  # is no part of what a repetition sends back
comm = MPI.COMM_WORLD
comm.bcast({"alpha", "beta", "gamma", "delta"})  # the same set, however it is ordered
if comm.rank == 0:
    comm.bcast(sum(comm.recv() for _ in range(comm.size - 1)))
else:
    comm.send(comm.rank, 0)
    comm.bcast(None)
"""

BY_HASHES = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
names = [f"name {number}" for number in range(50)]
first = next(iter(set(names)))
comm.bcast(first)
"""

BY_ORDER = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    found = [comm.recv() for _ in range(comm.size - 1)]
    if found[0] == 1:
        comm.send(None, 1)
    else:
        comm.ssend(None, 1)
else:
    comm.send(comm.rank, 0)
    if comm.rank == 1:
        comm.recv(source=0)
"""

BY_LUCK = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.rank == 0:
    if comm.recv() != 1:
        comm.recv(source=3)
elif comm.rank < 3:
    comm.send(comm.rank, 0)
"""


def result(folder, script, *options):
    """The job and its result on all ranks."""
    file = folder / "script.py"
    file.write_text(script)
    job = module_of("exec").prepare(parse(["exec", "--on", "complete:4", *options, str(file)]))
    return job, everyone(job.run(transport(), lambda *_: None))[0]


def test_runs_of_a_correct_program_are_the_same(tmp_path):
    job, row = result(tmp_path, CORRECT, "--check", "--repeat", "4")
    assert row["repeated"] == {"runs": 4, "outcome": "same", "seed": 3, "difference": ""}
    assert row["findings"] == [] and job.status(row) == 0


@pytest.mark.parametrize(
    ("script", "outcome", "sentence"),
    [
        (BY_HASHES, "messages", "Processor 0 sends another message in bcast at script.py:7 than"),
        (
            BY_ORDER,
            "calls",
            "Processor 0 calls ssend at script.py:10; in the first run it calls send at",
        ),
        (BY_LUCK, "deadlock", "script.py:7: waits in recv"),
    ],
    ids=["hashes", "order", "deadlock"],
)
def test_the_first_difference_is_named_by_its_line(tmp_path, script, outcome, sentence):
    job, row = result(tmp_path, script, "--check", "--repeat", "20")
    found = row["repeated"]
    assert found["outcome"] == outcome and 2 <= found["runs"] < 20
    assert sentence in found["difference"]
    assert found["seed"] == found["runs"] - 1
    assert job.status(row) == (3 if outcome == "deadlock" else 1)
    assert f"--arrivals random --seed {found['seed']}" in job.shortfall(row)


def test_a_named_run_ends_in_the_same_way_again(tmp_path):
    _, row = result(tmp_path, BY_LUCK, "--check", "--repeat", "20")
    again = "--arrivals", "random", "--seed", str(row["repeated"]["seed"])
    with pytest.raises(Deadlock, match=r"script\.py:7: waits in recv"):
        result(tmp_path, BY_LUCK, *again)


def test_a_failure_in_the_first_of_all_orders_names_the_order_and_the_count(tmp_path):
    script = BY_LUCK.replace("comm.recv() != 1", "comm.recv() == 1")
    for options in ([], ["--check"]):
        with pytest.raises(MpinetError) as caught:
            result(tmp_path, script, "--arrivals", "all", *options)
        assert "first of all orders: 1 run. Repeat it with: --arrivals 0:0" in str(caught.value)
    with pytest.raises((Deadlock, CheckedEnd)):
        result(tmp_path, script, "--arrivals", "0:0")


CROSSING = """
from mpi4py import MPI

comm = MPI.COMM_WORLD
other = comm.size - 1 - comm.rank
comm.Send(bytearray(64_000), other)
comm.Recv(bytearray(64_000), other)
"""


@pytest.mark.parametrize(("size", "waits"), [("63999", True), ("64kB", False), ("65kB", False)])
def test_messages_above_a_size_wait_for_their_receives(tmp_path, size, waits):
    if waits:
        with pytest.raises(Deadlock, match=r"script\.py:6: waits in Send"):
            result(tmp_path, CROSSING, "--sends", size)
    else:
        _, row = result(tmp_path, CROSSING, "--sends", size)
        assert row["messages"] == 4


def test_the_check_of_sends_and_the_option_apply_together(tmp_path):
    larger = CROSSING.replace("64_000", "65_537")
    with pytest.raises(CheckedEnd, match="waits in Send"):
        result(tmp_path, larger, "--check", "--sends", "1MB")
    with pytest.raises(CheckedEnd, match="waits in Send"):
        result(tmp_path, CROSSING, "--check", "--no-check", "sends", "--sends", "1kB")
    _, row = result(tmp_path, larger, "--check", "--no-check", "sends")
    assert row["messages"] == 4


def test_a_run_with_measured_time_is_marked(tmp_path):
    job, row = result(tmp_path, CROSSING, "--clock", "cpu")
    assert row["clock"] == "cpu" and "not reproducible" in job.show(row)
    job, row = result(tmp_path, CROSSING)
    assert "clock" not in row and "reproducible" not in job.show(row)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--repeat", "3"], "--repeat applies only with --check."),
        (["--check", "--repeat", "1"], "--repeat is 2..1000 runs, not 1."),
        (["--check", "--repeat", "2", "--arrivals", "all"], "--repeat does not apply with"),
        (["--sends", "later"], "--sends is buffered, synchronous, or a size such as 64kB, not"),
        (["--sends", "0"], "--sends is buffered, synchronous, or a size such as 64kB, not '0'."),
    ],
)
def test_impossible_options_are_refused(tmp_path, words, sentence):
    with pytest.raises(UsageError) as caught:
        result(tmp_path, CROSSING, *words)
    assert str(caught.value).startswith(sentence)
