"""A server that has imported mpinet and forks a child for each `mpinet` command of a test.

To import what it needs takes a command seconds of CPU, and a job takes them for each of its ranks.
Where the start is not the fact, `mpinet` on the search path is `forkedclient.py` instead, also for
shells, launchers and batch scripts: it hands its words, environment and descriptors to the server,
which forks. A command that would start in another way is started really (`refusal`).

What a child does not show: which modules a start imports, and that hashes of strings differ from
process to process. Tests of these start the command itself, and so do tests about process numbers.
"""

import array
import gc
import marshal
import os
import selectors
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from fcntl import F_DUPFD_CLOEXEC, fcntl
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from io import TextIOWrapper
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import forkedclient
from forkedclient import NUMBER, encoded

CHECKOUT = Path(__file__).resolve().parents[1]
BIN = CHECKOUT / ".venv/bin"

PROGRAM = "import sys\nfrom mpinet.cli import main\nsys.exit(main())\n"
"""What the installed command does."""

CLIENTS = {"mpinet": "mpinet", "forked-python": "python"}
"""Names on the search path, and the programs that are forked by them: of ``python``, which stays
what it is under launchers, ``-c SCRIPT`` alone."""

AT_START = tuple("PYTHON NUMBA_ OMP_ OPENBLAS_ MPI4PY_ LD_PRELOAD LC_ LANG _ARGCOMPLETE".split())
"""Beginnings of the names of variables that Python and libraries read when they start."""

THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
"""The server's threads: those that `launch/run` gives to ranks, and enough for commands alone."""

MOST_FILES = 250
"""Descriptors that a client can hand on; a child moves them to their places from above those."""

WARMING = [
    "route torus:3x4",
    "broadcast hypercube:3",
    "flood ccc:3",
    "load ring:3 --rate 0.2 --steps 9",
    "verify STH-L3-lst-examples",
]
"""Commands whose kernels the server loads for all its children; none of them starts MPI."""

SCRIPT = [*"exec --on ring:3 -c".split(), "from mpi4py import MPI; MPI.COMM_WORLD.allreduce(1)"]
"""A command that takes mpi4py, and nothing of it that needs a library of MPI that has begun."""


HASHES = {"PYTHONHASHSEED": "0"}
"""What a command that runs users' code starts itself with, without ``--seed``."""


class Forked:
    """The server, and the variables with which `mpinet` is its client.

    Parameters
    ----------
    folder : Path
        An empty folder, for as long as the server lives.
    """

    def __init__(self, folder: Path):
        address = folder / "socket"
        for name, program in CLIENTS.items():
            words = ["-IS", forkedclient.__file__, str(address), str(BIN / program)]
            client = folder / name
            client.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, *words])} "$@"\n')
            client.chmod(0o755)
        self._server = subprocess.Popen(
            [sys.executable, __file__, str(address)],
            env=HASHES | os.environ | THREADS,
            stdin=subprocess.PIPE,  # ends the server when it ends
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._server.stdout is not None and self._server.stdout.readline() == b"ready\n"
        self.process = self._server.pid
        self.variables = {
            "PATH": f"{folder}:{BIN}:{os.environ['PATH']}",
            "MPINET_WATCHDOG": "0",  # it finds ranks below the launcher, where children are not
        }

    def end(self) -> None:
        """End the server and its children."""
        self._server.communicate()


def refusal(request: dict[str, Any]) -> str:
    """What the real start of a command would make different; empty if nothing."""
    own = forkedclient.state()
    found = [name for name in own if own[name] != request["state"][name]]
    asked, here = (at_start(HASHES | each) for each in (request["environment"], os.environ))
    found += sorted(name for name in asked.keys() | here if asked.get(name) != here.get(name))
    if not set(request["ignored"]).issuperset(forkedclient.ignored()):
        found.append("signals that the server ignores")
    if not {0, 1, 2}.issubset(request["files"]):
        found.append("a closed stream")
    return ", ".join(found)


def at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that count when a process starts; children do what the others ask for."""
    return {
        name: text
        for name, text in environment.items()
        if name.startswith(AT_START) and name not in {*THREADS, "PYTHONPATH"}
    }


class Server:
    """Forks a child for each client, and tells the client how it has ended."""

    def __init__(self, address: str):
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address)
        self._listener.listen(64)
        self._clients: dict[int, socket.socket] = {}  # by the child's number
        self._ended, wakes = os.pipe()  # a child's end wakes the selector
        os.set_blocking(wakes, False)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._ready = selectors.DefaultSelector()
        for each in (0, self._ended, self._listener):
            self._ready.register(each, selectors.EVENT_READ)

    def serve(self) -> dict[str, Any]:
        """Serve until the standard input ends; returns in children only, what they have to do."""
        while True:
            for key, _ in self._ready.select():
                if key.fileobj == 0:
                    for child in self._clients:
                        os.kill(child, signal.SIGKILL)
                    os._exit(0)
                elif key.fileobj == self._ended:
                    self._tell_ends()
                elif key.fileobj is self._listener:
                    if request := self._accept():
                        return request
                elif key.data in self._clients:  # the client is gone: who kills a command kills it
                    os.kill(key.data, signal.SIGKILL)
                    self._ready.unregister(key.fileobj)

    def _tell_ends(self) -> None:
        """Tell the clients of children that have ended."""
        os.read(self._ended, 4096)
        for child in list(self._clients):
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                with self._clients.pop(child) as client:
                    with suppress(KeyError):  # it is gone
                        self._ready.unregister(client)
                    with suppress(OSError):
                        client.send(encoded(os.waitstatus_to_exitcode(status)))

    def _forget(self, client: socket.socket) -> None:
        """Close in a child what is the server's, by the objects: they would do it at the end, when
        a library of MPI has descriptors of the same numbers."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._ready.close()
        for each in (self._listener, client, *self._clients.values()):
            each.close()

    def _accept(self) -> dict[str, Any] | None:
        """Fork a child for a client; returns in it what it has to do, and None in the server."""
        client, _ = self._listener.accept()
        data, files = received(client)
        child = 0
        if data:
            request: dict[str, Any] = marshal.loads(data)
            if not refusal(request):
                child = os.fork()
                if child == 0:
                    self._forget(client)
                    return request | {"given": files}
        for each in files:
            os.close(each)
        with suppress(OSError):  # it may be gone by now
            client.send(encoded(child))
        if child:
            self._clients[child] = client
            self._ready.register(client, selectors.EVENT_READ, child)
        else:
            client.close()
        return None


def received(client: socket.socket) -> tuple[bytes, list[int]]:
    """A client's request, empty if it was killed on the way, and its descriptors."""
    files = array.array("i")
    head, told, *_ = client.recvmsg(NUMBER, socket.CMSG_SPACE((1 + MOST_FILES) * files.itemsize))
    for _, _, data in told:
        files.frombytes(data)
    length = int.from_bytes(head, "little")
    request = client.recv(length, socket.MSG_WAITALL)
    return request if len(request) == length else b"", list(files)


def become(request: dict[str, Any]) -> CodeType:
    """Make this child the process that the real start would have made; returns what it runs."""
    here, *given = request["given"]
    os.fchdir(here)
    moved = [fcntl(each, F_DUPFD_CLOEXEC, 2 * MOST_FILES) for each in given]
    os.closerange(0, 2 * MOST_FILES)
    for each, place in zip(moved, request["files"], strict=True):
        os.dup2(each, place)
        os.close(each)
    for stream, number in ((sys.stdout, 1), (sys.stderr, 2)):
        assert isinstance(stream, TextIOWrapper)
        stream.reconfigure(line_buffering=number == 2 or os.isatty(number))
    for number in request["ignored"]:
        signal.signal(number, signal.SIG_IGN)
    os.umask(request["mask"])
    os.environ.clear()
    os.environ.update(HASHES | request["environment"])
    own = request["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:1] = ["", *(os.path.abspath(each) for each in own if each)]
    sys.argv = request["words"]
    if sys.argv[0] == str(BIN / "python"):
        script = sys.argv.pop(2)
        del sys.argv[0]
        return compile(script, "<string>", "exec")
    sys.path[0] = str(BIN)
    return compile(PROGRAM, sys.argv[0], "exec")


class Kept(MetaPathFinder, Loader):
    """Modules that the server has imported, and with which MPI begins in a child that does.

    A library of MPI outlives no fork once it has begun, so that the server has only loaded it.
    Whoever imports one of the modules has all of them, and then it begins, as it does in a process
    that imports the first of them really.

    Parameters
    ----------
    modules : dict
        The modules by name, which are taken from where imports look for them.
    """

    def __init__(self, modules: dict[str, ModuleType]):
        self._modules = modules
        self._specs = {name: module.__spec__ for name, module in modules.items()}
        for name in modules:
            del sys.modules[name]
            package, _, last = name.rpartition(".")
            delattr(sys.modules.get(package) or modules[package], last)
        sys.meta_path.insert(0, self)

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Find a module, if it is one of these."""
        return ModuleSpec(fullname, self) if fullname in self._modules else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module that is there."""
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """Put all the modules where imports find them, and begin with MPI."""
        sys.meta_path.remove(self)
        sys.modules.update(self._modules)
        for name, each in self._modules.items():
            each.__spec__ = self._specs[name]
            package, _, last = name.rpartition(".")
            setattr(sys.modules[package], last, each)
        from mpi4py import rc

        from mpinet.machine.transport import mpi

        library = mpi()  # which also sets what the library reads when it begins
        if rc.initialize:
            library.Init()


def warm() -> None:
    """Import what commands import, and load what is compiled for most of them."""
    from mpinet.base.native import background
    from mpinet.cli.session import CommandSession
    from mpinet.commands.catalogue import COMMANDS
    from mpinet.jobs import module_of
    from mpinet.machine.transport import START, alone, mpi

    for command in COMMANDS:
        module_of(command)
    with alone():
        background.TOLD = (float("inf"), float("inf"))  # no output depends on waits
        for words in WARMING:
            CommandSession(words.split()).run()
        assert "mpi4py.MPI" not in sys.modules, "a library of MPI that has begun outlives no fork"
        import mpi4py

        others, unset = {*sys.modules}, START.keys() - os.environ.keys()
        mpi4py.rc.initialize, mpi4py.rc.finalize = False, True
        CommandSession(SCRIPT).run()
        assert not mpi().Is_initialized()
    mpi4py.rc.initialize, mpi4py.rc.finalize = True, None
    mpi.cache_clear()
    for name in unset:
        os.environ.pop(name, None)
    new = {name: sys.modules[name] for name in sys.modules.keys() - others}
    rooms = ("mpi4py.MPI", "mpinet.mpi.")
    Kept({name: module for name, module in new.items() if name.startswith(rooms)})


if __name__ == "__main__":
    output = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    for number in (signal.SIGHUP, signal.SIGQUIT):  # a job in the background ignores these, and
        signal.signal(number, signal.SIG_DFL)  # below a launcher its commands do not
    signal.signal(signal.SIGINT, signal.default_int_handler)
    server = Server(sys.argv[1])
    warm()
    gc.collect()
    gc.freeze()  # else children copy what the collector writes on
    os.write(output, b"ready\n")
    code = become(server.serve())
    sys.modules["__main__"], kept = ModuleType("__main__"), sys.modules["__main__"]
    if code.co_filename == sys.argv[0]:
        vars(sys.modules["__main__"])["__file__"] = sys.argv[0]
    exec(code, vars(sys.modules["__main__"]))
