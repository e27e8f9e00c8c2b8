"""Batch scripts that are made for one command."""

import os
import re
import shlex
import subprocess

import pytest

from mpinet.cli.session import CommandSession
from mpinet.commands import function_of
from mpinet.commands.catalogue import COMMANDS, VERBS
from mpinet.commands.signature import signature_of
from mpinet.launching.templates import template

SRUN = """#!/bin/bash
printf '%s\\n' "$@" > words
while [ $# -gt 0 ]; do
  case $1 in --out) out=$2 ;; *.py) break ;; esac
  shift
done
[ "$ENDS" = no ] || { echo result > "$out"; echo 0 > "$MPINET_PROOF"; }
"""

JOB = "mpinet-7.json"

PLACED = {
    "route ring:4 --seed 1": f"route --out {JOB} ring:4 --seed 1",
    "schedule run s.csv --on ring:6": f"schedule run --out {JOB} s.csv --on ring:6",
    "predict flood ring:8": f"predict flood --out {JOB} ring:8",
    "exec a.py --out theirs": f"exec --out {JOB} a.py --out theirs",
    "route ring:4 --out mine.json": "route ring:4 --out mine.json",
}
"""Commands, and how they are started."""


def started(folder, job, words, ends="yes"):
    """A job in a stand-in for Slurm."""
    (folder / "srun").write_text(SRUN)
    (folder / "srun").chmod(0o755)
    told = {"PATH": f"{folder}:{os.environ['PATH']}", "SLURM_SUBMIT_DIR": str(folder)}
    told |= {"SLURM_JOB_ID": "7", "ENDS": ends}
    command = ["bash", job, *words]
    return subprocess.run(command, env=told, cwd=folder, capture_output=True, text=True)


def test_a_job_for_slurm_runs_the_command_with_all_its_words(tmp_path, capsys):
    words = ["route", "hypercube:4", "--faults", "node:1,link:2-3", "--algorithm", "it's one"]
    assert CommandSession(["launch", "--slurm", "--nodes", "2", "--tasks", "64", *words]).run() == 0
    job = tmp_path / "job.sh"
    job.write_text(capsys.readouterr().out)
    assert {"#SBATCH --nodes=2", "#SBATCH --ntasks=64"} <= set(job.read_text().splitlines())
    assert "ntasks-per-node" not in job.read_text()
    assert started(tmp_path, job, []).returncode == 0
    begun = (tmp_path / "words").read_text().splitlines()
    assert begun == ["--mpi=pmix", "mpinet", words[0], "--out", JOB, *words[1:]]


def test_the_results_file_is_named_behind_the_command_unless_the_words_name_one(tmp_path):
    job = tmp_path / "job.sbatch"
    job.write_text(template("slurm"))
    for typed, begun in PLACED.items():
        done = started(tmp_path, job, typed.split())
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "words").read_text().split()[2:] == begun.split()
        own = "mine.json" if "mine.json" in typed else JOB
        assert (tmp_path / own).read_text() == "result\n"
        assert done.stdout == (f"result in {JOB}\n" if own == JOB else "")
        (tmp_path / own).unlink()
        assert not any(path.name.startswith(".mpinet") for path in tmp_path.iterdir())


def test_a_run_of_which_rank_0_has_not_told_the_end_is_no_success(tmp_path):
    job = tmp_path / "job.sbatch"
    job.write_text(template("slurm"))
    (tmp_path / ".mpinet-7.end").write_text("0\n")  # of the run before, which was queued again
    done = started(tmp_path, job, ["route", "ring:4"], ends="no")
    assert done.returncode == 1
    assert "the run did not complete" in done.stderr


def test_the_templates_know_which_commands_have_two_words():
    onward = {name for name in COMMANDS if signature_of(function_of(name)).is_onward}
    for name in ("slurm", "pbs"):
        (cases,) = re.findall(r"^case .* in (.*)\) first=2 ;; esac$", template(name), re.M)
        assert set(cases.split(" | ")) == set(VERBS) | onward


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "--tasks 4",
        "route ring:4",
        "--tasks x route ring:4",
        "--tasks 0 route ring:4",
        "--tasks",
    ],
)
def test_a_job_without_ranks_or_command_is_refused(typed, capsys):
    assert CommandSession(["launch", "--slurm", *shlex.split(typed)]).run() == 2
    assert capsys.readouterr().err.count("\n") == 1
