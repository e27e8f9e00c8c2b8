"""The watch over a job: polls the processes, reports stopped processes, and ends the job."""

from __future__ import annotations

import os
import platform
import re
import select
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile

from .processes import (
    LAUNCHERS,
    Process,
    ancestors,
    descendants,
    gone,
    processes,
    program_of,
    rank_of,
    send,
    setting,
)
from .remains import Remains

GRACE, LAST = 2.0, 1.0
"""Seconds between a signal and SIGKILL, and seconds to vanish after SIGKILL. If no process waits
for the job's output, the second value serves for both.
"""

OWN_LOOKS = 20
"""Number of polls within the time after which a stopped process ends the job."""

LINGER, OFTEN = (0.02, 0.25), 10
"""Shortest and longest pause between two polls in seconds, and a divisor, for the wait for the last
ranks. The pause is the time waited divided by `OFTEN`, within these limits.
"""

SILENCE = 8.0
"""Seconds without a sign of life before the launching host counts as lost (``--there``)."""

REMOTE_FOLDER = "PRTE_MCA_prte_remote_tmpdir_base"
"""Environment variable with the folder for session files, for the daemons of Open MPI 5."""

FOLDER_OPTION = r"(orte_tmpdir_base[\"'\s]+)"
"""Option, up to its value, with the folder for session files of the daemons of Open MPI 4. The
ranks of Open MPI 4 fail if a folder for remote daemons is set.
"""


class Guardian:
    """Watches a job's processes, and ends the job if a process is stopped for too long.

    Parameters
    ----------
    limit : float
        Seconds until a stopped process ends the job; 0: never.
    patience : float
        Seconds until a stopped launcher is reported.
    name : str
        Name of the program at the start of messages.
    owner : int
        Process number of the script waiting for the job; 0: no script. The guardian wakes a stopped
        script.
    mark : str
        Value of ``MPINET_PROOF`` in the environment of all processes of the job; may be empty.
    """

    def __init__(self, limit: float, patience: float, name: str, owner: int, mark: str):
        self._limit, self._patience = limit, patience
        self._name, self._owner, self._mark = name, owner, mark
        self._roots: list[int] = []
        self._daemon = 0
        self._stopped: dict[int, float] = {}
        self._told: set[int] = set()
        self._looked = time.monotonic()
        self.remains = Remains()
        waits = min(limit or patience, patience)
        self.pause = min(5.0, max(0.05, waits / OWN_LOOKS))

    def watch(self, roots: Sequence[int]) -> None:
        """Watch these processes and their descendants from now on."""
        self._roots = list(roots)

    def watch_below(self, daemon: int) -> None:
        """Watch the ranks that this daemon has started or will start, from now on."""
        self._daemon = daemon

    def _ranks(self, table: dict[int, Process]) -> list[int]:
        """List the descendants of the daemon that are ranks, or were started by ranks."""
        below = (number for number in descendants([self._daemon], table) if number != self._daemon)
        return [number for number in below if rank_of(number) is not None]

    def _family(self, table: dict[int, Process]) -> list[int]:
        """List all watched processes of the job."""
        if self._daemon:
            self._roots = self._ranks(table)
        return descendants(self._roots, table)

    def attend(self) -> bool:
        """Poll the processes if the pause is over; return False if no process is left to watch."""
        return time.monotonic() - self._looked < self.pause or self._look_again()

    def _look_again(self) -> bool:
        """Poll the processes; charge the time since the last poll to stopped processes."""
        before, self._looked = self._looked, time.monotonic()
        return self.look(self._looked - before)

    def _above(self, table: dict[int, Process]) -> list[int]:
        """List the script, or else the launchers of the watched ranks without another guardian."""
        if self._owner:
            return [self._owner]
        found: dict[int, None] = {}
        for root in self._roots:
            above = ancestors(root, table)
            found.update(
                dict.fromkeys(takewhile(lambda number: program_of(number) in LAUNCHERS, above))
            )
        return list(found)

    def look(self, seconds: float) -> bool:
        """Poll the processes once; return False if no process is left to watch.

        Parameters
        ----------
        seconds : float
            Time since the last poll. At most two pauses are counted: after a longer gap the
            guardian itself was stopped, for example by a batch system that suspends a whole job.
        """
        table = processes()
        # The family is computed anew at each poll, because ranks start processes of their own.
        family = self._family(table)
        # `T` is a process stopped by a signal. Time counts only while this process could poll. Dead
        # processes are dropped, or their names would be reported again after the job's end.
        self._stopped = {
            number: self._stopped.get(number, 0.0) + min(seconds, 2 * self.pause)
            for number in [*self._above(table), *family]
            if number in table and table[number].state == "T"
        }
        late = [k for k, since in self._stopped.items() if 0 < self._limit <= since]
        # Only the script is stopped, and its job has ended: waking it loses nothing.
        if late == [self._owner] and not family:
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
            self._say(f"process {number}{what} is stopped (kill -CONT {number} resumes it)")

    def _end_for(self, late: list[int], table: dict[int, Process], family: list[int]) -> None:
        """End the job because some processes have been stopped for too long."""
        named = " and ".join(self._named(number) for number in late)
        have = "has" if len(late) == 1 else "have"
        self._say(
            f"{named} on {platform.node()} {have} been stopped for {self._limit:g} s: the job is "
            "ended (--watchdog 0 waits forever)"
        )
        # A stopped process obeys no signal except SIGKILL and SIGCONT. The script of ``launch/run``
        # must survive: it reports the end of the job, and is woken when the other processes are
        # gone.
        send(signal.SIGKILL, [number for number in late if number != self._owner])
        if self._owner:
            self.end(signal.SIGTERM, family)
            send(signal.SIGCONT, [self._owner])
            return
        if not gone(family, GRACE):  # the launcher ends a job with a dead rank
            send(signal.SIGKILL, family)
            gone(family, LAST)

    def _named(self, number: int) -> str:
        """Name a process in terms that the user knows."""
        rank = rank_of(number)
        if rank is not None:
            return f"rank {rank} (process {number})"
        return f"{self._name if number == self._owner else 'the launcher'} (process {number})"

    def end(self, number: int, family: Sequence[int] = (), grace: float = GRACE) -> None:
        """Send a signal to the watched processes; kill the survivors after `grace` seconds."""
        # Listed before the signal: orphans of a dead launcher are no longer its descendants.
        family = [*family, *descendants(self._roots, processes())]
        send(number, self._roots)
        if not gone(family, grace):
            send(signal.SIGKILL, family)
            gone(family, LAST)
        self.end_orphans()

    def marked(self) -> list[int]:
        """List the job's processes, except this process, by their mark in the environment."""
        if not self._mark:
            return []
        others = (number for number in processes() if number != os.getpid())
        return [number for number in others if setting(number, ["MPINET_PROOF"]) == self._mark]

    def end_orphans(self) -> None:
        """Kill the job's processes without a launcher, and delete the files they leave."""
        left = self.marked()
        send(signal.SIGKILL, left)
        gone(left, LAST)
        self.remains.remove()

    def linger(self) -> None:
        """Keep polling until all ranks have ended; the guardian's starter has already ended."""
        began, (shortest, longest) = time.monotonic(), LINGER
        # Pauses grow with the wait: quick jobs end quickly, and long jobs cost no CPU time.
        while self._look_again():
            lasted = time.monotonic() - began
            time.sleep(min(self.pause, longest, max(shortest, lasted / OFTEN)))
        self.remains.remove()

    def _say(self, text: str) -> None:
        with suppress(OSError):
            os.write(2, f"{self._name}: {text}\n".encode())


def obey(guardian: Guardian, line: str) -> bool:
    """Carry out one command; return whether to continue."""
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
    """Read commands and poll processes until the job is over."""
    # Commands are lines on standard input; end of input means that the sender is dead.
    heard = b""
    while True:
        ready, _, _ = select.select([0], [], [], guardian.pause)
        if ready:
            text = os.read(0, 4096)
            heard += text
            *lines, heard = heard.split(b"\n")
            for line in lines:
                if not obey(guardian, os.fsdecode(line)):
                    return
            # End of input without a command: the process that held the pipe is dead.
            if not text:
                break
        if not guardian.attend() and not launched:
            guardian.remains.remove()
            return
    if launched:
        guardian.end(signal.SIGTERM, grace=LAST)
    else:
        guardian.linger()


def run_there(mark: str, shared: str, command: str) -> int:
    """Run the launcher's daemon on a remote host, until the launcher falls silent.

    Parameters
    ----------
    mark : str
        Value of ``MPINET_PROOF`` in the environment of all processes of the job.
    shared : str
        The job's folder for shared memory, to be made on this host; empty: none.
    command : str
        Shell command that starts the daemon.

    Returns
    -------
    int
        The daemon's exit status; 0 if the launcher has fallen silent.
    """
    import subprocess
    import tempfile

    os.environ["MPINET_PROOF"] = mark
    guardian = Guardian(0, 60, "mpinet", 0, mark)
    own = tempfile.mkdtemp(prefix="mpinet-run-")
    guardian.remains.add(own)
    # run.sh names a folder of the launching host, which may not exist on this host.
    folder = FOLDER_OPTION + re.escape(os.path.dirname(mark)) + r"(?=[\"'\s])"
    command = re.sub(folder, lambda found: found[1] + own, command)
    if not re.search(r"prte_(remote_)?tmpdir_base", command):  # the user's own setting
        os.environ[REMOTE_FOLDER] = own
    with suppress(OSError):  # on a folder shared by hosts, its creator deletes it
        os.mkdir(shared, 0o700)
        guardian.remains.add(shared)
    # The daemon's end wakes `select` through this pipe, before the pause is over.
    ends, wakes = os.pipe()
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    daemon = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL)
    heard = time.monotonic()
    while daemon.poll() is None or (daemon.returncode == 0 and guardian.marked()):
        pause = guardian.pause if daemon.returncode is None else LINGER[1]
        ready, _, _ = select.select([0, ends], [], [], pause)
        if ends in ready:
            os.read(ends, 4096)
        if 0 in ready and os.read(0, 4096):
            heard = time.monotonic()
        elif 0 in ready or time.monotonic() - heard > SILENCE:
            guardian.end_orphans()
            return 0
    guardian.end_orphans()
    return daemon.returncode if daemon.returncode >= 0 else 128 - daemon.returncode


def main(words: Sequence[str]) -> None:
    """Watch a job's processes, with the settings given on the command line.

    Parameters
    ----------
    words : sequence of str
        The limit; ``launch/run`` adds patience, name, and the script's process number. Or
        ``--there``, followed by the arguments of `run_there`.
    """
    signal.signal(signal.SIGIO, signal.SIG_IGN)  # sent when a process opens a leased file
    if words[:1] == ["--there"]:
        sys.exit(run_there(*words[1:]))
    limit, patience, name, owner = [*words, *("0", "60", "mpinet", "0")[len(words) :]]
    # Signals to the whole job also reach this process, which must outlive the ranks.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    mark = os.environ.get("MPINET_PROOF", "") if int(owner) else ""
    keep(Guardian(float(limit), float(patience), name, int(owner), mark), int(owner) > 0)
