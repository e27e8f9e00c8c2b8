"""What a processor has for itself, as the process of a rank under mpirun has."""

import os
import signal
import sys
from pathlib import Path

import pytest
from mpi.machine.ranks import everyone
from mpi.scripts.playing import played

from mpinet.errors import ProgramError

pytestmark = pytest.mark.mpi


@pytest.fixture
def folder(tmp_path):
    """A folder that all ranks know."""
    return Path(everyone(str(tmp_path))[0])


def lines_of(outputs):
    """Printed values of four processors, each of which prints `outputs(rank)`."""
    return {rank: [outputs(rank)] for rank in range(4)}


# ---- time


def test_two_readings_of_the_clock_differ_by_a_nanosecond_without_a_step(tmp_path):
    script = """
        begin = MPI.Wtime()
        work = sum(k * k for k in range(1000))
        end = MPI.Wtime()
        say((round((end - begin) * 1e9), 1000 / (end - begin) > 0, MPI.Wtick()))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: (1, True, 1e-9))


def test_the_measured_clock_counts_computation_of_its_own_processor(tmp_path):
    script = """
        from time import thread_time

        def compute(seconds):
            end = thread_time() + seconds
            while thread_time() < end:
                pass

        comm.barrier()
        begin = MPI.Wtime()
        compute(0.03 * rank)
        comm.barrier()
        say(0.03 * rank <= MPI.Wtime() - begin < 0.03 * rank + 0.025)
    """
    said, _ = played(tmp_path, "ring:4", script, measured=True)
    assert said == lines_of(lambda rank: True)


def test_sleepers_wake_in_the_order_of_their_times(tmp_path):
    script = """
        import time

        for _ in range(3):
            time.sleep(0.02 * (4 - rank))
            comm.send(rank, 0)
        if rank == 0:
            say([comm.recv() for _ in range(12)])
    """
    times = sorted((k * (4 - rank), rank) for rank in range(4) for k in (1, 2, 3))
    said, _ = played(tmp_path, "complete:4", script)
    (order,), *_ = said.values()
    ties = [[rank for time, rank in times if time == at] for at, _ in sorted(times)]
    assert [order[place] in ties[place] for place in range(12)] == [True] * 12


def test_a_sleeper_finds_a_file_that_another_processor_writes(tmp_path, folder):
    script = f"""
        import os, time

        name = {str(folder / "flag")!r}
        if rank == 0:
            while not os.path.exists(name):
                time.sleep(0.001)
            say("found")
        elif rank == 3:
            comm.recv(source=2)
            open(name, "w").close()
        elif rank == 2:
            comm.send(None, 3)
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == {0: ["found"], 1: [], 2: [], 3: []}


def test_a_poll_that_sleeps_lets_the_sender_run(tmp_path):
    script = """
        import time

        if rank == 0:
            request = comm.irecv(source=1)
            while not request.Test():
                time.sleep(0.001)
            say("received")
        elif rank == 1:
            time.sleep(0.02)
            comm.send(None, 0)
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == {0: ["received"], 1: [], 2: [], 3: []}


# ---- alarms


def test_an_alarm_ends_the_endless_loop_of_each_processor(tmp_path):
    script = """
        import signal

        class TooLong(Exception):
            pass

        def handler(*_):
            raise TooLong(rank)

        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.02 * (rank + 1))
        try:
            while True:
                comm.iprobe()
        except TooLong as error:
            say(error.args)
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: (rank,))
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_an_alarm_waits_for_its_processor_while_another_computes(tmp_path):
    script = """
        import signal, time

        ticks = []
        if rank == 0:
            signal.signal(signal.SIGALRM, lambda *_: ticks.append(rank))
            before = signal.setitimer(signal.ITIMER_REAL, 0.02)
            comm.recv(source=1)
            say((before, ticks, signal.getitimer(signal.ITIMER_REAL)))
        elif rank == 1:
            end = time.monotonic() + 0.06
            while time.monotonic() < end:
                pass
            comm.send(None, 0)
            say((signal.getsignal(signal.SIGALRM) == signal.SIG_DFL, ticks))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == {0: [((0.0, 0.0), [0], (0.0, 0.0))], 1: [(True, [])], 2: [], 3: []}


def test_an_alarm_interrupts_a_sleep_and_repeats(tmp_path):
    script = """
        import signal, time

        ticks = []

        def handler(*_):
            ticks.append(None)
            if len(ticks) == 3:
                raise TimeoutError

        if rank == 1:
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            try:
                time.sleep(60)
            except TimeoutError:
                say(len(ticks))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == {0: [], 1: [3], 2: [], 3: []}


def test_an_alarm_without_a_handler_ends_the_script_with_its_line(tmp_path):
    script = """
        import signal

        if rank == 2:
            signal.alarm(1)
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            while True:
                pass
    """
    with pytest.raises(
        ProgramError, match=r"Processor 2.*script\.py:1[56] in <module>: An alarm"
    ) as caught:
        played(tmp_path, "ring:4", script)
    assert caught.value.status == 142


# ---- identity


def test_processors_have_numbers_of_processes_that_the_system_knows(tmp_path):
    script = """
        import os, psutil, signal

        heard = []
        signal.signal(signal.SIGUSR1, lambda *_: heard.append(rank))
        numbers = comm.allgather(os.getpid())
        os.kill(os.getpid(), signal.SIGUSR1)
        say((len(set(numbers)), heard, psutil.Process(os.getpid()).pid == psutil.Process().pid))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: (4, [rank], True))


def test_a_child_process_has_a_number_of_its_own(tmp_path):
    script = """
        import os, subprocess, sys

        child = os.fork()
        if not child:
            os._exit(int(os.getpid() == int(os.readlink("/proc/self"))))
        say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: 1)


def test_variables_of_launchers_name_rank_and_size(tmp_path):
    ranks = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "PMI_RANK", "SLURM_PROCID")
    script = f"""
        import os

        found = [os.environ[name] for name in {ranks}]
        found += [os.getenv("OMPI_COMM_WORLD_SIZE"), "PMI_RANK" in os.environ]
        comm.barrier()
        os.environ["PMI_RANK"] = "my own"
        comm.barrier()
        say((found, os.environ["PMI_RANK"], int(os.environ["SLURM_PROCID"])))
    """
    before = dict(os.environ)
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: ([str(rank)] * 4 + ["4", True], "my own", rank))
    assert dict(os.environ) == before


# ---- ends of scripts


def test_the_scripts_own_hook_gets_the_error_that_ends_the_script(tmp_path, folder):
    script = f"""
        import sys

        def hook(kind, error, trace):
            words = kind.__name__, error, trace.tb_frame.f_code.co_name
            open({str(folder)!r} + f"/{{rank}}", "w").write(" ".join(map(str, words)))

        if rank in (1, 3):
            sys.excepthook = hook
        comm.barrier()
        raise ValueError(rank)
    """
    with pytest.raises(ProgramError, match="ValueError: 0"):
        played(tmp_path, "complete:4", script)
    found = {file.name: file.read_text() for file in folder.iterdir()}
    assert found.pop("script.py")
    assert found == {rank: f"ValueError {rank} <module>" for rank in "13"}


def test_an_error_at_exit_is_printed_and_the_other_functions_are_called(tmp_path, capsys):
    script = """
        import atexit

        atexit.register(lambda: say("last"))
        atexit.register(lambda: 1 / (rank - 2))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: "last")
    errors = "".join(everyone(capsys.readouterr().err))
    assert errors.count("ZeroDivisionError: division by zero") == 1
    assert errors.count("Exception ignored in atexit callback") == 1


# ---- the interpreter


def test_a_call_deep_in_a_recursion_and_each_processors_limit(tmp_path):
    script = """
        import sys

        def deep(depth):
            if depth:
                return 1 + deep(depth - 1)
            comm.barrier()
            return 0

        if rank:
            sys.setrecursionlimit(20000)
        say((deep(5000 if rank else 10), sys.getrecursionlimit()))
    """
    limit = sys.getrecursionlimit()
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: (5000, 20000) if rank else (10, limit))
    assert sys.getrecursionlimit() == limit


def test_an_object_in_place_of_a_module_is_each_processors_own(tmp_path):
    (tmp_path / "itself.py").write_text(
        "import sys\nclass Itself:\n    __slots__ = 'count',\n"
        "sys.modules[__name__] = Itself()\nsys.modules[__name__].count = 0\n"
    )
    script = """
        import sys
        import itself

        sys.modules["number"] = rank
        itself.count += 1
        comm.barrier()
        import itself as again
        say((again.count, sys.modules["number"]))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: (1, rank))


def test_settings_of_the_interpreter_are_each_processors_own(tmp_path):
    script = """
        import csv, sys, threading

        csv.field_size_limit(1000 + rank)
        csv.register_dialect("own", delimiter="abcd"[rank])
        sys.setswitchinterval(0.01 * (rank + 1))
        sys.set_int_max_str_digits(5000 + rank)
        sys.argv = ["program", str(rank)]
        sys.path = [str(rank), *sys.path]
        threading.excepthook = rank
        comm.barrier()
        say((csv.field_size_limit(), csv.get_dialect("own").delimiter, threading.excepthook))
        say((round(sys.getswitchinterval(), 3), sys.get_int_max_str_digits(), sys.argv[1]))
        say(sys.path[0])
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == {
        rank: [
            (1000 + rank, "abcd"[rank], rank),
            (0.01 * (rank + 1), 5000 + rank, str(rank)),
            str(rank),
        ]
        for rank in range(4)
    }


def test_the_current_figure_is_each_processors_own(tmp_path):
    script = """
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        for _ in range(rank):
            plt.figure()
        plt.plot([0, 1])
        comm.barrier()
        say((len(plt.gca().lines), plt.get_fignums()))
        plt.close("all")
        comm.barrier()
        say(plt.get_fignums())
    """
    for _ in range(2):  # the second run finds the package loaded
        said, _ = played(tmp_path, "ring:4", script)
        assert said == {rank: [(1, list(range(1, max(rank, 1) + 1))), []] for rank in range(4)}


def test_a_new_world_of_one_processor_and_its_pickling_leave_the_others_alone(tmp_path):
    script = """
        import json

        if rank == 1:
            MPI.COMM_WORLD = comm.Split(0)
            MPI.pickle.PROTOCOL = 2
        else:
            comm.Split(1)
        if rank == 2:
            MPI.pickle.__init__(lambda thing, *_: json.dumps(thing).encode(), json.loads)
        comm.barrier()
        data = MPI.pickle.dumps((1, 2))
        say((MPI.COMM_WORLD.size, MPI.pickle.PROTOCOL == 2, data == b"[1, 2]"))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: (1 if rank == 1 else 4, rank == 1, rank == 2))


def test_a_handler_is_called_for_a_failed_call_which_then_raises(tmp_path):
    script = """
        called = []
        handled = comm.Dup()
        handled.Set_errhandler(MPI.Comm.Create_errhandler(lambda *given: called.append(given)))
        try:
            handled.Send(np.zeros(1), size)
        except MPI.Exception as error:
            number = error.Get_error_class()
        one, code = called[0]
        say((len(called), one == handled, MPI.Get_error_class(code) == number == MPI.ERR_RANK))
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: (1, True, True))


def test_a_fatal_handler_ends_the_run_at_a_failed_call(tmp_path):
    script = """
        comm.Set_errhandler(MPI.ERRORS_ARE_FATAL)
        try:
            comm.Send(np.zeros(1), size)
        except MPI.Exception:
            say("never")
    """
    with pytest.raises(ProgramError, match="aborts with status"):
        played(tmp_path, "ring:4", script)


# ---- output


def test_lines_begun_before_a_wait_are_printed_as_a_whole(tmp_path):
    script = """
        import sys

        sys.stdout.write(f"({rank}, ")
        comm.barrier()
        print("'whole')")
        if rank:
            comm.send(None, 0)
        else:
            last = [comm.recv() for _ in range(3)]
            sys.stdout.write("(0, 'end')")
    """
    said, _ = played(tmp_path, "complete:4", script)
    assert said == {rank: ["whole", "end"][: 2 if rank == 0 else 1] for rank in range(4)}


def test_the_original_stream_is_the_processors_stream(tmp_path):
    script = """
        import sys

        sys.stdout = sys.__stdout__
        comm.barrier()
        say("back")
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: "back")


# ---- files and pools


def test_a_failed_read_does_not_move_the_pointer(tmp_path, folder):
    script = f"""
        name = {str(folder / "file")!r}
        file = MPI.File.Open(comm, name, MPI.MODE_WRONLY | MPI.MODE_CREATE)
        file.Write(np.arange(4, dtype="b"))
        try:
            file.Read(np.zeros(2))
        except MPI.Exception:
            say(file.Get_position())
        file.Close()
    """
    said, _ = played(tmp_path, "ring:4", script)
    assert said == lines_of(lambda rank: 4)


def test_workers_are_free_again_after_pools_that_end_without_a_wait(tmp_path):
    script = """
        from mpi4py.futures import MPIPoolExecutor
        from mpi4py.util.pool import Pool

        if __name__ == "__main__":
            for number in (2, 3):
                pool = MPIPoolExecutor(2)
                future = pool.submit(pow, number, 2)
                pool.shutdown(wait=False)
                say(future.result())
            for _ in range(2):
                with Pool(2) as workers:
                    say(workers.map(abs, [-1, -2, -3]))
    """
    said, _ = played(tmp_path, "ring:3", script, spare=2)
    assert said == {0: [4, 9, [1, 2, 3], [1, 2, 3]], 1: [], 2: []}


def test_the_error_of_a_task_has_the_traceback_of_its_worker(tmp_path):
    script = """
        import traceback
        from mpi4py.futures import MPIPoolExecutor

        def inverse(number):
            return 1 / number

        if __name__ == "__main__":
            with MPIPoolExecutor(1) as pool:
                try:
                    pool.submit(inverse, 0).result()
                except ZeroDivisionError as error:
                    said = traceback.format_exc()
                    say(("return 1 / number" in said, "### Worker 0 of 1" in said))
    """
    said, _ = played(tmp_path, "complete:2", script, spare=1)
    assert said == {0: [(True, True)], 1: []}
