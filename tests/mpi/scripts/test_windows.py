"""Windows: what accesses do, what they cost, and what is said of those that cannot be."""

import numpy as np
import pytest
from mpi.scripts.playing import played

from mpinet.errors import Deadlock, ProgramError

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize("network", ["ring:5", "complete:1", "hypercube:3"])
def test_puts_between_fences_transpose_a_matrix(tmp_path, network):
    script = """
        row, column = np.arange(size) + 100 * rank, np.zeros(size, int)
        window = MPI.Win.Create(column, 8, comm=comm)
        window.Fence()
        for other in range(size):
            window.Put(row[other:other + 1], other, rank)
        window.Fence()
        say(column.tolist())
        window.Free()
        say(bool(window))
    """
    said, outcome = played(tmp_path, network, script)
    size = outcome.processors
    matrix = np.arange(size) + 100 * np.arange(size)[:, None]
    assert said == {rank: [matrix[:, rank].tolist(), False] for rank in range(size)}
    assert outcome.unreceived == 0
    for puts in [each for each in outcome.accounts if each.kind == "Put"]:  # rank 0's
        assert (puts.calls, puts.messages) == (size * size, size * (size - 1))
        assert puts.sent == 8 * puts.messages


def test_a_get_crosses_the_links_there_and_back(tmp_path):
    script = """
        window = MPI.Win.Create(np.array([7.0 + rank]), 8, comm=comm)
        value = np.zeros(1)
        window.Fence()
        if rank == 0:
            window.Get(value, 3)
        window.Fence()
        say(float(value[0]))
    """
    said, outcome = played(tmp_path, "mesh:4", script)
    assert said == {rank: [10.0 if rank == 0 else 0.0] for rank in range(4)}
    for get in [each for each in outcome.accounts if each.kind == "Get"]:  # rank 0's
        assert (get.messages, get.hops, get.sent) == (2, 6, 8)
        assert get.steps >= 6


@pytest.mark.parametrize("packet", [None, 8])
def test_accesses_of_one_origin_act_in_their_order(tmp_path, packet):
    """Long messages take more packets, so that short ones overtake them."""
    script = """
        memory = np.zeros(8, int)
        window = MPI.Win.Create(memory, 8, comm=comm)
        got = np.zeros(1, int)
        window.Lock_all()
        target = (rank + size // 2) % size
        for value in range(20):
            window.Accumulate(np.full(8 - value % 8, value), target, op=MPI.REPLACE)
        window.Fetch_and_op(got.copy(), got, target, 0, MPI.NO_OP)
        window.Unlock_all()
        comm.Barrier()
        say(memory.tolist())
        say(int(got[0]))
    """
    said, _ = played(tmp_path, "hypercube:3", script, packet=packet)
    expected = np.zeros(8, int)
    for value in range(20):
        expected[: 8 - value % 8] = value
    assert said == {rank: [expected.tolist(), 19] for rank in range(8)}


def test_a_counter_gives_every_number_once(tmp_path):
    script = """
        window = MPI.Win.Allocate(8 * (rank == 0), 8, comm=comm)
        got, one = np.zeros(1, int), np.ones(1, int)
        for _ in range(4):
            window.Lock(0, MPI.LOCK_SHARED)
            window.Fetch_and_op(one, got, 0)
            window.Unlock(0)
            say(int(got[0]))
    """
    said, _ = played(tmp_path, "torus:3x3", script)
    assert sorted(value for values in said.values() for value in values) == list(range(36))


def test_an_exclusive_lock_keeps_all_others_out(tmp_path):
    """Read, think and write under the lock: no increment is lost."""
    script = """
        window = MPI.Win.Allocate(8, 8, comm=comm)
        value = np.zeros(1, int)
        for _ in range(3):
            window.Lock(2)
            window.Get(value, 2)
            window.Flush(2)
            comm.sendrecv(0, rank, source=rank)
            window.Put(value + 1, 2)
            window.Unlock(2)
        comm.Barrier()
        say(int(np.frombuffer(window, int)[0]))
    """
    said, _ = played(tmp_path, "ring:5", script)
    assert said == {rank: [15 if rank == 2 else 0] for rank in range(5)}


def test_more_shared_memory_than_there_can_be_is_refused(tmp_path):
    script = """
        try:
            MPI.Win.Allocate_shared(2**62, comm=comm)
        except MPI.Exception as error:
            say(error.Get_error_class() == MPI.ERR_SIZE)
    """
    said, _ = played(tmp_path, "complete:4", script)
    assert said == {rank: [True] for rank in range(4)}


def test_memory_is_shared_by_all_members_of_a_shared_window(tmp_path):
    script = """
        window = MPI.Win.Allocate_shared(8 * (rank + 1), 8, comm=comm)
        parts = [np.frombuffer(window.Shared_query(each)[0], int) for each in range(size)]
        window.Fence()
        for part in parts:
            part[:1] += 0
        parts[(rank + 1) % size][0] = rank
        window.Fence()
        say([int(part[0]) for part in parts])
        say([len(part) for part in parts])
        window.Free()
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == {rank: [[3, 0, 1, 2], [1, 2, 3, 4]] for rank in range(4)}


def test_a_processor_that_waits_for_its_memory_to_change_lets_others_run(tmp_path):
    script = """
        window = MPI.Win.Allocate(8, 8, comm=comm)
        flag = np.frombuffer(window, int)
        window.Lock_all()
        if rank:
            while not flag[0]:
                window.Sync()
        if rank + 1 < size:
            window.Accumulate(np.array([rank + 1]), rank + 1, op=MPI.REPLACE)
        window.Unlock_all()
        say(int(flag[0]))
    """
    said, _ = played(tmp_path, "mesh:5", script)
    assert said == {rank: [rank] for rank in range(5)}


# ---- what is said of what cannot be


def test_a_lock_that_nobody_gives_back_is_a_deadlock_that_names_both_lines(tmp_path):
    script = """
        window = MPI.Win.Allocate(8, 8, comm=comm)
        if rank == 1:
            window.Lock(0)
            comm.Barrier()
            comm.recv(source=2)
        else:
            comm.Barrier()
            if rank == 2:
                window.Lock(0)
    """
    with pytest.raises(Deadlock) as error:
        played(tmp_path, "ring:3", script)
    told = str(error.value)
    assert "2 wait for one another in a cycle" in told
    assert "script.py:19: waits in Lock" in told
    assert "for the lock of rank 0, held by rank 1 since" in told
    assert told.rstrip().endswith("script.py:13")


def test_a_fence_that_not_all_reach_is_a_deadlock_that_names_both_lines(tmp_path):
    script = """
        window = MPI.Win.Allocate(8, 8, comm=comm)
        if rank:
            window.Fence()
        else:
            comm.recv(source=1)
    """
    with pytest.raises(Deadlock) as error:
        played(tmp_path, "ring:3", script)
    assert "script.py:13: waits in Fence" in str(error.value)
    assert "script.py:15: waits in recv" in str(error.value)


def test_a_spin_in_vain_is_starvation(tmp_path):
    script = """
        window = MPI.Win.Allocate(8, 8, comm=comm)
        flag = np.frombuffer(window, int)
        window.Lock_all()
        while not flag[0] and rank == 0:
            window.Sync()
        comm.Barrier()
    """
    with pytest.raises(Deadlock, match=r"(?s)Starvation .* polls in Sync"):
        played(tmp_path, "ring:3", script)


WRONG = {
    "window.Put(np.zeros(1), 0)": "ERR_RMA_SYNC",
    "window.Unlock(0)": "ERR_RMA_SYNC",
    "window.Complete()": "ERR_RMA_SYNC",
    "window.Lock(size)": "ERR_RANK",
    "window.Lock(0, 12345)": "ERR_LOCKTYPE",
    "window.Fence(); window.Put(np.zeros(3), 0)": "ERR_RMA_RANGE",
    "window.Fence(); window.Get(np.zeros(1), 0, 2)": "ERR_RMA_RANGE",
    "window.Fence(); window.Put(np.zeros(1), 0, -1)": "ERR_DISP",
    "window.Fence(); window.Accumulate(np.zeros(1), 0, op=MPI.BAND)": "ERR_OP",
    "window.Fence(); window.Put(np.zeros(1), 0, [0, 2, MPI.DOUBLE])": "ERR_TRUNCATE",
    "window.Attach(bytearray(3))": "ERR_RMA_FLAVOR",
    "MPI.WIN_NULL.Fence()": "ERR_WIN",
    "MPI.Win.Allocate(-1, comm=comm)": "ERR_SIZE",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_raises_the_error_of_its_kind(tmp_path, wrong):
    script = f"""
        window = MPI.Win.Allocate(16, 8, comm=comm)
        try:
            {wrong}
        except MPI.Exception as error:
            say(error.Get_error_class() == MPI.{WRONG[wrong]})
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {rank: [True] for rank in range(3)}


def test_memory_that_is_not_attached_cannot_be_accessed(tmp_path):
    script = """
        window = MPI.Win.Create_dynamic(comm=comm)
        memory = np.zeros(2)
        window.Attach(memory)
        place = comm.bcast(MPI.Get_address(memory))
        window.Lock_all()
        window.Put(np.ones(1), 0, place + 16 * rank)
        try:
            window.Flush(0)
            say("done")
        except MPI.Exception as error:
            say(error.Get_error_class() == MPI.ERR_RMA_RANGE)
        window.Unlock_all()
        comm.Barrier()
        say(memory.tolist())
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {0: ["done", [1.0, 0.0]], **{rank: [True, [0.0, 0.0]] for rank in (1, 2)}}


ACCESSES = {
    "two puts": ("window.Put(a, 0)", "window.Put(a, 0)", ["a put and a put"]),
    "puts apart": ("window.Put(a, 0, 0)", "window.Put(a, 0, 1)", []),
    "a put and a get": ("window.Put(a, 0, 1)", "window.Get(b, 0)", ["a put and a get"]),
    "two gets": ("window.Get(a, 0)", "window.Get(b, 0)", []),
    "two sums": ("window.Accumulate(a, 0)", "window.Accumulate(a, 0)", []),
    "two operators": (
        "window.Accumulate(a, 0)",
        "window.Accumulate(a, 0, op=MPI.MAX)",
        ["an accumulate and an accumulate"],
    ),
    "a sum and a read": (
        "window.Accumulate(a, 0)",
        "window.Fetch_and_op(a, a.copy(), 0, 0, MPI.NO_OP)",
        [],
    ),
}


@pytest.mark.parametrize("case", ACCESSES)
@pytest.mark.parametrize("between", ["", "window.Fence()"])
def test_accesses_to_the_same_bytes_in_one_epoch_conflict_as_the_standard_says(
    tmp_path, case, between
):
    first, other, expected = ACCESSES[case]
    script = f"""
        a, b = np.zeros(1), np.zeros(2)
        window = MPI.Win.Allocate(16, 8, comm=comm)
        window.Fence()
        if rank == 1:
            {first}
        {between or "pass"}
        if rank == 2:
            {other}
        window.Fence()
    """
    _, outcome = played(tmp_path, "mesh:3", script)
    if outcome.accounts:  # rank 0's
        found = [sorted(each.said.split(" and ")) for each in outcome.conflicts]
        assert found == ([] if between else [sorted(said.split(" and ")) for said in expected])


def test_accesses_under_locks_conflict_until_they_are_known_to_be_done(tmp_path):
    script = """
        a = np.ones(1)
        window = MPI.Win.Allocate(16, 8, comm=comm)
        window.Lock_all()
        if rank == 1:
            window.Put(a, 0)
            window.Flush(0)
        comm.Barrier()
        if rank == 2:
            window.Get(a, 0)
            window.Flush(0)
        comm.Barrier()
        if rank:
            window.Put(a, 0, 1)
        comm.Barrier()
        window.Unlock_all()
    """
    _, outcome = played(tmp_path, "mesh:3", script)
    if outcome.accounts:  # rank 0's
        assert [(each.first.line, each.other.line, each.target) for each in outcome.conflicts] == [
            (23, 23, 0)
        ]


def test_a_failing_script_names_its_line(tmp_path):
    with pytest.raises(ProgramError, match=r"script.py:10 in <module>: Exception: .*RMA_SYNC"):
        played(tmp_path, "ring:3", "MPI.Win.Allocate(8, comm=comm).Put(np.zeros(1), 0)")
