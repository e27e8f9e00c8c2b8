"""The least that an emulated processor needs: a thread of its own, and pickled messages.

No machine moves these, nothing is counted, and neither tags nor errors are known. Whoever receives
lets the others run first, since a message takes a step on any machine: without that a thread finds
what it wants there already, and most of the switches are left out.
"""

from __future__ import annotations

import pickle
import tracemalloc
from collections import deque
from types import CodeType, FunctionType
from typing import Any

from greenlet import getcurrent, greenlet

THREADS = "bare threads"


class BareCommunicator:
    """Communicator that hands objects from thread to thread.

    Parameters
    ----------
    rank, size : int
        Whose it is, and of how many.
    boxes : list of dict
        By receiver and sender: what has been sent.
    """

    def __init__(self, rank: int, size: int, boxes: list[dict[int, deque[bytes]]]):
        self.rank = rank
        self.size = size
        self._boxes = boxes
        self._others = getcurrent()

    def send(self, obj: Any, dest: int) -> None:
        """Send an object, pickled, to another thread."""
        self._boxes[dest].setdefault(self.rank, deque()).append(pickle.dumps(obj))

    def recv(self, source: int) -> Any:
        """Receive an object; let other threads run until there is one, once at least."""
        box = self._boxes[self.rank]
        self._others.switch()
        while not box.get(source):
            self._others.switch()
        return pickle.loads(box[source].popleft())

    def sendrecv(self, sendobj: Any, dest: int, source: int) -> Any:
        """Send an object, and receive one."""
        self.send(sendobj, dest)
        return self.recv(source)


def bare_threads(code: CodeType, size: int) -> list[greenlet]:
    """Make `size` threads that run code, each with a `comm` of its own."""
    boxes: list[dict[int, deque[bytes]]] = [{} for _ in range(size)]
    return [
        greenlet(FunctionType(code, {"comm": BareCommunicator(rank, size, boxes)}))
        for rank in range(size)
    ]


def bytes_a_thread(size: int = 1000) -> float:
    """Measure the bytes of a thread that waits for a message."""
    # The peak of the process would hide a thread of a few hundred bytes between two pages.
    tracemalloc.start()
    try:
        threads = bare_threads(compile("comm.recv(comm.rank)", "waiting", "exec"), size)
        for thread in threads:
            thread.switch()
        return tracemalloc.get_traced_memory()[0] / size
    finally:
        tracemalloc.stop()


def run_bare(code: CodeType, size: int) -> None:
    """Run code in `size` threads, one after the other, until all have ended."""
    threads = bare_threads(code, size)
    while threads:
        for thread in threads:
            thread.switch()
        threads = [thread for thread in threads if not thread.dead]
