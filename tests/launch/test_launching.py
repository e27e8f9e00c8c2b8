"""`mpinet launch`, `doctor` and `demo` with each MPI library, from its own environment."""

import json
import os
import re
import subprocess
from pathlib import Path

from launch.conftest import OWN_LIBRARY, TIME_LIMIT, own_mpirun
from launch.debian import DEBIANS, EVERY_LIBRARY


def run(mpirun: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """mpinet of the launcher's environment, with a PATH that does not know it."""
    return subprocess.run(
        [mpirun.parent / "mpinet", *words],
        cwd=cwd,
        env=os.environ | {"PATH": "/usr/bin:/bin"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
    )


@EVERY_LIBRARY
def test_a_command_runs_on_as_many_ranks_as_are_wanted(mpirun: Path) -> None:
    done = run(mpirun, "launch", "-n", "3", "flood", "ring:8", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["ranks"], document["result"]["steps"]) == (0, 3, 4)


@OWN_LIBRARY
def test_options_for_the_launcher_reach_it(mpirun: Path) -> None:
    done = run(mpirun, "launch", "-n", "2", "--host", "localhost:2", "--", "flood", "ring:8")
    assert done.returncode == 0 and "steps          4" in done.stdout


def test_wrong_words_get_a_sentence() -> None:
    own = own_mpirun()
    assert own is not None
    for words, sentence in (
        (["-n", "2"], "mpinet launch: a command is missing; see mpinet launch -h"),
        (["flood", "ring:8"], "mpinet launch: -n needs the number of ranks"),
        (["4", "flood", "ring:8"], "follows -n: mpinet launch -n 4 flood ring:8"),
        (["-n", "2", "--bogus", "flood", "ring:8"], "mpinet launch: unknown option --bogus"),
    ):
        done = run(own, "launch", *words)
        assert done.returncode == 2 and sentence in done.stderr


@EVERY_LIBRARY
def test_the_doctor_finds_that_all_is_well(mpirun: Path) -> None:
    done = run(mpirun, "doctor", "--json")
    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert (done.returncode, findings["two ranks"]["verdict"]) == (0, "ok"), done.stdout
    assert findings["they belong together"]["found"].startswith("yes, both ")


@DEBIANS
def test_the_demo_runs_with_an_older_library(mpirun: Path, tmp_path: Path) -> None:
    asking = "from mpi4py import MPI; print(MPI.Get_library_version())"
    version = subprocess.check_output([mpirun.parent / "python", "-c", asking], text=True)
    assert re.match(r"(Open MPI v|MPICH Version:\s+)4\.", version)
    done = run(mpirun, "demo", "-n", "3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" yes\n") == 4


STARTS = """
from mpinet.launching.launcher import launch
launch(2, ["sh", "-c", "echo this is the reason >&2; sleep 0.2; exit 3"])
"""


@EVERY_LIBRARY
def test_the_error_of_a_job_has_the_reason_and_not_what_launchers_say_of_every_failure(
    mpirun: Path,
) -> None:
    done = subprocess.run(
        [mpirun.parent / "python", "-c", STARTS], capture_output=True, text=True, timeout=TIME_LIMIT
    )
    last = done.stderr.splitlines()[-1]
    assert "ended with status 3: " in last and "this is the reason" in last
    assert "non-zero" not in last and "terminated" not in last
