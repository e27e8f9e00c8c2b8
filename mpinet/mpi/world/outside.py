"""Waits of processors for peers outside of MPI, by sockets.

A processor keeps its turn until it blocks in an MPI call. A processor that waits for a network, in
an event loop or a socket call, polls. Between polls it gives turns to the remaining processors,
among them possibly its peer. Network arrivals depend on real time. Event loops without a network
wait like any computation, and the order of turns stays deterministic.
"""

from __future__ import annotations

import os
import select
import selectors
import signal
import socket
import time
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
"""Socket methods that wait for input."""

Method = Callable[..., Any]


@contextmanager
def outside_watched(world: World) -> Iterator[None]:
    """Context manager: processors give up their turns while they wait for a network."""
    outside = Outside(world)
    places: list[tuple[Any, str, Method]] = [
        (kind, "select", outside.selecting) for kind in vars(selectors).values() if _selects(kind)
    ]
    places += [(socket.socket, name, outside.reading) for name in READING]
    places += [
        (socket.socket, "send", outside.sending),
        (socket.socket, "sendall", outside.sending_all),
        (time, "sleep", outside.sleeping),
    ]
    with replaced(*((owner, name, around(getattr(owner, name))) for owner, name, around in places)):
        yield


class Outside:
    """Socket waits of this rank's processors, which give up turns.

    Parameters
    ----------
    world : World
        The run.
    """

    def __init__(self, world: World):
        self._world = world
        self._process = os.getpid()

    def selecting(self, select_ready: Method) -> Method:
        """Wrap a selector's method: it gives up turns while it waits for a network."""

        @wraps(select_ready)
        def selected(selector: Any, timeout: float | None = None) -> list[Any]:
            if not self._others:
                return select_ready(selector, timeout)  # type: ignore[no-any-return]
            # Ready files need no wait. Event loops with local work therefore keep the script's
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
                # A thread cannot give up turns. Signals ask the processors to give up turns for the
                # thread.
                self._world.threads.expect_network()
            return select_ready(selector, timeout) if waits else ready

        return selected

    def reading(self, read: Method) -> Method:
        """Wrap a socket's reading method: it gives up turns until input is available."""

        @wraps(read)
        def received(opened: socket.socket, *arguments: Any, **named: Any) -> Any:
            if self._waits(opened):
                self._await(opened, select.POLLIN)
            return read(opened, *arguments, **named)

        return received

    def sending(self, send: Method) -> Method:
        """Wrap ``send`` of sockets: it gives up turns until a part can be sent."""

        @wraps(send)
        def sent(opened: socket.socket, data: Any, flags: int = 0) -> int:
            if self._waits(opened):
                self._await(opened, select.POLLOUT)
                # The socket accepts at least a part. Without the flag the kernel would block for
                # the rest, and the reader would never get a turn.
                flags |= socket.MSG_DONTWAIT
            return send(opened, data, flags)  # type: ignore[no-any-return]

        return sent

    def sending_all(self, send_all: Method) -> Method:
        """Wrap ``sendall`` of sockets: it sends all data and gives up turns between parts."""

        @wraps(send_all)
        def sent_all(opened: socket.socket, data: Any, flags: int = 0) -> None:
            if not self._waits(opened):
                return send_all(opened, data, flags)  # type: ignore[no-any-return]
            rest = memoryview(data).cast("B")
            while rest:
                rest = rest[opened.send(rest, flags) :]
            return None

        return sent_all

    def sleeping(self, sleep: Method) -> Method:
        """Wrap ``time.sleep``: other processors have turns while a processor sleeps."""

        @wraps(sleep)
        def slept(seconds: float) -> None:
            sleepers, here = self._world.sleepers, self._world.turns.current
            is_own = self._others and getcurrent() is here.thread and sleepers.may_sleep
            if not is_own or not seconds >= 0:
                sleep(seconds)
                return
            while True:
                # An alarm interrupts the sleep, and its handler may raise an error.
                left, _ = signal.getitimer(signal.ITIMER_REAL)
                part = min(seconds, left) if left else seconds
                sleepers.sleep(part)
                if left:
                    signal.raise_signal(signal.SIGALRM)
                seconds -= part
                if seconds <= 0:
                    return

        return slept

    @property
    def _others(self) -> bool:
        """True if another processor may be waiting for a turn; always False in a child process."""
        # A single processor may block as in any program, because no turn is lost.
        others = self._world.turns.running > 1 or self._world.machine.transport.size > 1
        return others and os.getpid() == self._process

    @property
    def _may_wait(self) -> bool:
        """True if the caller is a processor's script itself, outside of MPI calls."""
        here = self._world.turns.current
        return here.account is None and getcurrent() is here.thread

    def _waits(self, opened: socket.socket) -> bool:
        """Return whether a socket's call may block and delay the remaining processors."""
        return opened.gettimeout() != 0 and self._others and self._may_wait

    def _await(self, opened: socket.socket, what: int) -> None:
        """Wait until a socket is ready for a given operation."""
        looking = select.poll()
        looking.register(opened, what)
        look = partial(looking.poll, 0)
        if not look() and not self._until(look, opened.gettimeout(), _listens(opened.fileno())):
            raise TimeoutError("timed out")

    def _until(
        self, look: Callable[[], list[Any]], timeout: float | None, listens: bool
    ) -> list[Any]:
        """Give up turns until a check finds a ready file or the time is over.

        Parameters
        ----------
        look : callable
            Returns the ready files.
        timeout : float or None
            Seconds to wait; None without a limit.
        listens : bool
            Whether the wait is for clients. The run's patience with such a wait is limited, as for
            unsuccessful polls.
        """
        turns, end = self._world.turns, None if timeout is None else monotonic() + timeout
        here, line = turns.current, script_line("__main__")
        found: list[Any] = []
        if line is not None:  # a processor within a call is not interrupted
            here.account = self._world.accounts.at("select", line.tb_frame)
        try:
            while not found and (end is None or monotonic() < end):
                turns.await_outside(hopes=not listens)
                found = look()
        finally:
            here.account = None
        return found


def _selects(kind: Any) -> bool:
    """Return whether an object is a selector class with its own `select` method."""
    if not isinstance(kind, type) or not issubclass(kind, selectors.BaseSelector):
        return False
    return kind is not selectors.BaseSelector and "select" in vars(kind)


def _listens(descriptor: int) -> bool:
    """Return whether a descriptor is a socket that waits for clients."""
    return _is_socket(
        descriptor,
        lambda opened: bool(opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)),
    )


def _reaches_others(descriptor: int) -> bool:
    """Return whether a descriptor is a socket with an address.

    Event loops wake themselves by socket pairs without addresses.
    """
    return _is_socket(
        descriptor,
        lambda opened: (
            opened.family in (socket.AF_INET, socket.AF_INET6)
            or bool(opened.getsockname() or opened.getpeername())
        ),
    )


def _is_socket(descriptor: int, such: Callable[[socket.socket], bool]) -> bool:
    """Return whether a descriptor is a socket that satisfies a condition."""
    try:
        with socket.socket(fileno=os.dup(descriptor)) as opened:
            return such(opened)
    except OSError:
        return False
