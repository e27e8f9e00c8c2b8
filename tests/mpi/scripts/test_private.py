"""What processors of one rank do not share: modules of scripts, random numbers, streams."""

import gc
import logging
import os
import random
import signal
import sys
import tempfile
import warnings
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import numpy as np
import pytest
from mpi.scripts.playing import played

from mpinet.errors import ProgramError
from mpinet.mpi.world.loading import loading
from mpinet.mpi.world.turns import Turns

pytestmark = pytest.mark.mpi

MODULE = """
from mpi4py import MPI

comm = MPI.COMM_WORLD.Dup()
seen = []
"""


@pytest.fixture(params=["anywhere", "in Python's folder"])
def place(request, tmp_path):
    """A folder for a script: some one, or one below the environment's, where libraries are, too."""
    if request.param == "anywhere":
        yield tmp_path
    else:
        with tempfile.TemporaryDirectory(dir=sys.prefix) as folder:
            yield Path(folder)


def test_modules_beside_the_script_are_each_processors_own(place):
    (place / "kept_by_each.py").write_text(MODULE)
    script = """
        import sys
        import kept_by_each

        kept_by_each.seen.append(rank)
        kept_by_each.comm.barrier()
        import kept_by_each as again

        say((again is kept_by_each, again is sys.modules["kept_by_each"], again.seen))
    """
    said, _ = played(place, "ring:7", script)
    assert said == {rank: [(True, True, [rank])] for rank in range(7)}


def test_libraries_are_shared_and_mpi4py_is_the_emulated_one(tmp_path):
    script = """
        import colorsys, mpi4py.util.dtlib

        colorsys.marks = [*getattr(colorsys, "marks", []), rank]
        comm.barrier()
        say((mpi4py.util.dtlib.MPI is MPI, rank in colorsys.marks))
    """
    said, _ = played(tmp_path, "hypercube:3", script)
    assert said == {rank: [(True, True)] for rank in range(8)}


@pytest.mark.parametrize("mapping", ["blocks", "random"])
def test_processors_that_seed_draw_their_own_random_numbers(tmp_path, mapping):
    script = """
        import random

        random.seed(rank)
        np.random.seed(rank)
        for _ in range(3):
            say((random.random(), float(np.random.rand())))
            comm.barrier()
    """
    state = random.getstate()
    said, _ = played(tmp_path, "torus:3x3", script, mapping=mapping)
    assert random.getstate() == state
    for rank in range(9):
        plain, arrays = random.Random(rank), np.random.RandomState(rank)
        assert said[rank] == [(plain.random(), arrays.rand()) for _ in range(3)]


def test_a_datatype_may_be_freed_while_a_receive_of_it_is_under_way(tmp_path):
    script = """
        column = MPI.INT.Create_vector(3, 1, 4).Commit()
        grid = np.zeros((3, 4), "i")
        request = comm.Irecv([grid, 1, column], source=(rank - 1) % size)
        column.Free()
        comm.Send(np.arange(3, dtype="i") + rank, dest=(rank + 1) % size)
        request.Wait()
        say(grid[:, 0].tolist())
    """
    said, _ = played(tmp_path, "ring:5", script)
    assert said == {rank: [[(rank - 1) % 5 + k for k in range(3)]] for rank in range(5)}


def test_a_folder_without_an_init_file_is_each_processors_own(tmp_path):
    (tmp_path / "folder_of_each").mkdir()
    (tmp_path / "folder_of_each" / "state.py").write_text("")
    script = """
        import folder_of_each.state

        folder_of_each.state.value = rank
        comm.barrier()
        say(folder_of_each.state.value)
    """
    said, _ = played(tmp_path, "ring:6", script)
    assert said == {rank: [rank] for rank in range(6)}


@pytest.mark.parametrize("mapping", ["blocks", "random"])
def test_processors_may_put_streams_of_their_own_in_place(tmp_path, mapping):
    script = """
        import contextlib, io, sys

        text, errors, shared = io.StringIO(), io.StringIO(), sys.stderr
        with contextlib.redirect_stdout(text):
            for turn in range(2):
                comm.barrier()
                print(rank, turn)
        sys.stderr = errors if rank % 2 else shared
        comm.barrier()
        if rank % 2:
            print("odd", file=sys.stderr)
        say((text.getvalue(), errors.getvalue(), sys.stderr is shared))
    """
    said, _ = played(tmp_path, "hypercube:3", script, mapping=mapping)
    for rank in range(8):
        odd = rank % 2 == 1
        assert said[rank] == [(f"{rank} 0\n{rank} 1\n", "odd\n" if odd else "", not odd)]


def test_threads_that_compute_are_waited_for_at_the_end(tmp_path):
    script = """
        import threading, time

        class Last:
            def __del__(self):
                say(found)

        def work():
            time.sleep(0.05)
            found.append(MPI.Is_thread_main())

        found = []
        last = Last()
        threading.Thread(target=work).start()
        say(MPI.Is_thread_main())
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {rank: [True, [False]] for rank in range(3)}


OWNER = """
        class Owner:
            def __init__(self):
                self.comm = comm.Dup()
                self.comm.Set_name(str(rank))

            def __del__(self):
                say((self.comm.Get_name(), size, words))
                self.comm.Free()
"""


@pytest.mark.parametrize("mapping", ["blocks", "random"])
def test_objects_of_a_script_end_on_its_own_processor(tmp_path, mapping):
    script = f"""
        words = ["last words"]
        {OWNER}
        owner = Owner()
        owners = [Owner(), {{"more": Owner()}}]
    """
    said, _ = played(tmp_path, "torus:3x3", script, mapping=mapping)
    assert said == {rank: [(str(rank), 9, ["last words"])] * 3 for rank in range(9)}


def test_what_a_failed_script_leaves_ends_without_a_word(tmp_path, capfd):
    script = f"""
        words = []
        {OWNER}
        owner = Owner()
        comm.barrier()
        if rank == 4:
            raise ValueError("on purpose")
        comm.recv()
    """
    with pytest.raises(ProgramError, match="on purpose"):
        played(tmp_path, "torus:3x3", script)
    gc.collect()
    assert "Exception ignored" not in capfd.readouterr().err


def test_a_communicator_that_is_collected_is_freed_where_it_is_held(tmp_path):
    """The collector runs on one processor, and finds what others have left."""
    script = """
        import gc

        class Owner:
            def __init__(self):
                self.comm = comm.Dup()
                self.itself = self

            def __del__(self):
                self.comm.Free()
                self.op.Free()

        kept = comm.Dup()
        owner = Owner()
        owner.op = MPI.Op.Create(lambda low, high, kind: high)
        handle = owner.comm.handle
        del owner
        comm.barrier()
        gc.collect()
        comm.barrier()
        try:
            MPI.Comm.fromhandle(handle)
        except MPI.Exception as error:
            say(error.Get_error_class() == MPI.ERR_COMM)
        say(kept.allreduce(1))
    """
    said, _ = played(tmp_path, "ring:7", script)
    assert said == {rank: [True, 7] for rank in range(7)}


@pytest.mark.parametrize("mapping", ["blocks", "random"])
def test_each_processor_has_the_environment_and_the_folder_that_it_has_set(tmp_path, mapping):
    script = """
        import os, subprocess

        before = os.environ.get("HOME")
        if rank % 2:
            os.environ["MPINET_TEST"] = str(rank)
            del os.environ["HOME"]
            os.makedirs(f"{folder}/{rank}", exist_ok=True)
            os.chdir(f"{folder}/{rank}")
        comm.barrier()
        told = subprocess.run(["sh", "-c", "echo $MPINET_TEST"], capture_output=True, text=True)
        say((
            os.environ.get("MPINET_TEST"),
            os.environ.get("HOME") == before,
            os.path.basename(os.getcwd()) == str(rank),
            told.stdout.strip(),
        ))
    """
    folder, home = os.getcwd(), dict(os.environ)
    said, _ = played(
        tmp_path, "ring:6", f"folder = {str(tmp_path)!r}\n{dedent(script)}", mapping=mapping
    )
    assert (os.getcwd(), dict(os.environ)) == (folder, home)
    for rank in range(6):
        own = (str(rank), False, True, str(rank))
        assert said[rank] == [own if rank % 2 else (None, True, False, "")]


def test_each_processor_has_its_own_filters_of_warnings(tmp_path):
    script = """
        import warnings

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for turn in range(rank):
                comm.barrier() if turn == 0 else None
                warnings.warn("mild")
            comm.barrier() if rank == 0 else None
        if rank == 1:
            warnings.simplefilter("error")
        comm.barrier()
        try:
            with warnings.catch_warnings():
                comm.barrier()
                if rank != 1:
                    warnings.simplefilter("ignore")
                warnings.warn("strong")
            found = "a warning"
        except UserWarning:
            found = "an error"
        comm.barrier()
        say((len(caught), found))
    """
    before, kind = list(warnings.filters), type(warnings)
    said, _ = played(tmp_path, "ring:5", script)
    assert (list(warnings.filters), type(warnings)) == (before, kind)
    assert said == {rank: [(rank, "an error" if rank == 1 else "a warning")] for rank in range(5)}


def test_each_processor_sets_up_logging_for_itself(tmp_path):
    script = """
        import io, logging

        text = io.StringIO()
        logging.basicConfig(
            stream=text,
            format=f"[{rank}] %(message)s",
            level=logging.INFO if rank % 2 else logging.ERROR,
            force=True,
        )
        log = logging.getLogger("application")
        if rank == 2:
            log.setLevel(logging.DEBUG)
        comm.barrier()
        log.info("hello")
        comm.barrier()
        say(text.getvalue())
    """
    before = list(logging.root.handlers), logging.root.level
    said, _ = played(tmp_path, "ring:5", script)
    assert (list(logging.root.handlers), logging.root.level) == before
    assert said == {rank: [f"[{rank}] hello\n" if rank in (1, 2, 3) else ""] for rank in range(5)}


def test_each_processor_runs_its_own_loop_of_asyncio(tmp_path):
    script = """
        import asyncio

        async def ring():
            found = [asyncio.get_running_loop()]
            comm.send(rank, (rank + 1) % size)
            await asyncio.sleep(0)
            left = comm.recv(source=(rank - 1) % size)
            return left, asyncio.get_running_loop() is found[0]

        say(asyncio.run(ring()))
    """
    said, _ = played(tmp_path, "ring:5", script)
    assert said == {rank: [((rank - 1) % 5, True)] for rank in range(5)}


def test_a_forked_process_may_end_by_itself(tmp_path):
    script = """
        import multiprocessing, os

        child = os.fork()
        if not child:
            os._exit(rank)
        say(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        process = multiprocessing.get_context("fork").Process(target=os._exit, args=(rank,))
        process.start()
        process.join()
        say(process.exitcode)
    """
    before = os._exit
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {rank: [rank, rank] for rank in range(3)}
    assert os._exit is before


def test_a_thread_that_ends_the_process_ends_the_run(tmp_path):
    script = """
        import os, threading

        if rank == 1:
            thread = threading.Thread(target=lambda: os._exit(0))
            thread.start()
            thread.join()
        comm.barrier()
    """
    with pytest.raises(ProgramError, match=r"Processor 1, .* by os\._exit\(0\)") as ended:
        played(tmp_path, "ring:3", script)
    assert ended.value.status == 1


def test_filters_flags_and_factories_of_logging_are_each_processors_own(tmp_path):
    script = """
        import io, logging

        class Ranked(logging.Filter):
            def filter(self, record):
                record.msg = f"[{rank}] {record.msg}"
                return True

        text = io.StringIO()
        log, quiet = logging.getLogger("filtered"), logging.getLogger("filtered.quiet")
        shared = logging.lastResort
        logging.basicConfig(stream=text, level=logging.INFO, force=True)
        log.addFilter(Ranked())
        shared.addFilter(Ranked())
        quiet.propagate = rank % 2 == 0
        comm.barrier()
        if rank == 3:
            logging.disable(logging.INFO)
        if rank == 4:
            plain = logging.getLogRecordFactory()

            def loud(*arguments, **named):
                record = plain(*arguments, **named)
                record.msg = record.msg.upper()
                return record

            logging.setLogRecordFactory(loud)
        comm.barrier()
        log.info("here")
        comm.barrier()
        quiet.info("quiet")
        say((text.getvalue().splitlines(), len(shared.filters)))
    """
    before = logging.getLogRecordFactory(), logging.root.manager.disable
    filters = list(logging.lastResort.filters)
    said, _ = played(tmp_path, "ring:5", script)
    assert (logging.getLogRecordFactory(), logging.root.manager.disable) == before
    assert logging.lastResort.filters == filters
    for rank in range(5):
        here, quiet = ("HERE", "QUIET") if rank == 4 else ("here", "quiet")
        lines = [f"INFO:filtered:[{rank}] {here}"]
        lines += [f"INFO:filtered.quiet:{quiet}"] if rank % 2 == 0 else []
        assert said[rank] == [([] if rank == 3 else lines, 1)]


@pytest.mark.parametrize("mapping", ["blocks", "random"])
def test_folders_limits_and_handlers_of_signals_are_each_processors_own(tmp_path, mapping):
    script = """
        import os, signal, socket, sys, tempfile

        def come(number, frame):
            come.told += 1

        come.told = 0
        shared = sys.getrecursionlimit(), tempfile.gettempdir()
        if rank % 2:
            tempfile.tempdir = "own"
            sys.setrecursionlimit(5000 + rank)
            socket.setdefaulttimeout(rank)
            os.umask(0o100 + rank)
            signal.signal(signal.SIGUSR2, come)
        comm.barrier()
        if rank % 2:
            os.kill(os.getpid(), signal.SIGUSR2)
        comm.barrier()
        own = sys.getrecursionlimit(), tempfile.gettempdir()
        mask = os.umask(0o22)
        os.umask(mask)
        say((own == shared, *own, socket.getdefaulttimeout(), mask, come.told))
    """
    mask = os.umask(0o22)
    os.umask(mask)
    before = sys.getrecursionlimit(), tempfile.gettempdir()
    handler = signal.getsignal(signal.SIGUSR2)
    said, _ = played(tmp_path, "ring:5", dedent(script), mapping=mapping)
    assert (sys.getrecursionlimit(), tempfile.gettempdir()) == before
    assert signal.getsignal(signal.SIGUSR2) == handler
    for rank in range(5):
        own = (False, 5000 + rank, "own", rank, 0o100 + rank, 1)
        assert said[rank] == [own if rank % 2 else (True, *before, None, mask, 0)]


def test_what_other_threads_import_before_the_first_turn_is_nobodys():
    # As the threads of a notebook's kernel do: no processor runs yet.
    world = SimpleNamespace(turns=Turns([0, 1], exits=None))
    with loading(world):
        exec("import json", {"__name__": "elsewhere", "__builtins__": __builtins__})


def test_the_standard_streams_have_the_process_s_descriptors(tmp_path):
    script = """
        import faulthandler, subprocess, sys

        faulthandler.enable()
        faulthandler.disable()
        with open("/dev/null", "w") as nowhere:
            subprocess.run(["true"], stdout=nowhere, stderr=sys.stderr, check=True)
        say((sys.stdout.fileno(), sys.stderr.fileno(), sys.stdout.line_buffering))
    """
    said, _ = played(tmp_path, "ring:3", script)
    assert said == {rank: [(1, 2, False)] for rank in range(3)}
