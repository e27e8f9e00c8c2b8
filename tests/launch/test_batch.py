"""The batch templates run what the page submits, in stand-ins for Slurm and PBS."""

import json
import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT

pytestmark = pytest.mark.usefixtures("forked")

PAGE = (CHECKOUT / "docs/how-to/clusters.md").read_text()
JOB = 17
LINES = ["sbatch launch/slurm.sbatch {}", "MPINET_ARGS='{}' qsub -v MPINET_ARGS launch/pbs.sh"]

STAND_INS = {
    # A batch system runs a copy of the template, elsewhere and with little of an environment.
    "sbatch": """
template=$1; shift
cp "$template" "$SPOOL/job"; here=$PWD; cd "$SPOOL"
export SLURM_JOB_ID=17 SLURM_SUBMIT_DIR="$here"
exec bash "$SPOOL/job" "$@"
""",
    "srun": """
echo "$1" >"$SPOOL/kind"; shift
export SLURM_STEP_NUM_TASKS=1 SLURM_PROCID=0
exec "$@"
""",
    "qsub": """
[ "$1 $2" = "-v MPINET_ARGS" ] || exit 3
cp "$3" "$SPOOL/job"; here=$PWD; cd "$SPOOL"
printf 'localhost\\nlocalhost\\n' >"$SPOOL/nodes"
export PBS_JOBID=17.server PBS_O_WORKDIR="$here" PBS_NODEFILE="$SPOOL/nodes"
exec bash "$SPOOL/job"
""",
}

Submit = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def submit(tmp_path: Path) -> Submit:
    """``submit(line)``: run a line of shell in a checkout, beside stand-ins for batch systems."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "spool").mkdir()
    for name, lines in STAND_INS.items():
        file = tmp_path / "bin" / name
        file.write_text(f"#!/usr/bin/env bash\nset -eu\n{lines}")
        file.chmod(0o755)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "launch").symlink_to(CHECKOUT / "launch")

    def run(line: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {
            "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
            "SPOOL": f"{tmp_path}/spool",
        }
        return subprocess.run(
            line,
            shell=True,
            cwd=checkout,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )

    return run


def page_line(word: str) -> str:
    """The page's line that submits a job by this command."""
    (line,) = re.findall(rf"^\$ ((?:\w+=\S.*)?\b{word} (?:-v \w+ )?launch/.*)$", PAGE, re.MULTILINE)
    return line


@pytest.mark.parametrize(("word", "ranks"), [("sbatch", 1), ("qsub", 2)])
def test_the_pages_line_runs_its_command(
    submit: Submit, tmp_path: Path, word: str, ranks: int
) -> None:
    done = submit(page_line(word))
    said = [line for line in done.stderr.splitlines() if " after " not in line]  # progress
    assert (done.returncode, said) == (0, [])
    assert done.stdout.endswith(f"result in mpinet-{JOB}.json\n")
    document = json.loads((tmp_path / "checkout" / f"mpinet-{JOB}.json").read_text())
    typed = [word for word in document["command"] if word not in ("--out", f"mpinet-{JOB}.json")]
    assert " ".join(typed[1:]) in page_line(word)
    assert document["ranks"] == ranks


@pytest.mark.parametrize("line", LINES)
def test_a_script_keeps_its_arguments(submit: Submit, tmp_path: Path, line: str) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "told.py").write_text("import sys\nprint(sys.argv[1:])\n")
    done = submit(line.format("exec --on lens:2,2,2 told.py a,b --json"))
    assert done.returncode == 0, done.stderr
    assert "['a,b', '--json']" in done.stdout
    assert (checkout / f"mpinet-{JOB}.json").exists()


@pytest.mark.costly
@pytest.mark.parametrize("line", LINES)
def test_commands_of_two_words_and_results_files_of_ones_own_go_through(
    submit: Submit, tmp_path: Path, line: str
) -> None:
    checkout = tmp_path / "checkout"
    done = submit(line.format("schedule export broadcast ring:6 --out s.csv"))
    assert (done.returncode, (checkout / "s.csv").exists()) == (0, True), done.stderr
    done = submit(line.format("schedule run s.csv --on ring:6"))
    assert done.returncode == 0, done.stderr
    assert json.loads((checkout / f"mpinet-{JOB}.json").read_text())["result"]["correct"]
    (checkout / f"mpinet-{JOB}.json").unlink()
    done = submit(line.format("route ring:8 --out mine.json"))
    assert done.returncode == 0, done.stderr
    assert json.loads((checkout / "mine.json").read_text())["topology"] == "ring:8"
    assert not (checkout / f"mpinet-{JOB}.json").exists()


@pytest.mark.parametrize(
    "line", ["sbatch launch/slurm.sbatch", "qsub -v MPINET_ARGS launch/pbs.sh"]
)
def test_a_template_without_a_command_says_how_it_is_used(submit: Submit, line: str) -> None:
    done = submit(line)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ") and line.split()[-1] in done.stderr


@pytest.mark.parametrize("line", LINES)
def test_a_job_that_fails_has_its_commands_status(
    submit: Submit, tmp_path: Path, line: str
) -> None:
    done = submit(line.format("broadcast tors:4"))
    assert done.returncode == 2
    assert "did you mean torus" in done.stderr
    assert not (tmp_path / "checkout" / f"mpinet-{JOB}.json").exists()


def test_slurm_starts_ranks_of_the_checkout_as_the_library_wants_it(
    submit: Submit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "checkout/.venv").symlink_to(CHECKOUT / ".venv")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # without mpinet
    for setting, kind in (("", "pmix"), ("MPI_KIND=pmi2 ", "pmi2")):
        assert submit(f"{setting}sbatch launch/slurm.sbatch show ring:4").returncode == 0
        assert (tmp_path / "spool/kind").read_text() == f"--mpi={kind}\n"


def test_the_jobs_of_an_array_share_a_sweep_out(submit: Submit, tmp_path: Path) -> None:
    runs = tmp_path / "checkout/runs"
    plan = '{"command": "flood", "topology": "ring:8", "root": [0, 1, 2]}'
    (tmp_path / "checkout/plan.json").write_text(plan)
    for task in (2, 1):
        assert not (runs / "results.csv").exists()
        array = f"SLURM_ARRAY_TASK_ID={task} SLURM_ARRAY_TASK_COUNT=2"
        done = submit(f"{array} sbatch launch/slurm.sbatch sweep plan.json --out runs")
        assert (done.returncode, done.stderr) == (0, "")
    assert len((runs / "results.csv").read_text().splitlines()) == 1 + 3


LOSES = """#!/usr/bin/env bash
mkdir -p saved
[ "$NEW" = no ] || echo "{$RANDOM}" >saved/manifest.json
[ "$STATUS" != 138 ] || { kill -USR1 $PPID; exec sleep 600; } # which the script's own signal ends
exit "$STATUS"
"""
"""An srun that may write a checkpoint, and ends with a status."""


@pytest.mark.parametrize(
    ("status", "new", "state", "before", "again"),
    [
        (14, "yes", "RUNNING", 0, True),  # a rank was lost
        (14, "no", "RUNNING", 1, False),  # and again, without a step forwards
        (14, "yes", "COMPLETING", 0, False),  # the user has cancelled the job
        (14, "yes", "RUNNING", 10, False),
        (138, "no", "RUNNING", 0, True),  # warned of its end before its ranks listened
        (75, "yes", "RUNNING", 11, True),  # stopped as asked
        (2, "yes", "RUNNING", 0, False),
        (1, "yes", "RUNNING", 0, False),
    ],
)
def test_a_job_that_has_lost_ranks_is_queued_again_if_it_has_come_further(
    submit: Submit, tmp_path: Path, status: int, new: str, state: str, before: int, again: bool
) -> None:
    asked = tmp_path / "asked"
    for name, lines in {
        "srun": LOSES,
        "squeue": f"#!/bin/sh\necho {state}\n",
        "scontrol": f'#!/bin/sh\necho "$@" >>{asked}\n',
    }.items():
        (tmp_path / "bin" / name).write_text(lines)
        (tmp_path / "bin" / name).chmod(0o755)
    kept = tmp_path / "checkout/saved/manifest.json"
    kept.parent.mkdir()
    kept.write_text("{of the run before}")
    settings = f"NEW={new} STATUS={status} CHECKPOINT=saved SLURM_RESTART_COUNT={before}"
    done = submit(f"{settings} sbatch launch/slurm.sbatch flood ring:8")
    assert done.returncode == status
    assert (asked.read_text() if asked.exists() else "") == (f"requeue {JOB}\n" if again else "")
    assert ("queued again: mpinet resume saved" in done.stderr) == (again and status != 75)
