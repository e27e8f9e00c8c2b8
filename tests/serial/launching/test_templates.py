"""Batch scripts that are made for one command."""

import os
import shlex
import subprocess

import pytest

from mpinet.cli.session import Session

SRUN = """#!/bin/bash
printf '%s\\n' "$@" > words
while [ $# -gt 0 ]; do [ "$1" = --out ] && echo result > "$2"; shift; done
"""


def test_a_job_for_slurm_runs_the_command_with_all_its_words(tmp_path, capsys):
    words = ["route", "hypercube:4", "--faults", "node:1,link:2-3", "--algorithm", "it's one"]
    assert Session(["launch", "--slurm", "--nodes", "2", "--tasks", "64", *words]).run() == 0
    job = tmp_path / "job.sh"
    job.write_text(capsys.readouterr().out)
    assert {"#SBATCH --nodes=2", "#SBATCH --ntasks=64"} <= set(job.read_text().splitlines())
    assert "ntasks-per-node" not in job.read_text()
    (tmp_path / "srun").write_text(SRUN)
    (tmp_path / "srun").chmod(0o755)
    told = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_SUBMIT_DIR": str(tmp_path)}
    subprocess.run(["bash", job], env=told | {"SLURM_JOB_ID": "7"}, check=True, cwd=tmp_path)
    started = (tmp_path / "words").read_text().splitlines()
    assert started == ["--mpi=pmix", "mpinet", words[0], "--out", "mpinet-7.json", *words[1:]]


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
    assert Session(["launch", "--slurm", *shlex.split(typed)]).run() == 2
    assert capsys.readouterr().err.count("\n") == 1
