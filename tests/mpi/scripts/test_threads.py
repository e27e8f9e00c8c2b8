"""Calls of MPI that threads of scripts make: their processor does them, beside its script."""

from textwrap import dedent

import pytest
from mpi.machine.ranks import everyone
from mpi.scripts.playing import played

from mpinet.errors import Deadlock, ProgramError
from mpinet.mpi.world import world

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
        (Deadlock, ProgramError), match=r"processor 1, .*script\.py:\d+: polls in recv"
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


GOES_ON = {
    "sends to the processor itself": """
        begun(lambda: comm.send("own", rank))
        say(comm.recv(source=rank))
    """,
    "sends while its processor receives": """
        begun(lambda: rank == 0 and comm.send("on", (rank + 1) % size))
        say(comm.recv(source=(rank - 1) % size))
        if rank:
            comm.send("on", (rank + 1) % size)
    """,
    "waits in one call for what another has begun": """
        def work():
            request = comm.irecv(source=rank, tag=1)
            comm.send("begun", rank, tag=2)
            assert request.wait() == "come"
            comm.send("on", rank, tag=3)

        begun(work)
        assert comm.recv(source=rank, tag=2) == "begun"
        comm.send("come", rank, tag=1)
        say(comm.recv(source=rank, tag=3))
    """,
    "waits for any of what its processor has begun": """
        requests = [comm.irecv(source=rank, tag=tag) for tag in (1, 2)]

        def work():
            place, _ = MPI.Request.waitany(requests)
            comm.send(place, rank, tag=3)

        begun(work)
        comm.send(None, rank, tag=2)
        assert comm.recv(source=rank, tag=3) == 1
        requests[0].Cancel()
        requests[0].Wait()
        say("on")
    """,
    "probes": """
        def work():
            comm.Probe(source=rank, tag=1)
            message = comm.Mprobe(source=rank, tag=1)
            comm.send(message.recv(), rank, tag=2)

        begun(work)
        begun(lambda: time.sleep(0.05) or comm.send("on", rank, tag=1))
        say(comm.recv(source=rank, tag=2))
    """,
    "probes beside its processor, which takes the message": """
        def work():
            comm.Probe(tag=1)
            comm.recv(tag=1)

        begun(work)
        begun(lambda: [time.sleep(0.02) or comm.send("on", rank, tag=1) for _ in range(2)])
        comm.probe(tag=1)
        say(comm.recv(tag=1))
    """,
    "sends synchronously and is answered": """
        begun(lambda: comm.issend("on", rank).wait())
        say(comm.recv(source=rank))
    """,
    "is a plain one": """
        import _thread

        _thread.start_new_thread(lambda: time.sleep(0.05) or comm.send("on", rank), ())
        say(comm.recv(source=rank))
    """,
    "waits while its processor sleeps": """
        thread = begun(lambda: comm.recv(source=(rank - 1) % size))
        time.sleep(0.1 if rank else 2)
        comm.send(None, (rank + 1) % size)
        thread.join()
        say("on")
    """,
    "waits while its processor computes": """
        thread = begun(lambda: comm.recv(source=(rank - 1) % size))
        end = time.monotonic() + (0 if rank else 2)
        while time.monotonic() < end:
            sum(range(1000))
        comm.send(None, (rank + 1) % size)
        thread.join()
        say("on")
    """,
    "waits for a child process": """
        import subprocess

        def work():
            subprocess.run(["sleep", "0.5"])
            comm.send("on", rank)

        begun(work)
        say(comm.recv(source=rank))
    """,
    "is none, but a child process": """
        import subprocess

        child = subprocess.Popen(["sleep", "0.5"])
        while child.poll() is None:
            comm.iprobe()
        comm.barrier()
        say("on")
    """,
    "is none, but the time of a loop ends": """
        end = time.monotonic() + 0.5
        while time.monotonic() < end and not comm.iprobe():
            pass
        comm.barrier()
        say("on")
    """,
    "asks until a time is over": """
        from time import time as now

        def work():
            end = now() + 0.5
            while not comm.iprobe(tag=1) and now() < end:
                time.sleep(0.0001)
            comm.send("on", rank, tag=2)

        begun(work)
        say(comm.recv(source=rank, tag=2))
    """,
    "serves all from a pool": """
        from concurrent.futures import ThreadPoolExecutor

        def serve():
            for _ in range(size):
                status = MPI.Status()
                comm.recv(tag=1, status=status)
                comm.ssend("on", status.source, tag=2)

        if rank == 0:
            begun(serve)
        comm.ssend(None, 0, tag=1)
        with ThreadPoolExecutor(1) as pool:
            say(pool.submit(comm.recv, source=0, tag=2).result())
    """,
}


@pytest.mark.parametrize("what", GOES_ON)
def test_a_thread_that_helps_its_processor_is_no_deadlock(tmp_path, monkeypatch, what):
    monkeypatch.setattr(world, "LOOKS", 100)
    script = """
        import threading, time

        def begun(work):
            thread = threading.Thread(target=work)
            thread.start()
            return thread
    """
    said, _ = played(tmp_path, "ring:3", dedent(script) + dedent(GOES_ON[what]))
    assert all(len(words) == 1 for words in said.values()) and set(said) == {0, 1, 2}


def test_a_loop_that_asks_without_a_time_ends_the_run_at_once(tmp_path, monkeypatch):
    monkeypatch.setattr(world, "LOOKS_AT_SLEEPERS", 10**9)
    script = """
        import time

        begun = time.monotonic()
        while not comm.iprobe():
            time.sleep(0.0001)
    """
    with pytest.raises(Deadlock, match="Starvation"):
        played(tmp_path, "ring:3", script)


LOCKED = """
    import threading
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(2)
    pool.submit(int).result()  # its worker waits for more
    locked = threading.Lock()
    locked.acquire()
    threading.Thread(target=locked.acquire, daemon=True).start()
    comm.recv(source=(rank + 1) % size)
"""


def test_threads_that_wait_for_locks_of_their_own_process_delay_no_deadlock(tmp_path, monkeypatch):
    monkeypatch.setattr(world, "LOOKS_AT_SLEEPERS", 10**9)
    with pytest.raises(Deadlock, match="in a cycle"):
        played(tmp_path, "ring:3", LOCKED)


def test_a_deadlock_beside_a_thread_that_sleeps_is_told_first_and_then_ends_the_run(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(world, "LOOKS", 50)
    monkeypatch.setattr(world, "LOOKS_AT_SLEEPERS", 200)
    script = """
        import threading, time

        end = threading.Event()
        threading.Thread(target=lambda: end.wait(60), daemon=True).start()
        comm.recv(source=(rank + 1) % size)
    """
    with pytest.raises(Deadlock, match="processes and sockets made no progress") as ended:
        played(tmp_path, "ring:3", script)
    told = everyone(capsys.readouterr().err)[0]
    assert "still help" in told and str(ended.value).splitlines()[1] in told
