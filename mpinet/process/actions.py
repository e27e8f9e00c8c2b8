"""Actions: a processor's program yields them one at a time, and gets values for them.

A program makes them by the methods of its `mpinet.process.node.Node`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mpinet.process.values import contents_of, unpack

ROUTED = -1
"""Number in the place of a port for a message that was routed here."""

LEFT, TAKEN, OVER = range(3)
"""Answers of an action to a message: leaves it in the mail, takes it, takes it and ends."""

Parcels = tuple[tuple[tuple[int, ...], Any], ...]
"""Sends of a processor in a step: tuples of ports, each with the one value that goes out on them.
"""


def together(parcels: Parcels) -> Parcels:
    """Join parcels of equal values into one with all their ports: one transmission on a bus."""
    ports_of: dict[Any, tuple[int, ...]] = {}
    values: dict[Any, Any] = {}
    for ports, value in parcels:
        contents = contents_of(value)
        ports_of[contents] = ports_of.get(contents, ()) + ports
        values.setdefault(contents, value)
    return tuple((ports, values[contents]) for contents, ports in ports_of.items())


class Action:
    """Request of one ``yield``."""

    __slots__ = ()

    said = "computes"
    """Verb phrase that says in a sentence what the processor does."""

    def offer(self, port: int, value: Any) -> int:
        """Take or leave a message: `LEFT`, `TAKEN`, or `OVER` if it ends the action."""
        return LEFT

    @property
    def result(self) -> Any:
        """Value that the ``yield`` gives."""
        return None


COMPUTING = Action()
"""Computation before a program's first action, and between two of them."""


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
        """True if the action waits for nothing (any more)."""
        return False

    @property
    def missing(self) -> Iterable[int] | None:
        """Ports from which a message would help; None stands for all."""
        raise NotImplementedError


class Receive(Waiting):
    """Wait for one message from any of some ports; the result is its value."""

    __slots__ = ("_value",)

    def __init__(self, ports: tuple[int, ...] | None, limit: int | None):
        self.ports = ports
        self.limit = limit
        self._value: Any = None

    @property
    def result(self) -> Any:
        """Value received; None without one."""
        return unpack(self._value)

    @property
    def missing(self) -> Iterable[int] | None:
        """Ports that it listens to; None stands for all."""
        return self.ports

    def offer(self, port: int, value: Any) -> int:
        """Take the first message from any of the ports, and end."""
        if self.ports is not None and port not in self.ports:
            return LEFT
        self._value = value
        return OVER


class ReceiveEach(Waiting):
    """Wait for one message from each of some ports; the result is {port: value}."""

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
        """True if a message has come from each of the ports (or there are none)."""
        return len(self._found) == len(self.ports)

    @property
    def missing(self) -> Iterable[int]:
        """Ports from which nothing has come yet."""
        return [port for port in self.ports if port not in self._found]

    def offer(self, port: int, value: Any) -> int:
        """Take the first message from each of the ports."""
        found = self._found
        if port in found or port not in self.ports:
            return LEFT
        found[port] = value
        return OVER if len(found) == len(self.ports) else TAKEN


class Exchange(Send):
    """Send in one step and wait for as many messages from the same ports."""

    __slots__ = ("answer",)

    said = "exchanges"

    def __init__(self, parcels: Parcels, answer: Waiting):
        super().__init__(parcels)
        self.answer = answer
