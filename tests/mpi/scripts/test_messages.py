"""A script as a program of messages: what it sends, in which order, and which line does it."""

import io

import pytest
from mpi.machine.ranks import transport
from mpi.scripts.playing import PRELUDE, played

import mpinet
from mpinet.errors import UsageError
from mpinet.machine.timed.layout import CALC, SEND
from mpinet.machine.transport import Local
from mpinet.programs.messages.goal import program_of
from mpinet.programs.messages.writing import write_goal

ALL_KINDS = """
a, b = np.ones(50), np.empty(50)
comm.Allreduce(a, b)
request = comm.Irecv(b, (rank - 1) % size, tag=7)
comm.Send(a, (rank + 1) % size, tag=7)
request.Wait()
comm.sendrecv(rank, (rank + 2) % size, source=(rank - 2) % size)
later = comm.Ibarrier()
comm.isend(rank, rank, tag=3)
comm.recv(source=rank, tag=3)
later.Wait()
half = comm.Split(rank % 2, -rank)
half.bcast("x" * 100)
if rank == 0:
    for _ in range(size - 1):
        comm.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG)
else:
    comm.ssend("y", 0, tag=rank)
unwanted = comm.irecv(source=0, tag=99)
unwanted.Cancel()
"""


def goal_of(traced):
    file = io.BytesIO()
    write_goal(traced.program, file, traced.calls)
    return file.getvalue()


@pytest.mark.parametrize("mapping", ["blocks", "random"])
def test_the_program_sends_what_the_script_has_sent_and_ends(mapping, tmp_path):
    _, found = played(tmp_path, "torus:3x2", ALL_KINDS, mapping=mapping, compute=0)
    _, alone = played(tmp_path, "torus:3x2", ALL_KINDS, where=Local(), compute=0)
    text = goal_of(alone.traced)
    if transport().rank == 0:
        assert goal_of(found.traced) == text
    program = program_of(text)
    sends = program.kind == SEND
    others = sum(account.messages for account in alone.accounts)
    acknowledged = sum(account.calls for account in alone.accounts if account.kind == "ssend")
    result = mpinet.replay(program, on="torus:3x2", latency=5, time_byte=0, overhead=2)
    assert (result.stuck, result.unmatched) == (0, 0)
    assert result.messages == sends.sum() == others - acknowledged + program.processors
    assert result.hops == alone.hops - _hops_of_answers(alone)


def _hops_of_answers(found):
    """Links that the answers to synchronous sends crossed: as many as the sends."""
    return sum(account.hops for account in found.accounts if account.kind == "ssend") // 2


PING = """
for turn in range(10):
    if rank == turn % 2:
        comm.Send(np.ones(8), 1 - rank)
    else:
        comm.Recv(np.empty(8), 1 - rank)
"""


def test_a_ping_goes_out_when_the_one_before_has_come(tmp_path):
    _, found = played(tmp_path, "mesh:2", PING, where=Local(), compute=0)
    result = mpinet.replay(found.traced.program, flat=700, overhead=30, gap_byte=2)
    assert result.time == 10 * (30 + 700 + 63 * 2 + 30)


OVERLAP = """
right, left = (rank + 1) % size, (rank - 1) % size
requests = [comm.Irecv(np.empty(8), left, tag) for tag in range(4)]
for tag in range(4):
    comm.Send(np.ones(8), right, tag)
MPI.Request.Waitall(requests)
comm.Send(np.ones(8), right)
comm.Recv(np.empty(8), left)
"""


def test_what_is_posted_is_waited_for_where_the_script_waits(tmp_path):
    _, found = played(tmp_path, "ring:4", OVERLAP, where=Local(), compute=0)
    result = mpinet.replay(found.traced.program, flat=1000, overhead=30, gap_byte=0)
    begun_together = 4 * 30 + 1000 - 3 * 30 + 4 * 30
    assert result.time <= begun_together + 30 + 1000 + 30


def test_computing_between_calls_is_as_long_as_it_was_times_the_factor(tmp_path):
    script = """
    from time import thread_time_ns
    comm.Barrier()
    until = thread_time_ns() + 3_000_000
    while thread_time_ns() < until:
        pass
    comm.Barrier()
    """
    _, found = played(tmp_path, "mesh:2", script, where=Local(), compute=10)
    program = found.traced.program
    longest = [
        int(program.amount[first:end][program.kind[first:end] == CALC].max())
        for first, end in zip(program.first[:-1], program.first[1:], strict=True)
    ]
    assert all(time >= 30_000_000 for time in longest)


def test_every_operation_names_its_line(tmp_path):
    _, found = played(tmp_path, "mesh:2", PING, where=Local(), compute=0)
    lines = (PRELUDE + PING).splitlines()
    sent, got = (
        1 + next(number for number, line in enumerate(lines) if call in line)
        for call in ("comm.Send(", "comm.Recv(")
    )
    assert {*found.traced.calls} == {f"script.py:{sent} Send", f"script.py:{got} Recv"}


def test_windows_are_refused(tmp_path):
    script = """
    window = MPI.Win.Allocate(8, comm=comm)
    window.Fence()
    window.Put(np.ones(1), 1 - rank)
    window.Fence()
    """
    with pytest.raises(UsageError, match="accesses windows"):
        played(tmp_path, "mesh:2", script, compute=0)


def test_the_command_writes_the_file_and_counts_as_without_it(tmp_path):
    script, file = tmp_path / "script.py", tmp_path / "messages.goal"
    script.write_text("from mpi4py import MPI\nMPI.COMM_WORLD.allreduce(1)\n")
    found = mpinet.exec(script, "hypercube:2", messages=file)
    plain = mpinet.exec(script, "hypercube:2")
    assert (found.steps, found.calls) == (plain.steps, plain.calls)
    if transport().rank == 0:
        assert (program_of(file.read_bytes()).kind == SEND).sum() == found.messages
    with pytest.raises(UsageError, match="--compute does not apply"):
        mpinet.exec(script, "hypercube:2", compute=1)
