"""Checks of MPI calls: each rule has a script that breaks it, and a script that keeps it."""

import pytest
from mpi.machine.ranks import everyone
from mpi.scripts.playing import PRELUDE, played

from mpinet.mpi.checks.findings import CheckedEnd
from mpinet.mpi.checks.rules import CHECKS, RULES

pytestmark = pytest.mark.mpi

BROKEN = {
    "type-mismatch": """
        if rank == 0:
            comm.Send(np.zeros(3), 1)  # 0
        elif rank == 1:
            comm.Recv(np.zeros(3, "i8"), 0)  # 1
        """,
    "object-in-buffer": """
        if rank == 0:
            comm.send("a" * 50, 1)  # 0
        elif rank == 1:
            comm.Recv(np.zeros(30), 0)  # 1
        """,
    "buffer-as-object": """
        if rank == 0:
            comm.Send(np.zeros(3), 1)  # 0
        elif rank == 1:
            comm.recv(source=0)  # 1
        """,
    "invalid-request": """
        MPI.REQUEST_NULL.Free()  # 0
        """,
    "file-alive": """
        MPI.File.Open(comm, FILE, MPI.MODE_WRONLY | MPI.MODE_CREATE)  # 0
        """,
    "truncation": """
        if rank == 0:
            comm.Send(np.zeros(9), 1)  # 0
        elif rank == 1:
            comm.Recv(np.zeros(3), 0)  # 1
        """,
    "count-mismatch": """
        comm.Gather(np.zeros(2 + (rank == 0)), np.zeros((size, 3)) if rank == 0 else None)  # 0 1
        """,
    "request-not-completed": """
        if rank == 1:
            comm.Irecv(np.zeros(3), 0)  # 0
        """,
    "request-freed-active": """
        request = comm.Irecv(np.zeros(3), rank)  # 0
        request.Free()  # 1
        comm.Send(np.zeros(3), rank)
        """,
    "request-started-twice": """
        request = comm.Recv_init(np.zeros(3), rank)
        request.Start()  # 0
        request.Start()  # 1
        """,
    "communicator-alive": """
        comm.Dup()  # 0
        """,
    "window-alive": """
        MPI.Win.Create(np.zeros(3), comm=comm)  # 0
        """,
    "datatype-alive": """
        MPI.DOUBLE.Create_vector(3, 1, 2)  # 0
        """,
    "group-alive": """
        comm.Get_group()  # 0
        """,
    "send-buffer-changed": """
        values = np.zeros(3)
        request = comm.Isend(values, rank)  # 0
        values[0] = 1
        request.Wait()  # 1
        comm.Recv(np.zeros(3), rank)
        """,
    "receive-buffer-changed": """
        values = np.zeros(3)
        request = comm.Irecv(values, rank)  # 0
        values[0] = 1
        comm.Send(np.ones(3), rank)
        request.Wait()  # 1
        """,
    "buffers-overlap": """
        values = np.zeros(4)
        one = comm.Irecv(values[:3], rank, 1)  # 0
        other = comm.Irecv(values[2:], rank, 2)  # 1
        comm.Send(np.ones(3), rank, 1)
        comm.Send(np.ones(2), rank, 2)
        MPI.Request.Waitall([one, other])
        """,
    "aliased-buffers": """
        values = np.zeros(4)
        comm.Sendrecv(values[:3], rank, 0, values[2:], rank)  # 0
        """,
    "count-exceeds-buffer": """
        comm.Send([np.zeros(3), 5, MPI.DOUBLE], rank)  # 0
        """,
    "invalid-argument": """
        comm.Send(np.zeros(3), size)  # 0
        """,
    "invalid-access": """
        window = MPI.Win.Create(np.zeros(3), comm=comm)
        window.Put(np.zeros(1), rank)  # 0
        """,
    "message-not-received": """
        if rank == 0:
            comm.send(1, size - 1)  # 0
        """,
    "matched-not-received": """
        comm.send(1, rank)  # 0
        message = comm.mprobe(rank)  # 1
        """,
    "collective-mismatch": """
        if rank == 0:
            comm.Bcast(np.zeros(3))  # 0
        else:
            comm.Bcast(np.zeros(3, "f4"))  # 1
        """,
    "deadlock": """
        comm.recv(source=(rank + 1) % size)  # 0
        """,
    "accesses-conflict": """
        window = MPI.Win.Create(np.zeros(3), comm=comm)
        window.Fence()
        window.Put(np.zeros(1), 0)  # 0 1
        window.Fence()
        window.Free()
        """,
    "local-store-conflicts": """
        memory = np.zeros(3)
        window = MPI.Win.Create(memory, comm=comm)
        window.Fence()  # 1
        if rank == 0:
            memory[0] = 5
        elif rank == 1:
            window.Put(np.full(1, 7.0), 0)  # 0
        window.Fence()
        window.Free()
        """,
}
"""Scripts that break a rule; a comment names the calls of the finding."""

RIGHT = """
    values, other = np.full(4, rank, float), np.zeros(4)
    one = comm.Irecv(other, (rank - 1) % size, 3)
    two = comm.Isend(values, (rank + 1) % size, 3)
    MPI.Request.Waitall([one, two])
    assert other[0] == (rank - 1) % size
    grid = np.arange(12.0).reshape(3, 4)
    column = MPI.DOUBLE.Create_vector(3, 1, 4).Commit()
    got = [comm.Irecv([grid[:, place:], 1, column], rank, place) for place in (0, 3)]
    for place in (0, 3):
        comm.Send([grid[:, 1:], 1, column], rank, place)
    MPI.Request.Waitall(got)
    column.Free()
    total = np.zeros(4)
    comm.Allreduce(values, total)
    comm.Allreduce(MPI.IN_PLACE, total)
    comm.Bcast(total, size - 1)
    every = np.zeros((size, 4))
    comm.Allgather(values, every)
    comm.Scatter(every if rank == 0 else None, values)
    comm.Reduce(values, total if rank == 0 else None)
    comm.Gatherv(values[: 1 + rank % 2], (every, [1 + r % 2 for r in range(size)]))
    request = comm.Ibcast(values, 0)
    request.Wait()
    start = comm.Send_init(values, rank, 5)
    for _ in range(3):
        start.Start()
        comm.Recv(other, rank, 5)
        start.Wait()
    start.Free()
    half = comm.Split(rank % 2)
    assert half.allreduce(1) == half.size
    half.Free()
    group = comm.Get_group()
    group.Free()
    memory = np.zeros(size)
    window = MPI.Win.Create(memory, 8, comm=comm)
    window.Fence()
    for target in range(size):
        window.Put(np.full(1, float(rank)), target, rank)
    window.Fence()
    memory[:] += 1
    window.Fence()
    window.Get(other[:1], 0)
    window.Fence()
    window.Free()
    comm.send("b" * 20, rank, 10)
    raw = bytearray(100)
    comm.Recv(raw, rank, 10)
    assert MPI.pickle.loads(raw) == "b" * 20
    half = comm.Split(rank % 2)
    between = half.Create_intercomm(0, comm, 1 - rank % 2, 5)
    between.gather(rank, (MPI.ROOT if half.rank == 0 else MPI.PROC_NULL) if rank % 2 else 0)
    between.Free()
    half.Free()
    comm.send({"a": rank}, rank, 9)
    assert comm.recv(source=rank, tag=9) == {"a": rank}
    if rank == 0:
        comm.Send(np.zeros(3), size - 1, 8)
    if rank == size - 1:
        comm.Recv(np.zeros(7), 0, 8)
    comm.Send([np.arange(4, dtype="i4"), MPI.INT], rank)
    comm.Recv([np.zeros(4, "i4"), MPI.INT32_T], rank)
    comm.Send(bytes(8), rank)
    comm.Recv(np.zeros(8, "u1"), rank)
    """
"""A script that keeps all rules."""


def findings(folder, script, network="complete:3", checks=CHECKS):
    """The findings of a checked run, the same on all ranks."""
    script = script.replace("FILE", repr(everyone(f"{folder}/shared")[0]))
    try:
        found = played(folder, network, script, checks=checks)[1].findings
    except CheckedEnd as ended:
        found = ended.findings
    return everyone(found)[0]


def lines_of(script):
    """The lines of the calls 0 and 1 of a script."""
    numbered = enumerate(script.splitlines(), PRELUDE.count("\n") + 1)
    marks = {call: line for line, text in numbered for call in text.partition("#")[2].split()}
    return [marks[call] for call in sorted(marks)]


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_rule_is_found_with_the_lines_of_both_calls(tmp_path, kind):
    found = [one for one in findings(tmp_path, BROKEN[kind]) if one.kind == kind]
    assert len(found) == 1
    (finding,) = found
    lines = {line for _, _, line in finding.places}
    assert lines == set(lines_of(BROKEN[kind])) or kind == "collective-mismatch"
    assert finding.severity == RULES[kind].severity
    assert finding.section == RULES[kind].section
    assert all(f"script.py:{line}" in finding.message for line in lines)


@pytest.mark.parametrize("kind", [kind for kind in BROKEN if RULES[kind].check])
def test_a_check_that_is_not_selected_finds_nothing(tmp_path, kind):
    others = [check for check in CHECKS if check != RULES[kind].check]
    assert kind not in {one.kind for one in findings(tmp_path, BROKEN[kind], checks=others)}


@pytest.mark.parametrize("network", ["complete:3", "torus:2x4"])
def test_a_correct_script_has_no_findings(tmp_path, network):
    assert findings(tmp_path, RIGHT, network) == []


def test_every_rule_has_a_script_that_breaks_it():
    assert set(RULES) == set(BROKEN)


def test_many_handles_of_one_line_are_an_error(tmp_path):
    script = "handles = [comm.Get_group() for _ in range(17)]"
    (finding,) = findings(tmp_path, script)
    assert (finding.kind, finding.severity, finding.times) == ("group-alive", "error", 51)


def test_an_access_with_two_sizes_is_an_error(tmp_path):
    script = """
    window = MPI.Win.Create(np.zeros(10), comm=comm)
    window.Fence()
    window.Put(np.zeros(5), rank, (0, 10))  # 0
    window.Fence()
    window.Free()
    """
    found = {(one.kind, one.severity) for one in findings(tmp_path, script)}
    assert ("invalid-access", "error") in found


def test_the_memory_of_a_freed_window_may_change(tmp_path):
    script = """
    memory = np.zeros(4)
    window = MPI.Win.Create(memory, comm=comm)
    window.Lock(0)
    window.Accumulate(np.ones(1), 0)
    window.Unlock(0)
    window.Free()
    memory[:] = 7
    comm.Barrier()
    """
    assert findings(tmp_path, script) == []


def test_datatypes_can_be_pickled(tmp_path):
    script = """
    inner = MPI.INT.Create_vector(2, 1, 3)
    made = MPI.Datatype.Create_struct([1, 1], [0, 32], [MPI.DOUBLE, inner]).Commit()
    inner.Free()
    got = comm.bcast([made, MPI.INT, MPI.Datatype(MPI.SHORT)], root=0)
    assert got[0].Get_extent() == made.Get_extent()
    assert got[1:] == [MPI.INT, MPI.SHORT]
    got[0].Commit().Free()
    window = MPI.Win.Allocate(64, 1, comm=comm)
    window.Fence()
    window.Put((np.zeros(8), 1, made), rank, (0, 1, made))
    window.Fence()
    window.Free()
    made.Free()
    """
    assert [one.message for one in findings(tmp_path, script)] == []


def test_large_sends_wait_for_their_receives(tmp_path):
    script = """
    values = np.zeros(8193 if LARGE else 8192)
    comm.Send(values, (rank + 1) % size)
    comm.Recv(values, (rank - 1) % size)
    """
    assert findings(tmp_path, script.replace("LARGE", "0")) == []
    (finding,) = findings(tmp_path, script.replace("LARGE", "1"))
    assert finding.kind == "deadlock"


def test_collectives_in_another_order_on_two_communicators_do_not_end(tmp_path):
    script = """
    other = comm.Dup()
    one, two = (comm, other) if rank == 0 else (other, comm)
    one.bcast(1, root=0)
    two.bcast(1, root=0)
    other.Free()
    """
    assert findings(tmp_path, script, checks=["types"]) == []
    assert {one.kind for one in findings(tmp_path, script)} == {"deadlock"}
