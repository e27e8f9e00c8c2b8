"""Pools: processors that work for one of them, and what their tasks cost."""

import pytest
from mpi.scripts.playing import played

from mpinet.errors import Deadlock, ProgramError

pytestmark = pytest.mark.mpi

POOL = """
    from mpi4py.futures import MPICommExecutor, as_completed, get_comm_workers, wait

    def task(number):
        return number * number, get_comm_workers().rank

"""


def test_members_of_a_communicator_work_for_one_of_them(tmp_path):
    script = (
        POOL
        + """
    half = comm.Split(rank % 2)
    with MPICommExecutor(half, root=1) as pool:
        if pool is not None:
            say((pool.num_workers, [square for square, _ in pool.map(task, range(12))]))
            done = [future.result() for future in as_completed([pool.submit(task, 7)] * 2)]
            say([square for square, _ in done])
            say(sorted({worker for _, worker in pool.map(task, range(12))}))
    say(half.allreduce(1))
    """
    )
    said, outcome = played(tmp_path, "hypercube:3", script)
    squares = [number * number for number in range(12)]
    for rank in range(8):
        master = [(3, squares), [49], [0, 1, 2]] if rank // 2 == 1 else []
        assert said[rank] == [*master, 4]
    submitted = [each for each in outcome.accounts if each.kind == "submit"]  # rank 0's
    assert all(each.calls == each.messages for each in submitted)
    assert outcome.unreceived == 0


def test_an_executor_spawns_workers_onto_processors_left_free(tmp_path):
    script = (
        POOL.replace("MPICommExecutor", "MPIPoolExecutor")
        + """
    if __name__ == "__main__" and rank < 2:
        for workers in (1, 2):  # the second takes back what the first has given
            with MPIPoolExecutor(max_workers=workers) as pool:
                say((pool.num_workers, [square for square, _ in pool.map(task, range(4))]))
        last = MPIPoolExecutor(max_workers=1)  # ends with the script
        say(last.submit(task, 9).result())
    """
    )
    said, outcome = played(tmp_path, "hypercube:3", script, spare=4)
    squares = [number * number for number in range(4)]
    assert [said[rank] for rank in range(8)] == [
        [(1, squares), (2, squares), (81, 0)] if rank < 2 else [] for rank in range(8)
    ]
    assert outcome.unreceived == 0


def test_a_task_that_waits_for_nobody_is_a_deadlock_with_both_lines(tmp_path):
    script = """
    from mpi4py.futures import MPICommExecutor
    with MPICommExecutor(comm, root=0) as pool:
        if pool is not None:
            pool.submit(comm.recv, 0, 5).result()
    """
    script = script.replace("comm.recv, 0, 5", "receive, 5").replace(
        "    with", "    def receive(tag):\n        return comm.recv(source=0, tag=tag)\n    with"
    )
    with pytest.raises(Deadlock) as stuck:
        played(tmp_path, "ring:3", script)
    assert "with tag 5" in str(stuck.value) and "script.py:" in str(stuck.value)


def test_a_pool_without_workers_says_how_to_get_some(tmp_path):
    script = """
    from mpi4py.futures import MPIPoolExecutor
    MPIPoolExecutor().submit(print)
    """
    with pytest.raises(ProgramError, match=r"-m mpi4py\.futures SCRIPT\.py"):
        played(tmp_path, "ring:3", script)
