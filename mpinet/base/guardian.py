"""A separate program that watches a job's processes on one host, and ends them.

``launch/run`` starts one beside its launcher; ranks that nobody watches start one on their host
(`watch_ranks`). It reads from its standard input, which whoever has started it keeps open:

    watch PID ..   the processes that it is about, and with them all that descend from them
    below PID      the ranks that this process has started, also those that it starts later
    folder PATH    a folder of the job's own, to be deleted at its end
    end N          send them signal N, kill those that are still there after two seconds; exit
    orphans        kill what is left of the job; exit
    over           exit

Where that input ends without a word, the process that held it is dead. On the other hosts of a job
ssh starts it, ``--there``: it runs the daemon of the launcher, and ends all when nothing is heard
any more.

Processes that are killed leave what their MPI library has made: folders, and segments of shared
memory. The libraries are told to keep what they can in the job's own folders; for other segments it
is noted while the job runs which ones its processes have mapped, and they are deleted at its end if
no process has them mapped then.

What is watched is whether a process is stopped (SIGSTOP, a debugger's excepted): as the system
knows that, a rank that computes for hours is never taken for one that does not answer, and it is
seen of the launcher, too. It needs nothing of mpinet and runs with any Python.
"""

from __future__ import annotations

import os
import platform
import re
import select
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from typing import Any, NamedTuple

RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
"""Variables by which launchers tell a process its rank."""

PLACE_VARIABLES = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
"""Variables by which launchers tell a process its rank on its host."""

LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "prterun", "prted", "orted", "hydra_pmi_proxy")
"""Programs that start ranks, and are watched with them."""

GRACE, LAST = 2.0, 1.0
"""Seconds that processes have between a signal and SIGKILL, and to vanish after that; where nobody
waits for what they may still say, the second holds for both."""

OWN_LOOKS = 20
"""Number of looks in the time after which a stopped process ends the job."""

FIRST_LOOK, OFTEN = 0.1, 10
"""Fewest seconds between two looks for segments; they grow to the job's age divided by `OFTEN`."""

SILENCE = 8.0
"""Seconds without a sign of life from the launching host after which it is taken for lost
(--there).
"""

REMOTE_FOLDERS = ("PRTE_MCA_prte_remote_tmpdir_base", "OMPI_MCA_orte_remote_tmpdir_base")
"""Variables that tell Open MPI's daemons, of version 5 and 4, the folder for a session's files."""

SEGMENT = re.compile(
    rb"\S+ r\S+ \S+ (\S+) (\d+) +"
    rb"(/dev/shm/(?:mpich_shm_|sm_segment\.|vader_segment\.|osc_|ucx_shm_|psm\d_shm)[^/\n]*)\n"
)
"""A line of /proc/PID/maps: device, inode and path of a segment that an MPI library has made."""


class Process(NamedTuple):
    """A process of this host: its parent, and its state as ``ps`` writes it."""

    parent: int
    state: str


def processes() -> dict[int, Process]:
    """Return all processes of this host that are not dead, by their numbers."""
    found = {}
    for number, parent, state in _by_proc() if os.path.isdir("/proc/self") else _by_ps():
        if state[:1] not in ("Z", "X"):
            found[number] = Process(parent, state)
    return found


def _by_proc() -> Iterable[tuple[int, int, str]]:
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b") ")[2].split(None, 2)[:2]
            yield int(name), int(parent), state.decode()


def _by_ps() -> Iterable[tuple[int, int, str]]:
    import subprocess

    told = subprocess.run(["ps", "-axo", "pid=,ppid=,state="], capture_output=True, text=True)
    for line in told.stdout.splitlines():
        number, parent, state = line.split(None, 2)
        yield int(number), int(parent), state


def descendants(roots: Iterable[int], table: dict[int, Process]) -> list[int]:
    """List those of the roots that exist, and all their descendants, except this process."""
    children: dict[int, list[int]] = {}
    for number, process in table.items():
        children.setdefault(process.parent, []).append(number)
    found: dict[int, None] = {}
    left = [root for root in roots if root in table]
    while left:
        number = left.pop()
        if number not in found and number != os.getpid():
            found[number] = None
            left += children.get(number, [])
    return list(found)


def setting(number: int, names: Sequence[str]) -> str | None:
    """Return the first of these environment variables that a process was started with."""
    try:
        with open(f"/proc/{number}/environ", "rb") as file:
            settings = dict(line.partition(b"=")[::2] for line in file.read().split(b"\0"))
    except OSError:
        return None
    texts = (settings.get(name.encode(), b"").decode(errors="replace") for name in names)
    return next(filter(None, texts), None)


def program_of(number: int) -> str:
    """Return the name of a process's program; empty where there is no such process."""
    try:
        with open(f"/proc/{number}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def rank_of(number: int) -> str | None:
    """Return the rank that a process is, or was started by; None where there is none."""
    # Under srun a launcher's daemon is a task of Slurm's itself, and has the variables of one. It
    # waits for all that ranks have started: a guardian that waited for it would never end.
    if program_of(number) in LAUNCHERS:
        return None
    return setting(number, RANK_VARIABLES)


def send(number: int, processes: Iterable[int]) -> None:
    """Send a signal to those of the processes that still exist."""
    for process in processes:
        with suppress(OSError):
            os.kill(process, number)


def gone(processes_: Iterable[int], seconds: float) -> bool:
    """Whether all of these processes end within `seconds`."""
    left, limit = set(processes_), time.monotonic() + seconds
    while left := left & set(processes()):
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


class Remains:
    """Files that a job's processes would leave behind if they were killed."""

    def __init__(self) -> None:
        self._folders: list[str] = []
        self._segments: dict[str, tuple[bytes, bytes]] = {}

    def add(self, folder: str) -> None:
        """Have a folder deleted at the end."""
        self._folders.append(folder)

    def note(self, processes: Iterable[int]) -> None:
        """Note the segments of shared memory that these processes have mapped."""
        for number in processes:
            self._segments |= segments(number)

    def remove(self) -> None:
        """Delete the folders, and those of the segments that no process maps any more."""
        import shutil  # which ranks do not need

        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        # Another job may have mapped a segment, or made a new one under an old name: delete only
        # those that no process maps, and that still have the inode noted.
        left = {path for path in self._segments if os.path.exists(path)}
        if not left:
            return
        for number in processes():
            left -= set(segments(number))
        for path in left:
            with suppress(OSError):
                found = os.stat(path)
                if found.st_uid == os.geteuid() and found.st_ino == int(self._segments[path][1]):
                    os.unlink(path)


def segments(number: int) -> dict[str, tuple[bytes, bytes]]:
    """Return the MPI segments that a process has mapped: device and inode by path."""
    try:
        with open(f"/proc/{number}/maps", "rb") as file:
            found = SEGMENT.findall(file.read())
    except OSError:
        return {}
    return {os.fsdecode(path): (device, inode) for device, inode, path in found}


class Guardian:
    """Watches a job's processes, and ends the job if one is stopped for too long.

    Parameters
    ----------
    limit : float
        Seconds after which a stopped process ends the job; 0: never.
    patience : float
        Seconds after which it is told that the launcher is stopped.
    name : str
        Who tells.
    owner : int
        The script that waits for the job, to be woken where it is stopped; 0: there is none.
    mark : str
        What the environment of all processes of the job has in ``MPINET_PROOF``, if anything.
    """

    def __init__(self, limit: float, patience: float, name: str, owner: int, mark: str):
        self._limit, self._patience = limit, patience
        self._name, self._owner, self._mark = name, owner, mark
        self._roots: list[int] = []
        self._daemon = 0
        self._stopped: dict[int, float] = {}
        self._told: set[int] = set()
        self._began = time.monotonic()
        self.remains = Remains()
        waits = min(limit or patience, patience)
        self.pause = min(5.0, max(0.05, waits / OWN_LOOKS))

    def watch(self, roots: Sequence[int]) -> None:
        """Watch these processes and their descendants from now on."""
        self._roots = list(roots)

    def watch_below(self, daemon: int) -> None:
        """Watch the ranks that this process has started or will start, from now on."""
        self._daemon = daemon

    def _ranks(self, table: dict[int, Process]) -> list[int]:
        """List the processes below the daemon that are ranks, or were started by ranks."""
        below = (number for number in descendants([self._daemon], table) if number != self._daemon)
        return [number for number in below if rank_of(number) is not None]

    def next_look(self) -> float:
        """Return the seconds until the next look: fewer while a young job makes its segments."""
        age = time.monotonic() - self._began
        return min(self.pause, max(FIRST_LOOK, age / OFTEN))

    def _above(self, table: dict[int, Process]) -> list[int]:
        """List the launchers of the ranks that no other guardian watches."""
        if self._owner:
            return [self._owner]
        found = []
        for number in self._roots:
            while number in table:
                number = table[number].parent
                if program_of(number) not in LAUNCHERS:
                    break
                found.append(number)
        return list(dict.fromkeys(found))

    def look(self, seconds: float) -> bool:
        """Look once; return whether anything is left to watch.

        Parameters
        ----------
        seconds : float
            Since the last look. Longer than two pauses is not believed: this process was itself
            kept from looking, as where a batch system suspends a whole job.
        """
        table = processes()
        if self._daemon:
            self._roots = self._ranks(table)
        family = descendants(self._roots, table)
        self.remains.note(family)
        # `T` is a process stopped by a signal. Time counts only as far as this process could look.
        # Who is dead is stopped no more: its name would be told again after the job's end.
        self._stopped = {
            number: self._stopped.get(number, 0.0) + min(seconds, 2 * self.pause)
            for number in [*self._above(table), *family]
            if number in table and table[number].state == "T"
        }
        late = [k for k, since in self._stopped.items() if 0 < self._limit <= since]
        if late == [self._owner] and not family:  # the job is over: nothing is lost
            send(signal.SIGCONT, late)
            return False
        if late:
            self._end_for(late, table, family)
            return False
        for number, since in self._stopped.items():
            if since >= self._patience and number not in self._told:
                self._told.add(number)
                self._tell_stopped(number)
        return bool(family)

    def _tell_stopped(self, number: int) -> None:
        """Report a stopped launcher; other ranks report stopped ranks (`machine.lookout`)."""
        if rank_of(number) is None:
            what = ", which runs the job," if number in self._roots else ""
            self._say(f"process {number}{what} is stopped (kill -CONT {number} lets it go on)")

    def _end_for(self, late: list[int], table: dict[int, Process], family: list[int]) -> None:
        """End the job because of processes that have been stopped for too long."""
        named = " and ".join(self._named(number) for number in late)
        have = "has" if len(late) == 1 else "have"
        self._say(
            f"{named} on {platform.node()} {have} been stopped for {self._limit:g} s: the job is "
            "ended (--watchdog 0 waits without end)"
        )
        # A stopped process obeys no other signal. The script of ``launch/run`` has to live on: it
        # tells the end of the job, and is woken when the rest is gone.
        send(signal.SIGKILL, [number for number in late if number != self._owner])
        if self._owner:
            self.end(signal.SIGTERM, family)
            send(signal.SIGCONT, [self._owner])
        elif not gone(family, GRACE):  # the launcher ends a job of which a rank is dead
            send(signal.SIGKILL, family)

    def _named(self, number: int) -> str:
        """Name a process in terms that the user knows."""
        rank = rank_of(number)
        if rank is not None:
            return f"rank {rank} (process {number})"
        return f"{self._name if number == self._owner else 'the launcher'} (process {number})"

    def end(self, number: int, family: Sequence[int] = (), grace: float = GRACE) -> None:
        """Send a signal to the watched processes; kill those left after `grace` seconds."""
        family = [*family, *descendants(self._roots, processes())]
        self.remains.note(family)
        send(number, self._roots)
        if not gone(family, grace):
            send(signal.SIGKILL, family)
            gone(family, LAST)
        self.end_orphans()

    def marked(self) -> list[int]:
        """List the job's processes except this one, known by their environment alone."""
        if not self._mark:
            return []
        others = (number for number in processes() if number != os.getpid())
        return [number for number in others if setting(number, ["MPINET_PROOF"]) == self._mark]

    def end_orphans(self) -> None:
        """Kill the job's processes that have lost their launcher, and delete what they leave."""
        left = self.marked()
        self.remains.note(left)
        send(signal.SIGKILL, left)
        gone(left, LAST)
        self.remains.remove()

    def linger(self) -> None:
        """Keep looking until all ranks are gone, as the first of them has asked."""
        self.pause = 0.02
        while self.look(self.pause):
            time.sleep(self.pause)
        self.remains.remove()

    def _say(self, text: str) -> None:
        with suppress(OSError):
            os.write(2, f"{self._name}: {text}\n".encode())


def obey(guardian: Guardian, line: str) -> bool:
    """Carry out one request; return whether to go on."""
    word, _, rest = line.partition(" ")
    if word == "watch":
        guardian.watch([int(number) for number in rest.split()])
        return True
    if word == "below":
        guardian.watch_below(int(rest))
        return True
    if word == "folder":
        guardian.remains.add(rest)
        return True
    if word == "end":
        guardian.end(int(rest))
    elif word == "orphans":
        guardian.end_orphans()
    else:
        guardian.remains.remove()
    return False


def keep(guardian: Guardian, launched: bool) -> None:
    """Read and look until there is nothing to do any more."""
    # Requests come as lines on standard input, whose end says that the other side is gone.
    heard, looked = b"", time.monotonic()
    while True:
        pause = guardian.next_look()
        ready, _, _ = select.select([0], [], [], pause)
        if ready:
            text = os.read(0, 4096)
            heard += text
            *lines, heard = heard.split(b"\n")
            for line in lines:
                if not obey(guardian, os.fsdecode(line)):
                    return
            if not text:
                break
        now = time.monotonic()
        if now - looked >= pause:
            if not guardian.look(now - looked) and not launched:
                return
            looked = now
    if launched:
        guardian.end(signal.SIGTERM, grace=LAST)
    else:
        guardian.linger()


def run_there(mark: str, shared: str, command: str) -> int:
    """Run a launcher's daemon on a host other than the launcher's, until the launcher falls silent.

    Parameters
    ----------
    mark : str
        What the environment of all processes of the job has in ``MPINET_PROOF``.
    shared : str
        The job's own folder for shared memory, to be made here, too; empty: there is none.
    command : str
        Starts the daemon.

    Returns
    -------
    int
        The daemon's exit status; 0 where nobody is there to hear it.
    """
    import subprocess
    import tempfile

    os.environ["MPINET_PROOF"] = mark
    guardian = Guardian(0, 60, "mpinet", 0, mark)
    own = tempfile.mkdtemp(prefix="mpinet-run-")
    guardian.remains.add(own)
    if not re.search(r"[po]rte_(remote_)?tmpdir_base", command):  # the user's own
        os.environ.update(dict.fromkeys(REMOTE_FOLDERS, own))
    with suppress(OSError):  # hosts may share it: then who has made it deletes it
        os.mkdir(shared, 0o700)
        guardian.remains.add(shared)
    # A daemon's end wakes `select` through this pipe, instead of after the pause.
    ends, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    daemon = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL)
    heard = time.monotonic()
    while daemon.poll() is None or (daemon.returncode == 0 and guardian.marked()):
        ready, _, _ = select.select([0, ends], [], [], guardian.next_look())
        if ends in ready:
            os.read(ends, 4096)
        if 0 in ready and os.read(0, 4096):
            heard = time.monotonic()
        elif 0 in ready or time.monotonic() - heard > SILENCE:
            guardian.end_orphans()
            return 0
        guardian.remains.note(guardian.marked())
    guardian.end_orphans()
    return daemon.returncode if daemon.returncode >= 0 else 128 - daemon.returncode


def watch_ranks(limit: float) -> Any:
    """Start a guardian of this host's ranks, which this process is one of, if none has yet.

    Parameters
    ----------
    limit : float
        Seconds after which a stopped one ends the job.

    Returns
    -------
    object
        To be kept as long as the process lives.
    """
    import subprocess

    daemon = daemon_of(os.getpid(), processes())
    claim = claimed(daemon)
    if claim is None:
        return None
    with claim:
        watching = subprocess.Popen(
            # Without the site's packages it starts in some 40 ms, whatever is installed.
            [sys.executable, "-I", "-S", __file__, f"{limit:g}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=[claim.fileno()] if hasattr(claim, "fileno") else [],
        )
    assert watching.stdin is not None
    watching.stdin.write(f"below {daemon}\n".encode())
    watching.stdin.flush()
    return watching


def daemon_of(number: int, table: dict[int, Process]) -> int:
    """Return the process that has started this host's ranks: the nearest parent that is none."""
    while number in table:
        number = table[number].parent
        if rank_of(number) is None:
            break
    return number


def claimed(daemon: int) -> Any:
    """Claim the watch over this daemon's ranks; None if another rank of the host has it.

    It is a name that one process at a time can have, and that is free again when it ends.
    """
    import socket

    if sys.platform != "linux":
        first = any(os.environ.get(name) == "0" for name in PLACE_VARIABLES)
        return nullcontext() if first else None
    # An abstract socket leaves no file behind; numbers of processes are unique in a namespace.
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0mpinet-guardian-{os.readlink('/proc/self/ns/pid')}-{daemon}")
    except OSError:
        claim.close()
        return None
    return claim


def is_watched(number: int, by: int) -> bool:
    """Whether process `number` descends from process `by`, or is it."""
    table = processes()
    while number in table and number != by:
        number = table[number].parent
    return number == by and by in table


def die_with_parent() -> None:
    """Let the system kill this process where its parent, the launcher, dies; on Linux."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, int(signal.SIGKILL), 0, 0, 0)  # PR_SET_PDEATHSIG
    except (ImportError, OSError, AttributeError):
        return  # the launcher's other ways have to do


def main(words: Sequence[str]) -> None:
    """Watch a job's processes, with the settings given on the command line.

    Parameters
    ----------
    words : sequence of str
        Limit; then, of ``launch/run`` alone, patience, name, and the script's process. Or
        ``--there``, and what `run_there` takes.
    """
    if words[:1] == ["--there"]:
        sys.exit(run_there(*words[1:]))
    limit, patience, name, owner = [*words, *("0", "60", "mpinet", "0")[len(words) :]]
    # Signals meant for the whole job reach this process, too; it has to outlive the ranks.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    mark = os.environ.get("MPINET_PROOF", "") if int(owner) else ""
    keep(Guardian(float(limit), float(patience), name, int(owner), mark), int(owner) > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
