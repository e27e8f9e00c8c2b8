"""Minimal emulated processors as a baseline: a thread for each processor, and copied messages.

No machine moves the messages and nothing is counted; tags and errors do not exist. A receiver first
lets other threads run, because a message takes a step on any machine. Otherwise a thread would find
its message immediately, and most thread switches would be missing.
"""

from __future__ import annotations

import pickle
import tracemalloc
from collections import deque
from types import CodeType, FunctionType
from typing import Any

import numpy as np
from greenlet import getcurrent, greenlet

THREADS = "bare threads"


class BareCommunicator:
    """Communicator that passes objects and arrays from thread to thread.

    Parameters
    ----------
    rank, size : int
        Rank of the thread, and number of threads.
    boxes : list of dict
        Sent bytes by receiver and sender.
    """

    def __init__(self, rank: int, size: int, boxes: list[dict[int, deque[bytes]]]):
        self.rank = rank
        self.size = size
        self._boxes = boxes
        self._others = getcurrent()

    def send(self, obj: Any, dest: int) -> None:
        """Send a pickled object to another thread."""
        self._put(pickle.dumps(obj), dest)

    def recv(self, source: int) -> Any:
        """Receive an object."""
        return pickle.loads(self._taken(source))

    def sendrecv(self, sendobj: Any, dest: int, source: int) -> Any:
        """Send an object, then receive one."""
        self.send(sendobj, dest)
        return self.recv(source)

    def Isend(self, buf: Any, dest: int, tag: int) -> None:  # noqa: N802
        """Send an array to another thread."""
        self._put(buf.tobytes(), dest)

    def Irecv(self, buf: Any, source: int, tag: int) -> tuple[Any, int]:  # noqa: N802
        """Return an array and the sender of its contents, for `wait_all`."""
        return buf, source

    def wait_all(self, receives: list[tuple[Any, int] | None]) -> None:
        """Receive into arrays."""
        for receive in receives:
            if receive is not None:
                buf, source = receive
                buf[...] = np.frombuffer(self._taken(source), buf.dtype).reshape(buf.shape)

    def Sendrecv(  # noqa: N802
        self, sendbuf: Any, dest: int, sendtag: int, recvbuf: Any, source: int
    ) -> None:
        """Send an array, then receive one."""
        self.Isend(sendbuf, dest, sendtag)
        self.wait_all([(recvbuf, source)])

    def Alltoall(self, sendbuf: Any, recvbuf: Any) -> None:  # noqa: N802
        """Send a row of an array to each thread, and receive a row from each."""
        for rank, row in enumerate(sendbuf):
            self._put(row.tobytes(), rank)
        self.wait_all(list(zip(recvbuf, range(self.size), strict=True)))

    def Bcast(self, buf: Any) -> None:  # noqa: N802
        """Send an array of the first thread to all other threads."""
        if self.rank == 0:
            for rank in range(1, self.size):
                self._put(buf.tobytes(), rank)
        else:
            self.wait_all([(buf, 0)])

    def _put(self, body: bytes, dest: int) -> None:
        self._boxes[dest].setdefault(self.rank, deque()).append(body)

    def _taken(self, source: int) -> bytes:
        """Return a message; let other threads run at least once and until the message exists."""
        box = self._boxes[self.rank]
        self._others.switch()
        while not box.get(source):
            self._others.switch()
        return box[source].popleft()


def bare_threads(code: CodeType, size: int) -> list[greenlet]:
    """Make `size` threads that run the code, each with its own `comm`."""
    boxes: list[dict[int, deque[bytes]]] = [{} for _ in range(size)]
    return [
        greenlet(FunctionType(code, {"comm": BareCommunicator(rank, size, boxes)}))
        for rank in range(size)
    ]


def bytes_a_thread(size: int = 1000) -> float:
    """Measure the memory of a thread that waits for a message, in bytes."""
    # A thread needs a few hundred bytes, too few for the process's peak, which counts pages.
    tracemalloc.start()
    try:
        threads = bare_threads(compile("comm.recv(comm.rank)", "waiting", "exec"), size)
        for thread in threads:
            thread.switch()
        return tracemalloc.get_traced_memory()[0] / size
    finally:
        tracemalloc.stop()


def run_bare(code: CodeType, size: int) -> None:
    """Run code in `size` threads, one after another, until all have ended."""
    threads = bare_threads(code, size)
    while threads:
        for thread in threads:
            thread.switch()
        threads = [thread for thread in threads if not thread.dead]
