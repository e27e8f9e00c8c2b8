"""What stands on the search path for `mpinet`: it lets a server fork the command (`forked.py`).

``python -IS forkedclient.py SOCKET PROGRAM WORD ..``. It passes on the signals that it gets, ends
as the command ends, and becomes PROGRAM itself where the server says no.
"""

import array
import marshal
import os
import resource
import signal
import socket
import sys
from contextlib import suppress
from typing import Any

NUMBER = 8
"""Bytes of a number between server and client: a length, a process, a status."""

PASSED_ON = [
    getattr(signal, f"SIG{name}") for name in "TERM INT HUP USR1 USR2 ALRM QUIT ABRT".split()
]
"""Signals that the command gets in this process's place."""


def state() -> dict[str, Any]:
    """What a process has from its parent, and what a server's child has from the server."""
    limits = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    return {
        "limits": [resource.getrlimit(getattr(resource, name)) for name in limits],
        "user": (os.geteuid(), os.getegid()),
        "namespaces": [os.readlink(f"/proc/self/ns/{name}") for name in ("pid", "net", "mnt")],
    }


def ignored() -> list[int]:
    """The signals that are ignored: shells do so for what they start in the background."""
    numbers = sorted(map(int, signal.valid_signals()))
    return [each for each in numbers if signal.getsignal(each) == signal.SIG_IGN]


def is_open(descriptor: int) -> bool:
    """Whether it is open: the one that has listed them is not any more."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def request(words: list[str]) -> dict[str, Any]:
    """What the server has to know of this process, beside its descriptors."""
    mask = os.umask(0)
    os.umask(mask)
    files = [each for each in map(int, os.listdir("/proc/self/fd")) if is_open(each)]
    return {
        "words": words,
        "environment": dict(os.environ),
        "files": files,
        "mask": mask,
        "ignored": ignored(),
        "state": state(),
    }


def received(server: socket.socket) -> int:
    """The number that the server sends; -SIGKILL where it is gone."""
    told = server.recv(NUMBER, socket.MSG_WAITALL)
    return int.from_bytes(told, "little", signed=True) if told else -signal.SIGKILL


def encoded(number: int) -> bytes:
    """A number as it is sent."""
    return number.to_bytes(NUMBER, "little", signed=True)


def pass_on(number: int, child: int) -> None:
    """Send the command a signal, if it has not ended by now."""
    with suppress(ProcessLookupError):
        os.kill(child, number)


def main(address: str, *words: str) -> None:
    """Have the command run, and end as it ends."""
    asked = request(list(words))
    data = marshal.dumps(asked)
    files = array.array("i", [os.open(".", os.O_RDONLY), *asked["files"]])
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
        server.sendmsg([encoded(len(data))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        server.sendall(data)
        child = received(server)
        if child > 0:
            for number in PASSED_ON:
                signal.signal(number, lambda number, _: pass_on(number, child))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
        if child:
            end(received(server))
    os.execv(words[0], words)


def end(status: int) -> None:
    """End as the command has ended: with a status, or (negative) by a signal."""
    if status < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # SIGKILL has no other way
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
