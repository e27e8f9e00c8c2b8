"""A processor as its program sees it: its own number, address and ports, and what it can do."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar

from mpinet.base.fielddocs import described
from mpinet.errors import UsageError
from mpinet.process.actions import (
    COMPUTING,
    ROUTED,
    Action,
    Exchange,
    Idle,
    Parcels,
    Receive,
    ReceiveEach,
    Route,
    Send,
    Waiting,
    together,
)
from mpinet.process.random import Random
from mpinet.process.values import pack

if TYPE_CHECKING:
    from mpinet.process.hosting import Hosting

Ports = int | Iterable[int]

NOT_YIELDED = (
    "an action was made and not yielded: write 'yield node.send(..)', and so on for every action"
)


@described
class Node:
    """One processor of a machine, as its program receives it.

    A program is a generator function ``program(node)``. What a method of the second group gives
    has to be yielded: one ``yield`` is one action of the processor under the machine's port
    model. Computing takes no time; sending, routing and idling take steps. A message arrives in
    the step in which it is sent and waits at the port by which it came. A receive ends in the
    step in which the message arrives; it takes no step at all if it has come before.
    """

    __slots__ = (
        "_action",
        "_hosting",
        "_made",
        "_mail",
        "_random",
        "_since",
        "_slot",
        "_thread",
        "arrival_port",
        "id",
    )

    ROUTED: ClassVar[int] = ROUTED
    """Port number in `receive` for a message that was routed here."""

    def __init__(self, hosting: Hosting, slot: int, number: int):
        self.id: int = number
        """The processor's number, 0..size-1."""
        self.arrival_port: int | None = None
        """The port by which the last message that `receive` took had come; `ROUTED` where it was
        routed; None if the last one took nothing."""
        self._hosting = hosting
        self._slot = slot
        self._action: Action = COMPUTING
        self._made: Action | None = None
        self._since = 0
        self._mail: list[tuple[int, Any]] = []
        self._thread: Generator[Any, Any, Any] | None = None
        self._random: Random | None = None

    def __repr__(self) -> str:
        return f"<processor {self.id} of {self._hosting.topology.name}>"

    @property
    def address(self) -> str:
        """Address of this processor in the paper's notation."""
        return self._hosting.topology.address(self.id)

    @property
    def size(self) -> int:
        """Number of processors of the machine."""
        return self._hosting.topology.hosts

    @property
    def ports(self) -> tuple[int, ...]:
        """Numbers of this processor's wired ports, ascending."""
        return self._hosting.wired_ports(self._slot)

    def neighbor(self, port: int) -> int:
        """Return the processor behind a port; -1 if the port is not wired."""
        return self._hosting.neighbor(self._slot, port)

    def port_to(self, neighbor: int) -> int:
        """Return the lowest port to a neighbour.

        Raises
        ------
        UsageError
            It is none.
        """
        for port in self.ports:
            if self.neighbor(port) == neighbor:
                return port
        raise UsageError(f"processor {neighbor} is no neighbour of processor {self.id}")

    @property
    def step(self) -> int:
        """Number of steps that the machine has made in this run."""
        return self._hosting.step

    @property
    def rng(self) -> Random:
        """Random numbers of this processor."""
        if self._random is None:
            self._random = Random(self._hosting.seed, self.id)
        return self._random

    def send(self, ports: Ports | Mapping[int, Any], value: Any = None) -> Action:
        """Send in one step, on one port or on several at once.

        Parameters
        ----------
        ports : int, iterable of int, or mapping
            A port; ports that all get the same value; or {port: value}. Equal values on ports of
            one bus are one transmission.
        value : object
            Any picklable value.
        """
        return self._new(Send(self._parcels(ports, value)))

    def receive(self, ports: Ports | None = None, limit: int | None = None) -> Action:
        """Wait for one message; the ``yield`` gives its value.

        Of messages that have come, the earliest is taken, of those of one step that of the
        lowest port.

        Parameters
        ----------
        ports : int or iterable of int, optional
            From which ports, or `ROUTED`. Default: from all, and routed ones, too.
        limit : int, optional
            Most steps to wait; then the ``yield`` gives None, and `arrival_port` is None.
        """
        wanted = None if ports is None else _as_ports(ports)
        return self._new(Receive(wanted, _limit(limit)))

    def receive_each(self, ports: Iterable[int], limit: int | None = None) -> Action:
        """Wait for one message from each of several ports; the ``yield`` gives {port: value}.

        Parameters
        ----------
        ports : iterable of int
            The ports.
        limit : int, optional
            Most steps to wait; then the ``yield`` gives what has come.
        """
        return self._new(ReceiveEach(_as_ports(ports), _limit(limit)))

    def exchange(self, ports: Ports | Mapping[int, Any], value: Any = None) -> Action:
        """Send, and wait for a message from the same port, or one from each of the same ports.

        Parameters
        ----------
        ports, value
            As in `send`. For one port the ``yield`` gives the value that came, for several
            {port: value}.
        """
        parcels = self._parcels(ports, value)
        sent = tuple(port for some, _ in parcels for port in some)
        several = isinstance(ports, Iterable)
        answer: Waiting = ReceiveEach(sent, None) if several else Receive(sent, None)
        return self._new(Exchange(parcels, answer))

    def idle(self, steps: int = 1) -> Action:
        """Wait for a number of steps (0: go on at once)."""
        number = _whole(steps, "number of steps")
        if number < 0:
            raise UsageError(f"a processor idles 0 steps or more, not {steps}")
        return self._new(Idle(number))

    def route(self, target: int, value: Any = None) -> Action:
        """Hand a message to the router, which brings it to any processor, hop by hop.

        It takes one step, in which the message may make its first hop. Messages in flight wait
        for channels that the processors' own sends use; the oldest goes first. At its target
        `receive` takes it as a message from `ROUTED`.

        Parameters
        ----------
        target : int
            A processor.
        value : object
            Any picklable value.
        """
        number = _whole(target, "processor")
        if not 0 <= number < self.size:
            raise UsageError(f"there is no processor {target}: processors are 0..{self.size - 1}")
        return self._new(Route(number, pack(value)))

    def _new(self, action: Action) -> Action:
        if self._made is not None:
            raise UsageError(NOT_YIELDED)
        self._made = action
        return action

    def _parcels(self, ports: Ports | Mapping[int, Any], value: Any) -> Parcels:
        if isinstance(ports, Mapping):
            parcels: Parcels = tuple(((_whole(port, "port"),), pack(ports[port])) for port in ports)
            if not self._hosting.topology.links:
                parcels = together(parcels)
        else:
            parcels = ((_as_ports(ports), pack(value)),)
        self._hosting.require_no_switches(self._slot, parcels)
        return parcels


def _as_ports(ports: Ports) -> tuple[int, ...]:
    """Return the ports that are meant."""
    if isinstance(ports, Iterable):
        some = tuple(ports)
        try:
            return tuple(map(index, some))
        except TypeError:
            return tuple(_whole(port, "port") for port in some)
    return (_whole(ports, "port"),)


def _limit(limit: int | None) -> int | None:
    """Check a limit in steps."""
    if limit is None:
        return None
    number = _whole(limit, "number of steps")
    if number < 0:
        raise UsageError(f"a receive waits 0 steps or more, not {limit}")
    return number


def _whole(number: Any, what: str) -> int:
    """Check that a number is a whole one."""
    try:
        return index(number)
    except TypeError:
        raise UsageError(f"a {what} is a whole number, not {number!r}") from None
