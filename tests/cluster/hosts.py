"""Hosts made of namespaces: own names, networks, processes, /tmp and /dev/shm, with sshd on each.

A host is the process 1 of a PID namespace and all that descends from it, so that it dies as a
whole, and leaves nothing behind. The kernel kills it when the process that made it dies, however
that happens. Nothing of this machine is changed: hosts see files of their own in /etc by mounts
in their own view.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PROGRAMS = ("ip", "sshd", "ssh-keygen", "ssh", "unshare", "nsenter", "setpriv")
SEARCHED = f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin:/sbin"
FOLDERS = "mpinet-hosts-"
TIME_LIMIT = 300  # seconds after which something hangs
PATIENCE = 5  # seconds that guardians have for what jobs leave

SSHD = """
Port 22
HostKey {folder}/key
AuthorizedKeysFile {folder}/key.pub
PermitRootLogin prohibit-password
PasswordAuthentication no
UsePAM no
StrictModes no
MaxStartups 100
PidFile none
"""

SSH = """
Host node*
  User root
  IdentityFile {folder}/key
  StrictHostKeyChecking no
  UserKnownHostsFile /dev/null
  LogLevel ERROR
"""

PROCESS_ONE = """
set -e
hostname "$1"
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs tmpfs /run
mkdir -p /run/sshd
case $3 in /tmp/*) ;; *) mount -t tmpfs tmpfs /tmp ;; esac # a checkout there has to be seen
mount --bind "$2/hosts" /etc/hosts
mount --bind "$2/shadow" /etc/shadow
mount --bind "$2/ssh_config" /etc/ssh/ssh_config
for file in .bashrc .ssh/config; do # what this machine's root has made of shells and ssh
  [ ! -e ~/"$file" ] || mount --bind /dev/null ~/"$file"
done
ip link set lo up
"$4" -D -E "$2/sshd.$1.log" -f "$2/sshd_config" &
while :; do # bash buries all children that die, adopted ones, too
  sleep 3600 &
  wait $!
done
"""


def why_not() -> str:
    """Why there can be no hosts here; empty where there can."""
    if os.geteuid() != 0:
        return "hosts of namespaces need root"
    missing = [name for name in PROGRAMS if not shutil.which(name, path=SEARCHED)]
    if missing:
        return f"no {', '.join(missing)}: apt-get install iproute2 openssh-server"
    tried = subprocess.run(
        ["unshare", "--net", "--pid", "--fork", "--mount", "--uts", "--ipc", "true"],
        capture_output=True,
        text=True,
    )
    return f"no namespaces: {tried.stderr.strip()}" if tried.returncode else ""


class Host:
    """One host.

    Attributes
    ----------
    number : int
        From 1 on; host 1 is where jobs are launched.
    name : str
        ``node1``, ..
    """

    def __init__(self, number: int, folder: Path):
        self.number = number
        self.name = f"node{number}"
        self._folder = folder
        program = str(shutil.which("sshd", path=SEARCHED))
        one = ["bash", "-c", PROCESS_ONE, "one", self.name, folder, CHECKOUT, program]
        apart = ["--mount", "--uts", "--net", "--ipc", "--pid", "--mount-proc"]
        self._outer = started(["unshare", *apart, "--fork", "--kill-child", *one])
        self.pid = child_of(self._outer)

    def within(self, words: Sequence[str | Path]) -> list[str]:
        """The words that run a command on this host."""
        inside = ["-t", str(self.pid), "-m", "-u", "-n", "-i", "-p", f"--wd={os.getcwd()}"]
        return ["nsenter", *inside, "--", *map(str, words)]

    @contextmanager
    def sees(self, path: Path, text: str) -> Iterator[None]:
        """Within it this host sees another text in place of a file."""
        other = self._folder / f"{self.name}-{path.name}"
        other.write_text(text)
        subprocess.run(self.within(["mount", "--bind", other, path]), check=True)
        try:
            yield
        finally:
            subprocess.run(self.within(["umount", path]), check=True)

    @contextmanager
    def lacks(self, folder: Path) -> Iterator[None]:
        """Within it this host sees nothing in a folder."""
        subprocess.run(self.within(["mount", "-t", "tmpfs", "tmpfs", folder]), check=True)
        try:
            yield
        finally:
            subprocess.run(self.within(["umount", folder]), check=True)

    def processes(self) -> dict[int, str]:
        """The command lines of all that runs here, by process number on this machine."""
        try:
            own = os.readlink(f"/proc/{self.pid}/ns/pid")
        except FileNotFoundError:
            return {}
        found = {}
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if words != [b""] and os.readlink(entry / "ns/pid") == own:
                    found[int(entry.name)] = b" ".join(words).decode(errors="replace").strip()
            except OSError:
                continue  # it has just ended
        return found

    def files(self) -> list[Path]:
        """What launchers and MPI libraries have left in its temporary folder and shared memory."""
        own = ("dev/shm",) if str(CHECKOUT).startswith("/tmp/") else ("dev/shm", "tmp")
        folders = [Path(f"/proc/{self.pid}/root/{name}") for name in own]
        found = [path for folder in folders if folder.exists() for path in folder.iterdir()]
        return [path for path in found if re.search(r"mpinet-|ompi|pmix|segment|mpich", path.name)]

    @property
    def lives(self) -> bool:
        """Whether it runs."""
        return self._outer.poll() is None

    def die(self) -> None:
        """All at once, as in a power cut that its network survives."""
        self._outer.send_signal(signal.SIGKILL)
        self._outer.wait()
        wait_until(lambda: not Path(f"/proc/{self.pid}/ns").exists() or not self.processes())


class Hosts:
    """Some hosts on a switch.

    Parameters
    ----------
    count : int
        How many.

    Attributes
    ----------
    shared : Path
        A folder that all hosts see; /tmp is each host's own.
    """

    def __init__(self, count: int):
        remove_leftovers()
        self._folder = Path(tempfile.mkdtemp(prefix=f"{FOLDERS}{os.getpid()}-", dir="/var/tmp"))
        self.shared = self._folder / "shared"
        self.shared.mkdir()
        self._write_settings(count)
        self._switch = started(["unshare", "--net", "--fork", "--kill-child", "sleep", "infinity"])
        self._switch_pid = child_of(self._switch)
        self._on_switch("link add br0 type bridge", "link set br0 up")
        self.all = {number: Host(number, self._folder) for number in range(1, count + 1)}
        for number in self.all:
            self._connect(number)
        self._idle: dict[int, set[int]] = {}
        self._settle()

    def run(
        self,
        number: int,
        *words: str | Path,
        limit: float = TIME_LIMIT,
        cwd: Path | None = None,
        **environment: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on a host to its end."""
        process = self.start(number, *words, cwd=cwd, **environment)
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self.clear()
            out, err = process.communicate()
            raise AssertionError(f"{words} hangs: {out}{err}") from None
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def start(
        self, number: int, *words: str | Path, cwd: Path | None = None, **environment: str
    ) -> subprocess.Popen[str]:
        """Start a command on a host."""
        there = ["env", "-C", cwd or self.shared, *words]
        return subprocess.Popen(
            self.all[number].within(there),
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def cut(self, number: int) -> None:
        """Take a host off the network; it runs on."""
        self._on_switch(f"link set port{number} down")

    def restore(self) -> None:
        """All hosts run, and are on the network."""
        dead = [number for number, host in self.all.items() if not host.lives]
        for number in dead:
            self._on_switch(f"link del port{number}", check=False)
            self.all[number] = Host(number, self._folder)
            self._connect(number)
        self._on_switch(*(f"link set port{number} up" for number in self.all))
        if dead:
            self._settle()

    def left(self) -> list[str]:
        """What runs on the hosts and did not run when they had been started, with its host."""
        return [f"{host.name}: {words}" for host, _, words in self._guests()]

    def are_guarded(self) -> bool:
        """Whether a guardian is still at its work: it may outlive its job for a moment."""
        return any("base/guardian/" in words for words in self.left())

    def clear(self) -> None:
        """Kill what `left` tells, guardians only where their jobs go on."""
        deadline = time.monotonic() + PATIENCE
        while self.are_guarded() and time.monotonic() < deadline:
            time.sleep(0.02)
        for _, pid, _ in self._guests(dead_sessions=True):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def folder(self, name: str) -> Path:
        """A folder that all hosts see, for as long as they run."""
        path = self._folder / name
        path.mkdir()
        return path

    def files(self) -> list[str]:
        """What launchers and MPI libraries have left on the hosts, with its host."""
        return [f"{host.name}: {path.name}" for host in self.all.values() for path in host.files()]

    def sweep(self) -> list[str]:
        """Delete what `files` tells, and return it: it is the fault of one test alone."""
        left = self.files()
        for host in self.all.values():
            for path in host.files():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        return left

    def empty(self) -> None:
        """Delete what is in the shared folder."""
        for path in self.shared.iterdir():
            is_folder = path.is_dir() and not path.is_symlink()
            shutil.rmtree(path) if is_folder else path.unlink()

    def known(self) -> None:
        """From now on, what runs now belongs to the hosts."""
        self._idle = {number: set(host.processes()) for number, host in self.all.items()}

    def down(self) -> None:
        """End the hosts."""
        for host in self.all.values():
            host.die()
        self._switch.kill()
        self._switch.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _guests(self, dead_sessions: bool = False) -> Iterator[tuple[Host, int, str]]:
        """What is not the hosts' own.

        The sshd of a session whose network was cut knows of it only when its own time is up: that
        is a setting of the host's administrator.
        """
        for number, host in self.all.items():
            for pid, words in host.processes().items():
                own = pid in self._idle[number] or words == "sleep 3600"
                if not own and (dead_sessions or not words.startswith("sshd: ")):
                    yield host, pid, words

    def _settle(self) -> None:
        """Wait until every host answers, and remember what runs."""
        for host in self.all.values():
            seen = ["timeout", "1", "bash", "-c", f"echo -n >/dev/tcp/{host.name}/22"]
            wait_until(lambda seen=seen: not self.run(1, *seen).returncode)
        self.known()

    def _connect(self, number: int) -> None:
        """Give a host its place at the switch."""
        host = self.all[number]
        self._on_switch(
            f"link add port{number} type veth "
            f"peer name eth0 address 02:00:00:00:00:{number:02x} netns {host.pid}",
            f"link set port{number} master br0 up",
        )
        inside = ["nsenter", "-t", str(host.pid), "-n"]
        batch(inside, f"addr add 10.77.0.{number}/24 dev eth0", "link set eth0 up")

    def _on_switch(self, *lines: str, check: bool = True) -> None:
        batch(["nsenter", "-t", str(self._switch_pid), "-n"], *lines, check=check)

    def _write_settings(self, count: int) -> None:
        """What sshd, ssh and the resolver of every host read."""
        folder = self._folder
        folder.chmod(0o755)
        names = "".join(f"10.77.0.{n} node{n}\n" for n in range(1, count + 1))
        (folder / "hosts").write_text(f"127.0.0.1 localhost\n{names}")
        (folder / "shadow").write_text("root:*:20000:0:99999:7:::\nsshd:!:20000::::::\n")
        (folder / "shadow").chmod(0o600)
        (folder / "sshd_config").write_text(SSHD.format(folder=folder))
        (folder / "ssh_config").write_text(SSH.format(folder=folder))
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / "key"]
        subprocess.run(key, check=True)


def remove_leftovers() -> None:
    """Delete the folders of hosts whose maker was killed."""
    for folder in Path("/var/tmp").glob(f"{FOLDERS}*-*"):
        maker = folder.name.removeprefix(FOLDERS).partition("-")[0]
        if not Path(f"/proc/{maker}").exists():
            shutil.rmtree(folder, ignore_errors=True)


def batch(inside: list[str], *lines: str, check: bool = True) -> None:
    """Commands of ip, in a namespace."""
    ip = str(shutil.which("ip", path=SEARCHED))
    words = [*inside, ip, *(["-batch", "-"] if check else ["-force", "-batch", "-"])]
    done = subprocess.run(words, input="\n".join(lines) + "\n", capture_output=True, text=True)
    assert done.returncode == 0 or not check, f"ip {lines}: {done.stderr}"


def started(words: Sequence[str | Path]) -> subprocess.Popen[bytes]:
    """A process that the kernel kills when this one dies."""
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", *map(str, words)],
        env=os.environ | {"PATH": SEARCHED},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # unshare grumbles where its child is killed
        start_new_session=True,
    )


def child_of(process: subprocess.Popen[bytes]) -> int:
    """The one child of a process, when there is one."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(lambda: children.read_text().split())
    return int(children.read_text())


def wait_until(
    fact: Callable[[], object],
    limit: float = TIME_LIMIT,
    told: Callable[[], str] = lambda: "",
    pause: float = 0.02,
) -> None:
    """Wait until something is true; if it does not come true, tell what there is."""
    deadline = time.monotonic() + limit
    while not fact():
        assert time.monotonic() < deadline, f"the time is up {told()}"
        time.sleep(pause)
