"""A communicator of one processor for programs without a run and without a launcher."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

from greenlet import getcurrent, greenlet

from mpinet.machine import Machine
from mpinet.machine.transport import Local
from mpinet.mpi.communicators.communicator import Intracomm, own, whole
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.threads import Threads
from mpinet.mpi.world.world import World
from mpinet.process.where import shown


class OwnThread(Threads):
    """Refuses calls from threads other than the original thread."""

    def serve(self, kind: str, frame: FrameType, work: Callable[[], Any]) -> NoReturn:
        """Raise an error in the calling thread, because no scheduler would give it a turn."""
        raise RuntimeError(f"{kind} is called from a thread, but this processor has only one.")


class Undivided:
    """Modules, streams and settings of a world with a single processor, which owns all of them."""

    present = -1

    def leave(self, processor: Processor) -> None:
        """Do nothing, because no other processor runs."""


def comm_self() -> Intracomm:
    """Return a communicator of one processor, for libraries that require a communicator.

    The communicator works without a launcher and without a run of mpinet. In a script run by
    mpinet, the result is the processor's ``COMM_SELF``.

    Returns
    -------
    Intracomm
        The communicator; calls that would wait forever raise `Deadlock`.

    Raises
    ------
    TransportError
        No MPI library is installed: datatypes and packing are mpi4py's.

    Examples
    --------
    >>> import mpinet
    >>> comm = mpinet.comm_self()
    >>> comm.rank, comm.size, comm.allreduce(3)
    (0, 1, 3)
    """
    world = vars(running).get("world")
    here = None if world is None else world.turns.current
    if here is not None and here.id >= 0 and getcurrent() is here.thread:
        return own()
    _begin()
    return whole()


def _begin() -> None:
    """Begin a world whose single processor is the caller."""
    caller = getcurrent()

    def live() -> None:
        world = World(Machine("complete:1", "one", Local()))
        caller.switch(world)
        while True:
            try:
                world.go_on()
            except Exception as error:
                here = world.turns.current = next(filter(None, world.turns.processors))
                here.awaited = None
                # The world runs in a greenlet of its own. Its errors, such as a deadlock, belong to
                # the waiting call.
                caller.throw(error)

    world: World = greenlet(live).switch()
    turns = world.turns
    processor = next(filter(None, turns.processors))
    processor.thread, processor.main = caller, sys.modules["__main__"]
    turns.privacy = Undivided()  # type: ignore[assignment]
    turns.current = processor
    world.threads = OwnThread(turns, world.exits, world.accounts)
    world.accounts.naming = lambda frame: shown(frame.f_code.co_filename)
    running.begin(world)
