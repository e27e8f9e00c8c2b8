"""The compile process: ``python -m mpinet.compiler FOLDER LOCK``.

The process reads requests from its input, stores an object for each request and answers. It ends
with its input and with its parent process.
"""

from __future__ import annotations

import fcntl
import marshal
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from mpinet.base.guardian.processes import die_with_parent
from mpinet.base.native.compiler import LENGTH, OTHERS_TIME
from mpinet.base.native.description import unpacked
from mpinet.base.native.kept import BEAT, kept
from mpinet.base.roomy import roomy

IDLE = 0.2
"""Seconds without a request, after which another job's process may compile."""


def main() -> None:
    """Answer requests until the input ends."""
    folder, lock = sys.argv[1:]
    end_with_parent()
    answers, requests = os.fdopen(os.dup(1), "wb"), Queue[Any]()
    # Standard output carries answers in binary: a stray print would corrupt them.
    os.dup2(2, 1)  # prints of a compiler go to standard error
    threading.Thread(target=read, args=(requests,), daemon=True).start()
    objects = kept()
    objects.folder = Path(folder).absolute()  # the folder chosen by the job
    os.chdir(objects.folder)  # the job's working folder may be deleted before the job ends
    while True:
        fingerprint, description = next_of(requests, int(lock))
        # Another job may have compiled the function while this request was waiting.
        there = objects.code(fingerprint) is not None
        wrong = "" if there else compiled(fingerprint, description)
        answer = marshal.dumps((fingerprint, wrong))
        answers.write(len(answer).to_bytes(LENGTH, "little") + answer)
        answers.flush()


def next_of(requests: Queue[Any], lock: int) -> Any:
    """Return the next request; release the lock for other jobs while no request arrives."""
    with suppress(Empty):
        return requests.get(timeout=IDLE)
    with suppress(OSError):  # file systems without locks
        # An idle compiler must not keep other jobs from compiling.
        fcntl.flock(lock, fcntl.LOCK_UN)
    request = requests.get()
    take_turn(lock)
    return request


def take_turn(lock: int) -> None:
    """Lock out other jobs' processes; after `OTHERS_TIME` seconds, go on without the lock."""
    began = time.monotonic()
    while time.monotonic() - began < OTHERS_TIME:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(BEAT)
        except OSError:  # file systems without locks
            return


def end_with_parent() -> None:
    """Make the system end this process with its parent, if possible, without core dumps."""
    parent = os.getppid()
    die_with_parent()
    if os.getppid() != parent:
        os._exit(0)


def read(requests: Queue[Any]) -> None:
    """Read requests into a queue; end the process at the end of its input."""
    while len(head := os.read(0, LENGTH)) == LENGTH:
        left, blocks = int.from_bytes(head, "little"), []
        while left and (block := os.read(0, left)):
            blocks.append(block)
            left -= len(block)
        if left:
            break
        requests.put(marshal.loads(b"".join(blocks)))
    # In a thread: the process then ends even in the middle of a compilation.
    os._exit(0)


def compiled(fingerprint: str, description: Any) -> str:
    """Compile a function and store its object; return an error message, or an empty text."""
    try:
        from mpinet.compiler import objects

        part = unpacked(description)
        (code,) = roomy(lambda: objects.made(part, fingerprint, [objects.host()]))()
        kept().add(fingerprint, code)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    main()
