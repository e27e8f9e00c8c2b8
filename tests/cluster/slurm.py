"""A real Slurm over the pretended hosts: munge and slurmctld on host 1, a slurmd on each."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

from cluster.hosts import SEARCHED, Hosts, wait_until

PROGRAMS = ("slurmctld", "slurmd", "munged", "srun", "sbatch", "salloc", "scontrol")

SETTINGS = """
ClusterName=mpinet
SlurmctldHost=node1
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={own}/munge.socket,cred_expire=5
StateSaveLocation={own}/state
SlurmdSpoolDir={own}/spool.%n
TmpFS={own}/tmp.%n
SlurmctldPidFile={own}/ctld.pid
SlurmdPidFile={own}/slurmd.%n.pid
SlurmctldLogFile={own}/ctld.log
SlurmdLogFile={own}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=5
KillWait=3
MinJobAge=300
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,sched_interval=2,bf_interval=2
NodeName=node[1-{hosts}] CPUs={cpus} Sockets=1 CoresPerSocket={cpus} ThreadsPerCore=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP
"""

ASKED = 0.15
"""Seconds after which Slurm is asked again: to ask it costs more of a core than to wait."""

FEW_CORES = {
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "10",
    "PRTE_MCA_hwloc_default_binding_policy": "none",
}
"""Settings of all jobs: these hosts have told Slurm of more cores than they have."""


def why_not() -> str:
    """Why there can be no Slurm here; empty where there can."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=SEARCHED)]
    if missing:
        return f"no {', '.join(missing)}: apt-get install slurm-wlm munge libpmix-dev"
    return ""


class Slurm:
    """Slurm on all hosts.

    Parameters
    ----------
    hosts : Hosts
        They run already.
    cpus : int
        Processors that every host claims to have.
    """

    def __init__(self, hosts: Hosts, cpus: int = 4):
        self.hosts = hosts
        self.own = hosts.folder("slurm")
        self._write_settings(cpus)
        key = f"--socket={self.own}/munge.socket --key-file={self.own}/munge.key --force"
        places = f"--pid-file={self.own}/munged.pid --log-file={self.own}/munged.log"
        self._daemon(1, f"munged {key} {places} --seed-file={self.own}/munge.seed")
        self._daemon(1, f"slurmctld -f {self.own}/slurm.conf")
        for number in hosts.all:
            self.serve(number)
        self.settle()

    def settle(self) -> None:
        """Wait until all hosts take jobs; what runs then is the hosts' own."""
        ready = f"{len(self.hosts.all)} idle"
        wait_until(
            lambda: self.says("sinfo", "-h", "-o", "%D %t") == ready,
            100,
            lambda: self.says("sinfo", "-N"),
            ASKED,
        )
        self.hosts.known()

    def mend(self) -> None:
        """Let all hosts run, with their daemons; wait for the end of all jobs."""
        self.hosts.restore()
        for number, host in self.hosts.all.items():
            if not any(program_of(words) == "slurmd" for words in host.processes().values()):
                self.serve(number)
        wait_until(lambda: self.says("squeue", "-h") == "", 100, lambda: self.says("squeue"), ASKED)
        self.settle()

    def run(
        self, *words: str | Path, cwd: Path | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on host 1, where jobs are submitted."""
        settings = FEW_CORES | {"SLURM_CONF": f"{self.own}/slurm.conf"} | environment
        return self.hosts.run(1, *words, cwd=cwd, **settings)

    def says(self, *words: str) -> str:
        """What a command prints."""
        return self.run(*words).stdout.strip()

    def serve(self, number: int) -> None:
        """Start a host's slurmd."""
        for kind in ("spool", "tmp"):
            (self.own / f"{kind}.node{number}").mkdir(exist_ok=True)
        self._daemon(number, f"slurmd -f {self.own}/slurm.conf -N node{number}")

    def down(self) -> None:
        """End all daemons."""
        for host in self.hosts.all.values():
            for pid, words in host.processes().items():
                if program_of(words) in ("slurmd", "slurmctld", "slurmstepd:", "munged"):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)

    def state(self, job: str) -> str:
        """PENDING, RUNNING, COMPLETED, .."""
        shown = self.says("scontrol", "show", "job", "-o", job)
        return next(
            (word.partition("=")[2] for word in shown.split() if word.startswith("JobState=")), ""
        )

    def _daemon(self, number: int, line: str) -> None:
        done = self.run_on(number, *line.split())
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}{self._logs()}"

    def run_on(self, number: int, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command on a host, with root's whole PATH and output to files: daemons keep it."""
        said = self.own / "said"
        with open(said, "w") as file:
            status = subprocess.call(
                self.hosts.all[number].within(words),
                env=os.environ | {"PATH": SEARCHED, "SLURM_CONF": f"{self.own}/slurm.conf"},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        return subprocess.CompletedProcess(words, status, said.read_text(), "")

    def _logs(self) -> str:
        return "".join(file.read_text()[-500:] for file in self.own.glob("*.log"))

    def _write_settings(self, cpus: int) -> None:
        (self.own / "state").mkdir()
        (self.own / "munge.key").write_bytes(os.urandom(1024))
        (self.own / "munge.key").chmod(0o400)
        settings = SETTINGS.format(own=self.own, hosts=len(self.hosts.all), cpus=cpus)
        (self.own / "slurm.conf").write_text(settings)
        # Not used, but slurmd 22.05 does not start without a plug-in.
        (self.own / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")


def program_of(words: str) -> str:
    """The name of the program of a command line."""
    return Path((words.split() or [""])[0]).name
