"""Options and marks of pytest on emulated processors: outcomes, patches, sizes and orders."""

import re
import sys
from textwrap import dedent

import pytest
from launch.test_plugin import suite

EXPECTED = """
    import pytest

    @pytest.mark.xfail(reason="known")
    def test_one_fails_while_others_wait(comm):
        assert comm.rank != 0
        comm.recv(source=0)

    @pytest.mark.xfail(strict=True)
    def test_one_fails_and_others_pass(comm):
        assert comm.rank != 1

    @pytest.mark.xfail(raises=ValueError)
    def test_another_error(comm):
        if comm.rank == 1:
            raise KeyError
        raise ValueError

    def test_afterwards(comm):
        assert comm.allreduce(1) == comm.size
"""


@pytest.mark.parametrize("size", [1, 3])
def test_an_expected_failure_of_one_processor_is_one_of_the_test(tmp_path, size):
    status, text = suite(tmp_path, EXPECTED, "--mpinet", str(size))
    if size == 1:  # then nothing waits, and no processor 1 fails
        assert status == 1 and "1 failed, 1 passed, 2 xfailed" in text
        assert re.search(r"^FAILED .*::test_one_fails_and_others_pass", text, re.M)
        return
    assert status == 1 and "1 failed, 1 passed, 2 xfailed" in text, text
    assert re.search(r"^FAILED .*::test_another_error - KeyError", text, re.M)


def test_a_failed_import_on_one_processor_is_shown(tmp_path):
    tests = """
        from mpi4py import MPI

        if MPI.COMM_WORLD.rank == 1:
            import no_such_module

        MPI.COMM_WORLD.barrier()

        def test_nothing(): pass
    """
    status, text = suite(tmp_path, tests, "--mpinet", "3")
    assert status == 2 and "No module named 'no_such_module'" in text, text
    assert "1 error during collection" in text and "different tests" not in text


PATCHED = """
    import os, platform, sys, time
    from unittest import mock

    def test_monkeypatch(comm, monkeypatch):
        monkeypatch.setattr(time, "time", lambda: comm.rank)
        monkeypatch.setattr(sys, "argv", ["program", str(comm.rank)])
        monkeypatch.syspath_prepend(f"/of/{comm.rank}")
        monkeypatch.setenv("RANK_OF_TEST", str(comm.rank))
        if comm.rank == 1:
            monkeypatch.delattr(platform, "machine")
        comm.barrier()
        assert (time.time(), sys.argv[1]) == (comm.rank, str(comm.rank))
        assert sys.path[0] == f"/of/{comm.rank}" and os.environ["RANK_OF_TEST"] == sys.argv[1]
        assert hasattr(platform, "machine") == (comm.rank != 1)
        comm.barrier()

    def test_patches_are_undone(comm):
        comm.barrier()
        assert time.time() > 1e9 and not sys.path[0].startswith("/of/")
        assert hasattr(platform, "machine")

    def test_mock(comm):
        with mock.patch("platform.node", return_value=comm.rank) as patched:
            comm.barrier()
            assert platform.node() == comm.rank
            comm.barrier()
            assert patched.call_count == 1
        comm.barrier()
        assert isinstance(platform.node(), str)
"""


@pytest.mark.parametrize("size", ["1", "3"])
def test_patches_of_shared_modules_are_each_processors_own(tmp_path, size):
    status, text = suite(tmp_path, PATCHED, "--mpinet", size)
    assert status == 0 and "3 passed" in text, text


def test_setups_of_the_first_processor_are_shown(tmp_path):
    tests = """
        import pytest

        @pytest.fixture
        def thing(): return 1

        def test_thing(thing, comm): assert thing
    """
    status, text = suite(tmp_path, tests, "--mpinet", "3", "--setup-show")
    assert status == 0 and text.count("SETUP    F thing") == 1, text


SIZES = """
    import pytest

    def test_of_all_sizes(comm):
        assert comm.size != 2

    @pytest.mark.mpinet(n=3)
    def test_of_three(comm):
        assert comm.size == 3
"""


def test_tests_run_on_several_numbers_of_processors(tmp_path):
    status, text = suite(tmp_path, SIZES, "--mpinet", "1..4")
    assert status == 1 and "1 failed, 4 passed" in text and "mpinet: 1..4 processors" in text, text
    assert re.search(r"^FAILED test_suite.py::test_of_all_sizes\[2 processors\]", text, re.M)
    assert text.count("test_of_three") == 1


CROSSING = """
    def test_large_messages_cross(comm):
        other = comm.size - 1 - comm.rank
        comm.send(bytes(2000), other)
        comm.recv(source=other)
"""


@pytest.mark.parametrize(
    ("sends", "passes"), [("2kB", False), ("3kB", True), ("synchronous", False)]
)
def test_messages_above_a_size_wait_for_their_receives(tmp_path, sends, passes):
    status, text = suite(tmp_path, CROSSING, "--mpinet", "2", "--sends", sends)
    assert (status == 0) == passes, text
    assert passes or "waits in send" in text


ORDERED = """
    def test_order(comm):
        if comm.rank == 0:
            assert [comm.recv() for _ in range(3)] == [1, 2, 3]
        else:
            comm.send(comm.rank, 0)

    def test_seed(request):
        assert hash("") == 0 and request.config.getoption("mpinet_seed") in range(9)
"""


def test_the_order_of_messages_is_drawn_by_the_seed(tmp_path):
    status, _ = suite(tmp_path, ORDERED, "--mpinet", "4", "--seed", "7")
    assert status == 0
    drawn = ["--mpinet", "4", "--arrivals", "random", "--seed"]
    ends = [suite(tmp_path, ORDERED, *drawn, str(seed))[0] for seed in range(4)]
    assert 1 in ends  # 5 of 6 orders fail
    again = suite(tmp_path, ORDERED, *drawn, "1", "-k", "order")
    assert again[0] == ends[1] and "hash seed 1" in again[1]


def test_a_suite_may_have_its_own_option_seed(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser): parser.addoption('--seed', type=int)\n"
    )
    status, text = suite(
        tmp_path, "def test_own(pytestconfig): assert pytestconfig.option.seed == 5", "--seed", "5"
    )
    assert status == 0, text


COVERAGE = """
    import sys
    import pytest

    class Plugin:
        pass

    def pytest_addoption(parser):
        parser.addoption("--no-cov", action="store_true")

    def pytest_configure(config):
        is_member = hasattr(config, "workerinput")
        with open("sessions.txt", "a") as file:
            file.write(f"{is_member} {config.option.no_cov}\\n")
"""


def test_only_the_hosts_session_measures_coverage(tmp_path):
    """A plugin with the name and the switch of pytest-cov notes the sessions it would measure."""
    (tmp_path / "pytest_cov.py").write_text(dedent(COVERAGE))
    status, text = suite(
        tmp_path, "def test_nothing(comm): pass", "--mpinet", "2", "-p", "pytest_cov"
    )
    assert status == 0, text
    found = (tmp_path / "sessions.txt").read_text().split("\n")
    assert found == ["False False", "True True", "True True", ""]


MEASURED = """
    import measured

    def test_branches(comm):
        comm.barrier()
        assert measured.number(comm.rank) == comm.rank
        comm.barrier()
"""


def test_coverage_counts_the_lines_of_all_processors(tmp_path):
    lines = ["def number(rank):", "    if rank == 0:", "        return 0"]
    lines += ["    if rank == 1:", "        return 1", "    return 2", ""]
    (tmp_path / "measured.py").write_text("\n".join(lines))
    (tmp_path / "test_suite.py").write_text(dedent(MEASURED))
    import subprocess

    words = ["-m", "coverage", "run", "--include", "measured.py", "-m", "pytest"]
    words += ["-p", "no:cacheprovider", "--mpinet", "2"]
    subprocess.run([sys.executable, *words], cwd=tmp_path, check=True, capture_output=True)
    shown = [sys.executable, "-m", "coverage", "report", "-m"]
    told = subprocess.run(shown, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert re.search(r"measured.py +6 +1 +83% +6\n", told), told
