"""Calls of MPI that threads of scripts make: their processor does them, beside its script."""

import pytest
from mpi.scripts.playing import played

from mpinet.errors import Deadlock, ProgramError

pytestmark = pytest.mark.mpi


@pytest.mark.parametrize(
    ("daemon", "wait"),
    [(True, "thread.join()"), (False, "thread.join()"), (True, "done.wait()"), (False, "pass")],
)
def test_a_thread_calls_whatever_its_processor_waits_for_and_is_told_its_rank(
    tmp_path, daemon, wait
):
    script = f"""
        import threading

        done = threading.Event()

        def work():
            for target in (0, 2):
                comm.send((comm.rank, comm.Get_rank(), comm.group.rank), target)
            assert comm.recv(source=2) == "back"
            done.set()

        if rank == 1:
            thread = threading.Thread(target=work, daemon={daemon})
            thread.start()
            {wait}
        else:
            say(comm.recv(source=1))
            if rank == 2:
                comm.send("back", 1)
        assert MPI.Query_thread() == MPI.THREAD_MULTIPLE
    """
    said, outcome = played(tmp_path, "ring:3", script)
    assert said == {0: [(1, 1, 1)], 1: [], 2: [(1, 1, 1)]}
    assert [(one.kind, one.calls) for one in outcome.accounts if one.kind == "send"] in (
        [("send", 2), ("send", 1)],  # each on the line that calls
        [],  # on other ranks than 0
    )


def test_an_executor_that_nobody_shuts_down_ends_with_its_processor(tmp_path):
    script = """
        import atexit
        from concurrent.futures import ThreadPoolExecutor

        done = []
        executor = ThreadPoolExecutor(2)
        for number in range(3):
            executor.submit(lambda number=number: done.append((comm.rank, number)))
        if rank == 0:
            comm.recv(source=2)
        if rank == 2:
            comm.send(None, 0)
        atexit.register(lambda: say(sorted(done)))
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {rank: [[(rank, number) for number in range(3)]] for rank in range(3)}


def test_several_threads_of_all_processors_exchange_while_these_are_in_a_collective(tmp_path):
    script = """
        import threading, time

        got = {}

        def work(k):
            right, left = (rank + 1) % size, (rank - 1) % size
            token = comm.sendrecv((rank, k), right, k, None, left, k)
            time.sleep(0.01 * k)  # all others wait in MPI meanwhile: that is no deadlock
            comm.send(token, left, 10 + k)
            got[k] = comm.recv(None, right, 10 + k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for thread in threads:
            thread.start()
        total = comm.allreduce(rank)
        for thread in threads:
            thread.join()
        say((total, sorted(got.items())))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == {rank: [(6, [(k, (rank, k)) for k in range(3)])] for rank in range(4)}


def test_a_message_of_a_processor_to_its_own_thread_comes(tmp_path):
    script = """
        import threading

        got = []
        thread = threading.Thread(target=lambda: got.append(comm.recv(source=rank)))
        thread.start()
        comm.send("own", rank)
        thread.join()
        say(got)
    """
    assert played(tmp_path, "complete:2", script)[0] == {0: [["own"]], 1: [["own"]]}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_errors_of_a_threads_call_are_its_own_and_what_it_waits_for_in_vain_is_told(tmp_path):
    script = """
        import threading

        def work():
            try:
                comm.send(None, 99)
            except MPI.Exception as error:
                say(error.Get_error_class() == MPI.ERR_RANK)
            if rank == 1:
                comm.recv(source=0)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join()
        say("end")
    """
    with pytest.raises(
        (Deadlock, ProgramError), match=r"processor 1, .*script\.py:\d+: asks in recv"
    ):
        played(tmp_path, "complete:2", script)


def test_a_processor_that_is_interrupted_while_it_holds_a_lock_of_the_interpreters_lets_it_go(
    tmp_path,
):
    script = """
        import threading, time
        from concurrent.futures.thread import _global_shutdown_lock as everybodys

        def compute():
            end = time.perf_counter() + 0.1
            while time.perf_counter() < end:
                pass

        if rank == 0:
            thread = threading.Thread(target=comm.iprobe)
            thread.start()  # its call is done when all have been interrupted, so it wakes nobody
            compute()
        with everybodys:
            compute()
        say(comm.allreduce(rank))
        assert threading.active_count() <= 2  # what wakes processors is no thread of the script's
    """
    assert played(tmp_path, "complete:3", script)[0] == {0: [3], 1: [3], 2: [3]}


def test_time_passes_for_threads_and_tasks_that_wait_for_it(tmp_path):
    script = """
        import threading
        from greenlet import greenlet
        from mpi4py.futures import MPICommExecutor
        from mpi4py.util.pool import ThreadPool

        def wait(what):
            begin = MPI.Wtime()
            while MPI.Wtime() - begin < 50e-6:
                pass
            return what, MPI.Wtime() - begin < 1e-3

        found = []
        thread = threading.Thread(target=lambda: found.append(wait("thread")))
        thread.start()
        thread.join()
        say(*found)
        say(ThreadPool(1).apply(wait, ["pool"]))
        say(greenlet(lambda: [MPI.Wtime() for _ in range(3000)] and "own greenlet").switch())
        with MPICommExecutor(comm, root=0) as executor:
            if executor is not None:
                say(executor.submit(wait, "task").result())
    """
    said, _ = played(tmp_path, "complete:2", script)
    all_say = [("thread", True), ("pool", True), "own greenlet"]
    assert said == {0: [*all_say, ("task", True)], 1: all_say}
