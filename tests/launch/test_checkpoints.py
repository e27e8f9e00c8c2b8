"""A signal to a job: a checkpoint at the next step, status 75; and the job goes on elsewhere."""

import contextlib
import json
import select
import signal
import subprocess
import sys
import time

import pytest
from launch.conftest import CHECKOUT, TIME_LIMIT

LENGTHS = (20_000, 200_000, 2_000_000)
"""Messages of jobs that a signal is to meet: where a job ends before it, the next is tried."""
MPINET = ["mpinet"]

pytestmark = pytest.mark.usefixtures("forked")


def digest(text: str) -> str:
    return json.loads(text)["digest"]


def done(words: list[str], folder) -> subprocess.CompletedProcess:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT)


LONG = pytest.mark.long


def command(messages: int) -> list[str]:
    return ["route", "torus:16x16", "--pairs", f"random:{messages}", "--ports", "one", "--json"]


def signalled(number: int, messages: int, folder) -> tuple[int, str]:
    """Exit status and words of a job on two ranks that gets a signal after its first checkpoint."""
    on_two = [str(CHECKOUT / "launch/run"), "-n", "2", *MPINET]
    saving = ["--checkpoint", "kept", "--every", "0.2", "--out", "found.json"]
    job = subprocess.Popen(
        [*on_two, *command(messages), *saving],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    manifest, state = folder / "kept/manifest.json", None
    deadline = time.monotonic() + TIME_LIMIT
    while state is None and job.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
        # The job removes its checkpoint when it ends, perhaps just now.
        with contextlib.suppress(FileNotFoundError):
            state = json.loads(manifest.read_text())["state"]
    job.send_signal(number)  # does nothing to a job that has ended
    _, said = job.communicate(timeout=TIME_LIMIT)
    return job.returncode, said


@pytest.mark.parametrize("number", [signal.SIGUSR1, pytest.param(signal.SIGTERM, marks=LONG)])
def test_a_signal_saves_a_job_which_goes_on_with_another_number_of_ranks(number, tmp_path):
    for messages in LENGTHS:
        status, said = signalled(number, messages, tmp_path)
        if status != 0:
            break
        (tmp_path / "found.json").unlink()
    assert status == 75, said
    assert "mpinet resume" in said
    assert not (tmp_path / "found.json").exists()
    manifest = tmp_path / "kept/manifest.json"
    assert json.loads(manifest.read_text())["ranks"] == 2
    resumed = done([*MPINET, "resume", "kept", "--mapping", "random"], tmp_path)
    undisturbed = done([*MPINET, *command(messages)], tmp_path)
    assert digest(resumed.stdout) == digest(undisturbed.stdout)
    assert digest((tmp_path / "found.json").read_text()) == digest(undisturbed.stdout)
    assert not manifest.parent.exists()


def test_a_time_limit_saves_a_job_which_goes_on_with_another_number_of_ranks(tmp_path):
    """On more ranks than this machine may have cores."""
    on_three = [str(CHECKOUT / "launch/run"), "-n", "3", *MPINET]
    saving = ["--checkpoint", "kept", "--time-limit", "1", "--out", "found.json"]
    for messages in LENGTHS:
        stopped = done([*on_three, *command(messages), *saving], tmp_path)
        if stopped.returncode != 0:
            break
        (tmp_path / "found.json").unlink()
    assert (stopped.returncode, "kept goes on" in stopped.stderr) == (75, True), stopped
    assert not (tmp_path / "found.json").exists()
    resumed = done([*MPINET, "resume", "kept", "--time-limit", "1e6"], tmp_path)
    undisturbed = done([*MPINET, *command(messages)], tmp_path)
    assert digest(resumed.stdout) == digest(undisturbed.stdout)
    assert not (tmp_path / "kept").exists()


def test_a_signal_does_not_end_a_job_that_writes_its_result(tmp_path):
    words = ["load", "torus:4x4", "--rate", "0.1..0.3/12", "--steps", "60", "--json"]
    job = subprocess.Popen(
        [*MPINET, *words, "--checkpoint", "kept"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        pipesize=4096,  # less than the result, which waits in the middle of being written
    )
    readable = select.select([job.stdout], [], [], TIME_LIMIT)[0]
    job.send_signal(signal.SIGUSR1)
    told, _ = job.communicate(timeout=TIME_LIMIT)
    assert (bool(readable), job.returncode, len(told) > 2 * 4096) == (True, 0, True)
    assert len(json.loads(told)["result"]["curves"][0]["points"]) == 12


# A signal of the third argument comes when the module of the second is first looked for.
EARLY = """
import os, sys

class Hit:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), int(sys.argv[2]))

from mpinet import cli
sys.meta_path.insert(0, Hit())
cli.main(sys.argv[3:])
"""


def hit_early(module, number, words, folder):
    program = folder / "early.py"
    program.write_text(EARLY)
    on_two = [str(CHECKOUT / "launch/run"), "-n", "2"] if module == "mpi4py" else []
    return done([*on_two, sys.executable, str(program), module, str(int(number)), *words], folder)


@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("mpinet.cli.session", signal.SIGTERM),
        ("numpy", signal.SIGUSR1),
        ("mpi4py", signal.SIGTERM),
    ],
)
def test_a_signal_that_comes_before_the_run_is_a_checkpoint(module, number, tmp_path):
    words = ["route", "torus:4x4", "--pairs", "random:50", "--seed", "1", "--json"]
    ended = hit_early(module, number, [*words, "--checkpoint", "kept"], tmp_path)
    assert (ended.returncode, "kept goes on" in ended.stderr) == (75, True), ended
    resumed = done([*MPINET, "resume", "kept"], tmp_path)
    assert digest(resumed.stdout) == digest(done([*MPINET, *words], tmp_path).stdout)


@pytest.mark.parametrize("module", ["mpinet.cli.session", "numpy"])
def test_a_signal_ends_a_run_without_checkpoints_at_once(module, tmp_path):
    ended = hit_early(module, signal.SIGTERM, ["route", "torus:4x4", "--pairs", "all"], tmp_path)
    assert (ended.returncode, ended.stdout) == (-signal.SIGTERM, "")
