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


def test_helper_fibers_stand_for_a_pool_of_threads_as_many_at_a_time(tmp_path):
    script = """
    from mpi4py.futures import ThreadPoolExecutor

    order = []

    def task(number):
        order.append(("begins", number))
        found = comm.sendrecv(number, (rank + 1) % size, number, source=rank - 1, recvtag=number)
        order.append(("ends", number))
        return found * found

    for most in (1, 2):
        with ThreadPoolExecutor(most, initializer=order.append, initargs=(most,)) as pool:
            say((pool.num_workers, list(pool.map(task, range(3)))))
    say(order)
    with ThreadPoolExecutor(initializer=int, initargs=("x",)) as broken:
        try:
            broken.submit(task, 1).result()
        except Exception as error:
            say(type(error).__name__)
    """
    said, outcome = played(tmp_path, "ring:3", script)
    alone = [(what, number) for number in range(3) for what in ("begins", "ends")]
    for rank in range(3):
        assert said[rank][:2] == [(1, [0, 1, 4]), (2, [0, 1, 4])]
        order = said[rank][2]
        assert order[:7] == [1, *alone]
        assert order[7:10] == [2, ("begins", 0), ("begins", 1)]
        assert sorted(order[10:]) == [("begins", 2), ("ends", 0), ("ends", 1), ("ends", 2)]
        assert said[rank][3:] == ["BrokenExecutor"]
    assert outcome.unreceived == 0


def test_pools_as_those_of_multiprocessing(tmp_path):
    script = """
    from mpi4py.util.pool import Pool, ThreadPool

    if __name__ == "__main__":  # workers run the script, too
        for kind, free in ((ThreadPool, 2), (Pool, 1)):
            if rank > 1 and kind is Pool:
                break
            with kind(free) as pool:
                say(pool.map(abs, range(-3, 3)) + list(pool.imap(abs, [-9], chunksize=1)))
                say(sorted(pool.imap_unordered(abs, range(-3, 3), chunksize=2)))
                say(pool.starmap(pow, [(2, 3), (3, 2)]) + [pool.apply(pow, (2, 5))])
                told = []
                results = [pool.map_async(pow, [()], error_callback=told.append)]
                results += [pool.starmap_async(divmod, [(7, number)], callback=told.append)
                            for number in range(1, 7)]
                say([result.get(60) for result in results[1:]])
                results[0].wait()
                say((results[0].successful(), sorted(type(one).__name__ for one in told)))
            pool.join()
        say(comm.allreduce(1))
    """
    said, outcome = played(tmp_path, "hypercube:2", script, spare=1)
    divided = [[divmod(7, number)] for number in range(1, 7)]
    told = False, ["TypeError"] + ["list"] * 6
    once = [[3, 2, 1, 0, 1, 2, 9], [0, 1, 1, 2, 2, 3], [8, 9, 32], divided, told]
    assert [said[rank] for rank in range(3)] == [[*once * 2, 3]] * 2 + [[*once, 3]]
    assert outcome.unreceived == 0
