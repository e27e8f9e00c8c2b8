"""A signal to a job: a checkpoint at the next step, status 75; and the job goes on elsewhere."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT

COMMAND = ["route", "torus:16x16", "--pairs", "random:20000", "--ports", "one", "--json"]
MPINET = [sys.executable, "-m", "mpinet"]


def digest(text: str) -> str:
    return json.loads(text)["digest"]


def done(words: list[str], folder) -> subprocess.CompletedProcess:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT)


LONG = pytest.mark.long


@pytest.mark.parametrize("number", [signal.SIGUSR1, pytest.param(signal.SIGTERM, marks=LONG)])
def test_a_signal_saves_a_job_which_goes_on_with_another_number_of_ranks(number, tmp_path):
    on_two = [str(CHECKOUT / "launch/run"), "-n", "2", *MPINET]
    saving = ["--checkpoint", "kept", "--every", "0.2", "--out", "found.json"]
    job = subprocess.Popen(
        [*on_two, *COMMAND, *saving],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    manifest, state = tmp_path / "kept/manifest.json", None
    deadline = time.monotonic() + TIME_LIMIT
    while state is None and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
        state = json.loads(manifest.read_text())["state"] if manifest.exists() else None
    os.kill(job.pid, number)
    _, said = job.communicate(timeout=TIME_LIMIT)
    assert job.returncode == 75, said
    assert "mpinet resume" in said
    assert not (tmp_path / "found.json").exists()
    assert json.loads(manifest.read_text())["ranks"] == 2
    resumed = done([*MPINET, "resume", "kept", "--mapping", "random"], tmp_path)
    undisturbed = done([*MPINET, *COMMAND], tmp_path)
    assert digest(resumed.stdout) == digest(undisturbed.stdout)
    assert digest((tmp_path / "found.json").read_text()) == digest(undisturbed.stdout)
    assert not manifest.parent.exists()
