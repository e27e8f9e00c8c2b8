"""Actions: a program yields one action at a time and receives the action's result.

A program creates actions with the methods of its `mpinet.process.node.Node`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mpinet.process.values import contents_of, unpack

ROUTED = -1
"""Number used in place of a port for a routed message."""

LEFT, TAKEN, OVER = range(3)
"""Replies of an action to a message: leave, take, or take and end the action."""

Parcels = tuple[tuple[tuple[int, ...], Any], ...]
"""Sends of a processor in one step: pairs of a tuple of ports and the value sent on these ports."""


def together(parcels: Parcels) -> Parcels:
    """Merge parcels with equal values to save transmissions on busses."""
    ports_of: dict[Any, tuple[int, ...]] = {}
    values: dict[Any, Any] = {}
    for ports, value in parcels:
        contents = contents_of(value)
        ports_of[contents] = ports_of.get(contents, ()) + ports
        values.setdefault(contents, value)
    return tuple((ports, values[contents]) for contents, ports in ports_of.items())


class Action:
    """Request of one ``yield`` of a program."""

    __slots__ = ()

    said = "computes"
    """Verb phrase that describes the action in an error message."""

    def offer(self, port: int, value: Any) -> int:
        """Decide on a message: leave (`LEFT`), take (`TAKEN`), or take and end (`OVER`)."""
        return LEFT

    @property
    def result(self) -> Any:
        """Result of the ``yield``."""
        return None


COMPUTING = Action()
"""Computation before a program's first action, and between two actions."""


class Send(Action):
    """Send messages in one step."""

    __slots__ = ("parcels",)

    said = "sends"

    def __init__(self, parcels: Parcels):
        self.parcels = parcels


class Route(Action):
    """Hand a message to the processor's router in one step."""

    __slots__ = ("target", "value")

    said = "routes a message"

    def __init__(self, target: int, value: Any):
        self.target = target
        self.value = value


class Idle(Action):
    """Wait for a number of steps."""

    __slots__ = ("steps",)

    said = "idles"

    def __init__(self, steps: int):
        self.steps = steps


class Waiting(Action):
    """Wait for messages, at most `limit` steps."""

    __slots__ = ("limit", "ports")

    said = "waits"

    limit: int | None
    ports: tuple[int, ...] | None

    @property
    def is_over(self) -> bool:
        """True if the action waits for no further message."""
        return False

    @property
    def missing(self) -> Iterable[int] | None:
        """Ports from which the action still accepts messages; None stands for all ports."""
        raise NotImplementedError


class Receive(Waiting):
    """Wait for one message on any of the given ports; the result is the message's value."""

    __slots__ = ("_value",)

    def __init__(self, ports: tuple[int, ...] | None, limit: int | None):
        self.ports = ports
        self.limit = limit
        self._value: Any = None

    @property
    def result(self) -> Any:
        """Received value; None if no message was received."""
        return unpack(self._value)

    @property
    def missing(self) -> Iterable[int] | None:
        """Ports on which the action listens; None stands for all ports."""
        return self.ports

    def offer(self, port: int, value: Any) -> int:
        """Take the first message on any of the ports and end the action."""
        if self.ports is not None and port not in self.ports:
            return LEFT
        self._value = value
        return OVER


class ReceiveEach(Waiting):
    """Wait for one message on each of the given ports; the result is {port: value}."""

    __slots__ = ("_found",)

    def __init__(self, ports: tuple[int, ...], limit: int | None):
        self.ports: tuple[int, ...] = tuple(dict.fromkeys(ports))
        self.limit = limit
        self._found: dict[int, Any] = {}

    @property
    def result(self) -> dict[int, Any]:
        """Received values by port, in the order in which the ports were given."""
        found = self._found
        return {port: unpack(found[port]) for port in self.ports if port in found}

    @property
    def is_over(self) -> bool:
        """True if a message from each port has been taken, or if there are no ports."""
        return len(self._found) == len(self.ports)

    @property
    def missing(self) -> Iterable[int]:
        """Ports without a received message."""
        return [port for port in self.ports if port not in self._found]

    def offer(self, port: int, value: Any) -> int:
        """Take the first message from each of the ports."""
        found = self._found
        if port in found or port not in self.ports:
            return LEFT
        found[port] = value
        return OVER if len(found) == len(self.ports) else TAKEN


class Exchange(Send):
    """Send in one step, then wait for one message on each of the same ports."""

    __slots__ = ("answer",)

    said = "exchanges"

    def __init__(self, parcels: Parcels, answer: Waiting):
        super().__init__(parcels)
        self.answer = answer
