"""Waits of processors for others whom they reach outside of MPI: by sockets.

A processor has its turn until it waits in a call of MPI. One that waits for a network, in an event
loop or in a call of a socket, looks again and again whether something has come, and lets others
have their turns, among them those whom it waits for. When something comes is a matter of real time.
Event loops without a network wait as any computation does: the order of turns stays the script's.
"""

from __future__ import annotations

import os
import select
import selectors
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from time import monotonic
from typing import Any

from greenlet import getcurrent

from mpinet.mpi.world.failure import script_line
from mpinet.mpi.world.replacing import replaced
from mpinet.mpi.world.world import World

READING = "accept", "recv", "recv_into", "recvfrom", "recvfrom_into", "recvmsg"
"""Methods of sockets that wait until something has come."""

Method = Callable[..., Any]


@contextmanager
def outside_watched(world: World) -> Iterator[None]:
    """Within it, processors that wait for others outside of MPI let these have their turns."""
    outside = Outside(world)
    places: list[tuple[Any, str, Method]] = [
        (kind, "select", outside.selecting) for kind in vars(selectors).values() if _selects(kind)
    ]
    places += [(socket.socket, name, outside.reading) for name in READING]
    places += [
        (socket.socket, "send", outside.sending),
        (socket.socket, "sendall", outside.sending_all),
    ]
    with replaced(*((owner, name, around(getattr(owner, name))) for owner, name, around in places)):
        yield


class Outside:
    """Waits of this rank's processors for others that they reach by sockets.

    Parameters
    ----------
    world : World
        The run.
    """

    def __init__(self, world: World):
        self._world = world
        self._process = os.getpid()

    def selecting(self, select_ready: Method) -> Method:
        """A selector's method that gives others their turns while it waits for a network."""

        @wraps(select_ready)
        def selected(selector: Any, timeout: float | None = None) -> list[Any]:
            if not self._others:
                return select_ready(selector, timeout)  # type: ignore[no-any-return]
            # What is ready already needs no wait. So event loops with local work keep the script's
            # order of turns.
            ready: list[Any] = select_ready(selector, 0)
            waits = not ready and (timeout is None or timeout > 0)
            files = [key.fd for key in (selector.get_map() or {}).values()] if waits else []
            if waits and any(_reaches_others(file) for file in files):
                if self._may_wait:
                    listens = any(_listens(file) for file in files)
                    ready = self._until(partial(select_ready, selector, 0), timeout, listens)
                    self._world.turns.hoping += any(_reaches_others(key.fd) for key, _ in ready)
                    return ready
                # A thread may not give turns away. So the processors are asked, by signals, to do
                # it for its sake.
                self._world.threads.expect_network()
            return select_ready(selector, timeout) if waits else ready

        return selected

    def reading(self, read: Method) -> Method:
        """A socket's method that gives others their turns until something has come."""

        @wraps(read)
        def received(opened: socket.socket, *arguments: Any, **named: Any) -> Any:
            if self._waits(opened):
                self._await(opened, select.POLLIN)
            return read(opened, *arguments, **named)

        return received

    def sending(self, send: Method) -> Method:
        """A socket's method that gives others their turns until some of it can be sent."""

        @wraps(send)
        def sent(opened: socket.socket, data: Any, flags: int = 0) -> int:
            if self._waits(opened):
                self._await(opened, select.POLLOUT)
                # The socket takes a part at least. Without the flag the kernel would block for the
                # rest, and the reader would never have its turn.
                flags |= socket.MSG_DONTWAIT
            return send(opened, data, flags)  # type: ignore[no-any-return]

        return sent

    def sending_all(self, send_all: Method) -> Method:
        """A socket's method that sends everything, and gives others their turns meanwhile."""

        @wraps(send_all)
        def sent_all(opened: socket.socket, data: Any, flags: int = 0) -> None:
            if not self._waits(opened):
                return send_all(opened, data, flags)  # type: ignore[no-any-return]
            rest = memoryview(data).cast("B")
            while rest:
                rest = rest[opened.send(rest, flags) :]
            return None

        return sent_all

    @property
    def _others(self) -> bool:
        """True if others may wait for their turns; never in a child of this process."""
        # A processor alone may block as in any program: no other one has a turn to lose.
        others = self._world.turns.running > 1 or self._world.machine.transport.size > 1
        return others and os.getpid() == self._process

    @property
    def _may_wait(self) -> bool:
        """True if the caller is a processor's script, no thread, and in no call of MPI's."""
        here = self._world.turns.current
        return here.account is None and getcurrent() is here.thread

    def _waits(self, opened: socket.socket) -> bool:
        """Tell if a call of a socket may wait, and keep others from their turns."""
        return opened.gettimeout() != 0 and self._others and self._may_wait

    def _await(self, opened: socket.socket, what: int) -> None:
        """Wait until something can be done with a socket."""
        looking = select.poll()
        looking.register(opened, what)
        look = partial(looking.poll, 0)
        if not look() and not self._until(look, opened.gettimeout(), _listens(opened.fileno())):
            raise TimeoutError("timed out")

    def _until(
        self, look: Callable[[], list[Any]], timeout: float | None, listens: bool
    ) -> list[Any]:
        """Let others have their turns until a look shows something, or the time is over.

        Parameters
        ----------
        look : callable
            Returns what is ready.
        timeout : float or None
            Seconds to wait.
        listens : bool
            Whether it waits for clients: for one that nobody calls the run has no more patience
            than for any other who asks in vain.
        """
        turns, end = self._world.turns, None if timeout is None else monotonic() + timeout
        here, line = turns.current, script_line("__main__")
        found: list[Any] = []
        if line is not None:  # nobody wakes a processor that is in a call
            here.account = self._world.accounts.at("select", line.tb_frame)
        try:
            while not found and (end is None or monotonic() < end):
                turns.await_outside(hopes=not listens)
                found = look()
        finally:
            here.account = None
        return found


def _selects(kind: Any) -> bool:
    """Tell if something is a class of selectors with a way of its own to wait."""
    if not isinstance(kind, type) or not issubclass(kind, selectors.BaseSelector):
        return False
    return kind is not selectors.BaseSelector and "select" in vars(kind)


def _listens(descriptor: int) -> bool:
    """Tell if a file is a socket that waits for clients."""
    return _is_socket(
        descriptor,
        lambda opened: bool(opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)),
    )


def _reaches_others(descriptor: int) -> bool:
    """Tell if a file is a socket with an address: event loops wake themselves by pairs without."""
    return _is_socket(
        descriptor,
        lambda opened: (
            opened.family in (socket.AF_INET, socket.AF_INET6)
            or bool(opened.getsockname() or opened.getpeername())
        ),
    )


def _is_socket(descriptor: int, such: Callable[[socket.socket], bool]) -> bool:
    """Tell if a file is a socket, and such a one."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as opened:
            return such(opened)
    except OSError:
        return False
