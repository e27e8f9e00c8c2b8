"""mpi4py's own programs: under mpinet exec they do what they do under a real mpirun.

The programs of its tutorial and its demos print the same lines, its unit tests pass. A launcher
prints the ranks' lines in any order, so that they are compared sorted.
"""

import json
import os
import re
import subprocess
from functools import cache
from itertools import islice
from pathlib import Path
from textwrap import dedent

import pytest
from launch.conftest import CHECKOUT, LONG, ONE_OR_MORE, SETTINGS, in_turn_on, other_mpirun
from launch.sources import PYTHON, mpi4py_sources

pytestmark = pytest.mark.usefixtures("forked")

DRIVERS = Path(__file__).parent / "drivers"
TIME_LIMIT = 500 if os.environ.get("MPINET_LONG") else 300  # seconds; below pytest's own
MACHINES = {"hypercube:2": 4, "torus:3x3": 9}

ELSEWHERE = re.compile(r"\.Spawn|\.Get_parent|cupy|cuda|>>>")
"""What programs use that mpinet does not emulate, and what is no program."""

TIMES = ("wall clock time", "all tasks")
"""Words in lines that are different in every run."""

ASKING = "compute-pi/cpi-cco.py"
"""The demo that asks for input, which it gets from a driver."""

QUICK = [
    *(f"mpi-ref-v1/ex-2.{example}.py" for example in "01 08 29 34 35".split()),
    *(f"mpi-ref-v1/ex-3.{example:02}.py" for example in (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13)),
    "helloworld.py",
    ASKING,
    "sequential/test_seq.py",
]

SLOW = ["mpi-ref-v1/ex-2.32.py", "mandelbrot/mandelbrot.py", "nxtval/nxtval-threads.py"]

UNIT_TESTS = "test_p2p_obj test_cco_obj test_request test_status test_op test_win test_file".split()

LONG_UNIT_TESTS = [
    *(f"test_rma.TestRMA{on}" for on in ("Self", "World")),
    *(f"test_rma_nb.TestRMA{on}" for on in ("Self", "World")),
    "test_util_sync",
    *(f"test_io.TestIO{what}{on}" for what in ("Basic", "View") for on in ("Self", "World")),
    *(f"test_p2p_buf.TestP2PBuf{on}" for on in ("Self", "World", "SelfDup", "WorldDup")),
    *(f"test_cco_buf.TestCCOBuf{on}" for on in ("Self", "World", "SelfDup", "WorldDup")),
    *(f"test_cco_buf.TestCCOBufInplace{on}" for on in ("Self", "World")),
    "test_cco_buf.TestReduceLocal",
    *(f"test_cco_vec.TestCCOVec{on}" for on in ("Self", "World", "SelfDup", "WorldDup")),
    *(f"test_cco_vec.TestCCOVecInplace{on}" for on in ("Self", "World")),
]

LOCKS = "looks into the table in which mpi4py itself keeps locks"
KNOWN_TO_FAIL = {
    "test_p2p_obj.TestP2PObjSelf.testCommLock": LOCKS,
    "test_p2p_obj.TestP2PObjWorld.testCommLock": LOCKS,
    "test_p2p_obj.TestP2PObjSelfDup.testCommLock": LOCKS,
    "test_p2p_obj.TestP2PObjWorldDup.testCommLock": LOCKS,
}
"""Tests that fail, each with the reason."""


def job(ranks: int, *words: str | Path) -> str:
    """What a command that works prints on several ranks."""
    done = subprocess.run(
        [CHECKOUT / "launch/run", "-n", str(ranks), *words],
        cwd=mpi4py_sources() / "demo/mpi-ref-v1",  # a demo reads another one's file
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return done.stdout


def lasting(text: str) -> list[str]:
    """The lines that are the same in every run: without times, hosts and digits of rounding."""
    lines = [line for line in text.splitlines() if not any(words in line for words in TIMES)]
    lines = [re.sub(r" on \S+\.$", "", line) for line in lines]
    return sorted(re.sub(r"\d+\.\d{12,}(e-\d+)?", _rounded, line) for line in lines)


def _rounded(number: re.Match[str]) -> str:
    """The order in which numbers are added changes their last digits."""
    return f"{float(number[0]):.12f}"


@cache
def really(size: int, *words: str | Path) -> list[str]:
    """What a script prints under a real mpirun."""
    return lasting(job(size, "python", *words))


def printed(network: str, ranks: int, script: Path, *words: str | Path) -> str:
    """What a script prints under mpinet exec, without what the command itself prints behind it."""
    text = job(ranks, "mpinet", "exec", "--on", network, script, *words)
    output, heading, _ = text.partition(f"{script.name} on {network}\nprocessors")
    assert heading
    return output


def emulated(network: str, ranks: int, *words: str | Path) -> list[str]:
    """The lines that a script prints under mpinet exec."""
    return lasting(printed(network, ranks, *words))


def in_turn(*files: Path) -> list[Path | str]:
    """The words that run files one after the other and show the values they leave."""
    return [DRIVERS / "in_turn.py", "--values", *files]


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The programs of the tutorial, as it prints them, a file each."""
    text = (mpi4py_sources() / "docs/source/tutorial.rst").read_text()
    blocks = re.findall(r"::\n\n((?:   +\S.*\n|\n)+)", text)
    programs = [dedent(block) for block in blocks]  # some stand in lists, and further in
    folder = tmp_path_factory.mktemp("tutorial")
    files = []
    for program in programs:
        if "from mpi4py" in program and not ELSEWHERE.search(program):
            files.append(folder / f"program{len(files)}.py")
            # One was written when NumPy still had this name for Python's int.
            files[-1].write_text(re.sub(r"\bnp\.int\b", "int", program))
    return files


def test_the_tutorial_has_fourteen_programs(tutorial):
    assert len(tutorial) == 14


@pytest.mark.parametrize(("ranks", "network"), in_turn_on([1, 3], MACHINES))
def test_the_tutorial_leaves_the_same_values(tutorial, network, ranks):
    shown = emulated(network, ranks, *in_turn(*tutorial))
    assert len(shown) > 20 * MACHINES[network]
    assert shown == really(MACHINES[network], *in_turn(*tutorial))


@pytest.mark.parametrize(("ranks", "network"), in_turn_on([1, 3], MACHINES))
def test_the_demos_print_the_same_lines(network, ranks):
    files = [mpi4py_sources() / "demo" / demo for demo in QUICK]
    shown = emulated(network, ranks, *in_turn(*files))
    assert shown == really(MACHINES[network], *in_turn(*files))


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("network", MACHINES)
@pytest.mark.parametrize("demo", [demo for demo in [*QUICK, *SLOW] if demo != ASKING])
def test_a_demo_prints_the_same_lines_as_a_script_of_its_own(demo, network, ranks):
    file = mpi4py_sources() / "demo" / demo
    assert emulated(network, ranks, file) == really(MACHINES[network], file)


@pytest.mark.long
@pytest.mark.parametrize("network", MACHINES)
def test_a_demo_of_many_steps_prints_the_same_lines_on_one_rank(network):
    file = mpi4py_sources() / "demo/mpi-ref-v1/ex-2.16.py"
    assert emulated(network, 1, file) == really(MACHINES[network], file)


def failures(tests: str, processors: int, ranks: int = 1) -> int:
    """How many unit tests have failed; the tests are a module's, or those of a class in one."""
    words = [mpi4py_sources() / "test", tests, *KNOWN_TO_FAIL]
    text = printed(f"complete:{processors}", ranks, DRIVERS / "unit_tests.py", *words)
    assert "FAILED test" not in text, text
    counts = re.search(r"^RAN (\d+), SKIPPED \d+, FAILED (\d+)$", text, re.MULTILINE)
    assert counts and int(counts[1]) > 1, text
    return int(counts[2])


def test_modules_of_unit_tests_pass():
    assert failures(",".join(UNIT_TESTS), 5) == 0


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("processors", [4, 5, 8])
@pytest.mark.parametrize("tests", UNIT_TESTS)
def test_a_module_of_unit_tests_passes_on_all_machines(tests, processors, ranks):
    assert failures(tests, processors, ranks) == 0


@pytest.mark.long
@pytest.mark.parametrize("processors", [4, 5, 8])
@pytest.mark.parametrize("tests", LONG_UNIT_TESTS)
def test_a_class_of_unit_tests_passes_on_all_machines(tests, processors):
    assert failures(tests, processors) == 0


@ONE_OR_MORE
def test_the_runner_of_the_unit_tests_runs(ranks):
    """It forbids imports of libraries whose arrays are not to be tried."""
    words = [mpi4py_sources() / "test/main.py", "-q", "-i", "test_op", "-i", "test_request"]
    done = subprocess.run(
        [CHECKOUT / "launch/run", "-n", str(ranks), "mpinet", "exec", "--on", "ring:3", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\nOK\n") == 3, done.stderr
    assert len(re.findall(r"^Ran 23 tests", done.stderr, re.MULTILINE)) == 3


@pytest.mark.parametrize(("name", "lines"), [("windows", 8), ("files", 6)])
def test_programs_of_windows_and_files_print_the_same_lines_and_have_one_digest(name, lines):
    script, digests = DRIVERS / f"{name}.py", set()
    for ranks in (1, 2, 3) if os.environ.get("MPINET_LONG") else (1, 2):
        text = job(ranks, "mpinet", "exec", "--on", "hypercube:2", "--json", script)
        digests.add(json.loads(text)["digest"])
    shown = emulated("hypercube:2", 1, script)  # a digest is that of the lines, too
    assert len(shown) == 4 * lines
    assert shown == really(4, script)
    assert len(digests) == 1


@pytest.mark.parametrize("ranks", [pytest.param(1, marks=LONG), 2, 3])
def test_messages_of_random_datatypes_have_the_bytes_of_their_type_maps_and_of_mpirun(ranks):
    words = [DRIVERS / "datatypes.py", "0", "60" if os.environ.get("MPINET_LONG") else "6"]
    shown = emulated("ring:3", ranks, *words)
    assert len(shown) == 43 * int(words[2])
    assert {line.split()[-1] for line in shown} == {"right"}
    known = [line for line in really(3, *words) if line.endswith("right")]
    assert len(known) >= 0.95 * len(shown)  # Open MPI packs some complex elements wrongly itself
    assert set(known) <= set(shown)


@pytest.mark.parametrize("mpirun", [pytest.param(other_mpirun, id="other")], indirect=True)
def test_bytes_are_reduced_under_the_other_library_as_by_its_own_mpirun(mpirun, tmp_path):
    script = tmp_path / "bytes.py"
    script.write_text(
        "import numpy as np\n"
        "from mpi4py import MPI\n"
        "comm, got = MPI.COMM_WORLD, np.zeros(2, np.uint8)\n"
        "for op in (MPI.MIN, MPI.SUM, MPI.MAX, MPI.LAND, MPI.BXOR):\n"
        "    comm.Allreduce(np.array([1 + comm.rank, 2], np.uint8), got, op)\n"
        "    print(comm.rank, got.tolist(), flush=True)\n"
    )
    words = [mpirun.parent / "mpinet", "exec", "--on", "ring:3", script]
    told = []
    for command in (words, [mpirun, "-n", "3", mpirun.parent / "python", script]):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIME_LIMIT, env=os.environ | SETTINGS
        )
        assert done.returncode == 0, done.stderr
        told.append(sorted(re.findall(r"^\d \[.*$", done.stdout, re.MULTILINE)))
    assert told[0] == told[1]
    assert len(told[0]) == 15


@ONE_OR_MORE
def test_a_program_of_a_pool_prints_the_same_lines(ranks):
    words = ["-m", "mpi4py.futures", DRIVERS / "pools.py", "argument"]
    text = job(ranks, "mpinet", "exec", "--on", "hypercube:2", *words)
    shown = lasting(text.partition("mpi4py.futures.__main__ on hypercube:2")[0])
    assert len(shown) == 9
    assert shown == really(4, *words)


def test_what_a_line_registers_for_its_end_is_called_at_its_processors_end():
    line = "import atexit; from mpi4py import MPI; c = MPI.COMM_WORLD; "
    line += "atexit.register(lambda: print('bye', c.rank, c.allreduce(1), flush=True))"
    text = job(2, "mpinet", "exec", "--on", "ring:3", "-c", line)
    assert text.startswith("bye 0 3\nbye 1 3\nbye 2 3\n-c on ring:3\nprocessors")


NEWER = {"sessions": 6, "partitions": 8, "halos": 4, "threads": 8}
"""Programs of calls that few use, and how many lines they print."""

NEWER_LONG = {"windows": 4, "names": 4, "spawned": 4, "sockets": 4}
"""Those for which a real launcher has other processes at work, or ranks wait for a lock."""


def require_the_same_lines(lines: int, ranks: int, *names: str) -> None:
    """Programs of calls that few use print as many lines, the same as under a real mpirun."""
    words = [DRIVERS / "newer.py", *names]
    text = job(ranks, "mpinet", "exec", "--on", "ring:6", "--spare", "2", *words)
    shown = lasting(text.partition("newer.py on ring:6\nprocessors")[0])
    assert len(shown) == lines
    assert shown == really(4, *words)


def test_programs_of_newer_calls_print_the_same_lines_one_after_the_other():
    require_the_same_lines(sum(NEWER.values()), 2, *NEWER)


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize(("name", "lines"), (NEWER | NEWER_LONG).items())
def test_all_programs_of_newer_calls_print_the_same_lines(name, lines, ranks):
    require_the_same_lines(lines, ranks, name)


@pytest.mark.long
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("step", [5, 14])
def test_who_is_left_by_a_failure_prints_the_same_lines_as_under_open_mpis_own(ranks, step):
    script = DRIVERS / "survivors.py"
    words = ["--allow-run-as-root", "--oversubscribe", "--with-ft", "ulfm", "-n", "4", PYTHON]
    # Open MPI's own end may wait for the dead rank without end: its lines count, not its status.
    with subprocess.Popen(
        [PYTHON.parent / "mpirun", *words, "-u", script, "2"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as real:
        printed = "".join(islice(real.stdout, 9))
        real.terminate()
    faults = ["--faults", f"node:2@{step}"]
    text = job(ranks, "mpinet", "exec", "--on", "hypercube:2", *faults, script)
    shown = lasting(text.partition("survivors.py on hypercube:2\n")[0])
    assert len(shown) == 9
    assert shown == lasting(printed)
