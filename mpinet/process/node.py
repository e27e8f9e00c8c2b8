"""Programming interface of a processor: its number, address, ports and actions."""

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
    "an action was created and not yielded: write 'yield node.send(..)', and yield every action"
)


@described
class Node:
    """A processor of a machine, passed to the processor's program.

    A program is a generator function ``program(node)``. The methods `send`, `receive`,
    `receive_each`, `exchange`, `idle` and `route` return actions, which the program has to yield.
    Each ``yield`` is one action of the processor under the machine's port model. Computation takes
    no time; sending, routing and idling take steps. A message arrives in the step of its send and
    is stored at its port of arrival until received. A receive ends in the step in which its message
    arrives, and takes no step if the message has arrived before.
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
    """Port number of routed messages in `receive`."""

    def __init__(self, hosting: Hosting, slot: int, number: int):
        self.id: int = number
        """Number of the processor, 0..size-1."""
        self.arrival_port: int | None = None
        """Port of the last message that `receive` returned: `ROUTED` for a routed message, None if
        the last `receive` ended without a message.
        """
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
        """Numbers of this processor's wired ports, in ascending order."""
        return self._hosting.wired_ports(self._slot)

    def neighbor(self, port: int) -> int:
        """Return the processor behind a port; -1 if the port is not wired."""
        return self._hosting.neighbor(self._slot, port)

    def port_to(self, neighbor: int) -> int:
        """Return the lowest port to a neighbour.

        Raises
        ------
        UsageError
            The processor is not a neighbour.
        """
        for port in self.ports:
            if self.neighbor(port) == neighbor:
                return port
        raise UsageError(f"processor {neighbor} is no neighbour of processor {self.id}")

    @property
    def step(self) -> int:
        """Number of steps of the machine so far in this run."""
        return self._hosting.step

    @property
    def rng(self) -> Random:
        """Random number generator of this processor."""
        if self._random is None:
            self._random = Random(self._hosting.seed, self.id)
        return self._random

    def send(self, ports: Ports | Mapping[int, Any], value: Any = None) -> Action:
        """Send in one step on one or several ports.

        Parameters
        ----------
        ports : int, iterable of int, or mapping
            A port; several ports for the same value; or {port: value}. Equal values on ports of one
            bus are one transmission.
        value : object
            Any picklable value.
        """
        return self._new(Send(self._parcels(ports, value)))

    def receive(self, ports: Ports | None = None, limit: int | None = None) -> Action:
        """Wait for one message; the ``yield`` returns its value.

        The earliest message is received first; among messages of the same step, the message on the
        lowest port.

        Parameters
        ----------
        ports : int or iterable of int, optional
            Ports to receive from, or `ROUTED`. Default: all ports and `ROUTED`.
        limit : int, optional
            Maximum number of steps to wait. After this time the ``yield`` returns None, and
            `arrival_port` is None.
        """
        wanted = None if ports is None else _as_ports(ports)
        return self._new(Receive(wanted, _limit(limit)))

    def receive_each(self, ports: Iterable[int], limit: int | None = None) -> Action:
        """Wait for one message on each of several ports; the ``yield`` returns {port: value}.

        Parameters
        ----------
        ports : iterable of int
            The ports.
        limit : int, optional
            Maximum number of steps to wait. After this time the ``yield`` returns the values
            received.
        """
        return self._new(ReceiveEach(_as_ports(ports), _limit(limit)))

    def exchange(self, ports: Ports | Mapping[int, Any], value: Any = None) -> Action:
        """Send, and wait for one message on each port used.

        Parameters
        ----------
        ports, value
            As in `send`. The ``yield`` returns the received value if one port is given, {port:
            value} if several are given.
        """
        parcels = self._parcels(ports, value)
        sent = tuple(port for some, _ in parcels for port in some)
        several = isinstance(ports, Iterable)
        answer: Waiting = ReceiveEach(sent, None) if several else Receive(sent, None)
        return self._new(Exchange(parcels, answer))

    def idle(self, steps: int = 1) -> Action:
        """Wait for a number of steps; 0 continues at once."""
        number = _whole(steps, "number of steps")
        if number < 0:
            raise UsageError(f"a processor idles 0 steps or more, not {steps}")
        return self._new(Idle(number))

    def route(self, target: int, value: Any = None) -> Action:
        """Send a message to any processor through the router, hop by hop.

        The action takes one step, in which the message may make its first hop. The processors' own
        sends have priority over routed messages on each channel; among routed messages the oldest
        goes first. At the target, `receive` returns the message as a message from `ROUTED`.

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
    """Return the ports as a tuple."""
    if isinstance(ports, Iterable):
        some = tuple(ports)
        try:
            return tuple(map(index, some))
        except TypeError:
            return tuple(_whole(port, "port") for port in some)
    return (_whole(ports, "port"),)


def _limit(limit: int | None) -> int | None:
    """Return a limit in steps; raise an error unless it is None or an integer of 0 or more."""
    if limit is None:
        return None
    number = _whole(limit, "number of steps")
    if number < 0:
        raise UsageError(f"a receive waits 0 steps or more, not {limit}")
    return number


def _whole(number: Any, what: str) -> int:
    """Return a number as int; raise an error unless it is an integer."""
    try:
        return index(number)
    except TypeError:
        raise UsageError(f"a {what} is a whole number, not {number!r}") from None
