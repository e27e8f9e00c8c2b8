"""A program of its own that watches a job's processes on one host, and ends them.

``launch/run`` starts one beside its launcher; ranks that nobody watches start one on their host
(`watch_ranks`). It reads from its standard input, which whoever has started it keeps open:

    watch PID ..   the processes that it is about, and with them all that descend from them
    end N          send them signal N, kill those that are still there after two seconds; exit
    orphans        kill what is left of the job; exit
    over           exit

Where that input ends without a word, the process that held it is dead.

What is watched is whether a process is stopped (SIGSTOP, a debugger's excepted): as the system
knows that, a rank that computes for hours is never taken for one that does not answer, and it is
seen of the launcher, too. It needs nothing of mpinet and runs with any Python.
"""

from __future__ import annotations

import os
import platform
import select
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
"""Where launchers say which rank a process is."""

LAUNCHERS = ("mpirun", "mpiexec", "mpiexec.hydra", "prterun", "prted", "hydra_pmi_proxy")
"""Programs that start ranks: they are watched with these."""

GRACE, LAST = 2.0, 1.0
"""Seconds that processes have between a signal and SIGKILL, and to vanish after that; where nobody
waits for what they may still say, the second holds for both."""

OWN_LOOKS = 20
"""Looks in the time after which a stopped process ends the job."""


class Process(NamedTuple):
    """A process of this host: its parent, and its state as ``ps`` writes it."""

    parent: int
    state: str


def processes() -> dict[int, Process]:
    """All processes of this host that are not dead, by their numbers."""
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
    """The roots that there are, and all that descend from them, but for this process."""
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
    """The first of these environment variables that a process was started with."""
    try:
        with open(f"/proc/{number}/environ", "rb") as file:
            settings = dict(line.partition(b"=")[::2] for line in file.read().split(b"\0"))
    except OSError:
        return None
    texts = (settings.get(name.encode(), b"").decode(errors="replace") for name in names)
    return next(filter(None, texts), None)


def send(number: int, processes: Iterable[int]) -> None:
    """Send a signal to processes, as far as they are there."""
    for process in processes:
        with suppress(OSError):
            os.kill(process, number)


def gone(processes_: Iterable[int], seconds: float) -> bool:
    """Whether all of these end within some seconds."""
    left, limit = set(processes_), time.monotonic() + seconds
    while left := left & set(processes()):
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


class Guardian:
    """What is watched, and for how long it may be stopped.

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
        self._stopped: dict[int, float] = {}
        self._told: set[int] = set()
        waits = min(limit or patience, patience)
        self.pause = min(5.0, max(0.05, waits / OWN_LOOKS))

    def watch(self, roots: Sequence[int]) -> None:
        """Watch these from now on."""
        self._roots = list(roots)

    def _above(self, table: dict[int, Process]) -> list[int]:
        """The launchers of ranks that nobody else watches."""
        if self._owner:
            return [self._owner]
        found = []
        for number in self._roots:
            while number in table:
                number = table[number].parent
                if _program(number) not in LAUNCHERS:
                    break
                found.append(number)
        return list(dict.fromkeys(found))

    def look(self, seconds: float) -> bool:
        """Look once; whether anything is to be watched on.

        Parameters
        ----------
        seconds : float
            Since the last look. Longer than two pauses is not believed: this process was itself
            kept from looking, as where a batch system suspends a whole job.
        """
        table = processes()
        family = descendants(self._roots, table)
        for number in [*self._above(table), *family]:
            if number in table and table[number].state == "T":
                since = self._stopped.get(number, 0.0)
                self._stopped[number] = since + min(seconds, 2 * self.pause)
            else:
                self._stopped.pop(number, None)
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
        """Tell of a launcher that is stopped; of ranks the other ranks do (`machine.lookout`)."""
        if setting(number, RANK_VARIABLES) is None:
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
        send(signal.SIGKILL, [number for number in late if number != self._owner])
        if self._owner:
            self.end(signal.SIGTERM, family)
            send(signal.SIGCONT, [self._owner])
        elif not gone(family, GRACE):  # the launcher ends a job of which a rank is dead
            send(signal.SIGKILL, family)

    def _named(self, number: int) -> str:
        """What the user knows a process as."""
        rank = setting(number, RANK_VARIABLES)
        if rank is not None:
            return f"rank {rank} (process {number})"
        return f"{self._name if number == self._owner else 'the launcher'} (process {number})"

    def end(self, number: int, family: Sequence[int] = (), grace: float = GRACE) -> None:
        """Send a signal to what is watched; kill all that is there after some seconds."""
        family = [*family, *descendants(self._roots, processes())]
        send(number, self._roots)
        if not gone(family, grace):
            send(signal.SIGKILL, family)
            gone(family, LAST)
        self.end_orphans()

    def end_orphans(self) -> None:
        """Kill the job's processes that have lost their launcher: by what is theirs alone."""
        if not self._mark:
            return
        own = os.getpid()
        for number in processes():
            if number != own and setting(number, ["MPINET_PROOF"]) == self._mark:
                send(signal.SIGKILL, [number])

    def tidy(self) -> None:
        """Remove what ``launch/run``, which is dead, has made for the job."""
        with suppress(OSError):
            folder = os.path.dirname(self._mark)
            for name in os.listdir(folder):
                with suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, name))
            os.rmdir(folder)

    def linger(self) -> None:
        """Look on until the ranks are gone; the first of them, which has asked for it, is."""
        self.pause = 0.02
        while self.look(self.pause):
            time.sleep(self.pause)

    def _say(self, text: str) -> None:
        with suppress(OSError):
            os.write(2, f"{self._name}: {text}\n".encode())


def _program(number: int) -> str:
    """The name of a process's program."""
    try:
        with open(f"/proc/{number}/comm") as file:
            return file.read().strip()
    except OSError:
        return ""


def obey(guardian: Guardian, words: Sequence[str]) -> bool:
    """Do what was asked for; whether to go on."""
    if words[:1] == ["watch"]:
        guardian.watch([int(word) for word in words[1:]])
        return True
    if words[:1] == ["end"]:
        guardian.end(int(words[1]))
    elif words[:1] == ["orphans"]:
        guardian.end_orphans()
    return False


def keep(guardian: Guardian, launched: bool) -> None:
    """Read and look until there is nothing to do any more."""
    heard, looked = b"", time.monotonic()
    while True:
        ready, _, _ = select.select([0], [], [], guardian.pause)
        if ready:
            text = os.read(0, 4096)
            heard += text
            *lines, heard = heard.split(b"\n")
            for line in lines:
                if not obey(guardian, line.decode().split()):
                    return
            if not text:
                break
        now = time.monotonic()
        if now - looked >= guardian.pause:
            if not guardian.look(now - looked) and not launched:
                return
            looked = now
    if launched:
        guardian.end(signal.SIGTERM, grace=LAST)
        guardian.tidy()
    else:
        guardian.linger()


def watch_ranks(ranks: Sequence[int], limit: float) -> Any:
    """Start a guardian of this host's ranks, which this process is one of.

    Parameters
    ----------
    ranks : sequence of int
        Their process numbers.
    limit : float
        Seconds after which a stopped one ends the job.

    Returns
    -------
    object
        To be kept as long as the process lives.
    """
    import subprocess

    watching = subprocess.Popen(
        [sys.executable, "-I", "-S", __file__, f"{limit:g}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert watching.stdin is not None
    watching.stdin.write(f"watch {' '.join(map(str, ranks))}\n".encode())
    watching.stdin.flush()
    return watching


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
    """Watch, as said above.

    Parameters
    ----------
    words : sequence of str
        Limit; then, of ``launch/run`` alone, patience, name, and the script's process.
    """
    limit, patience, name, owner = [*words, *("0", "60", "mpinet", "0")[len(words) :]]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    mark = os.environ.get("MPINET_PROOF", "") if int(owner) else ""
    keep(Guardian(float(limit), float(patience), name, int(owner), mark), int(owner) > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
