"""Actions: what a processor's program yields, one at a time, and gets values for.

A program makes them by the methods of its `mpinet.process.node.Node`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mpinet.process.values import contents_of, unpack

ROUTED = -1
"""The place of a port's number where a message did not come by a port, but was routed here."""

LEFT, TAKEN, OVER = range(3)
"""What an action does with a message: leaves it in the mail, takes it, ends with it."""

Parcels = tuple[tuple[tuple[int, ...], Any], ...]
"""What a processor sends in a step: ports, and the one value that goes out on all of them."""


def together(parcels: Parcels) -> Parcels:
    """The same with one parcel for all ports that get equal values: one transmission on a bus."""
    ports_of: dict[Any, tuple[int, ...]] = {}
    values: dict[Any, Any] = {}
    for ports, value in parcels:
        contents = contents_of(value)
        ports_of[contents] = ports_of.get(contents, ()) + ports
        values.setdefault(contents, value)
    return tuple((ports, values[contents]) for contents, ports in ports_of.items())


class Action:
    """What one ``yield`` asks for."""

    __slots__ = ()

    said = "acts"
    """What the processor does, in a sentence."""

    def offer(self, port: int, value: Any) -> int:
        """What becomes of a message: `LEFT`, `TAKEN`, or `OVER` if it ends the action."""
        return LEFT

    @property
    def result(self) -> Any:
        """What the ``yield`` gives."""
        return None


class Begin(Action):
    """What a processor does before its program's first action, and between two of them."""

    __slots__ = ()

    said = "computes"


COMPUTING = Begin()
"""The one object of its kind."""


class Send(Action):
    """Send in one step."""

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
        """Whether nothing is waited for (any more)."""
        return False

    @property
    def missing(self) -> Iterable[int] | None:
        """The ports from which a message would help; None = all."""
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
        """The value, None if none has come."""
        return unpack(self._value)

    @property
    def missing(self) -> Iterable[int] | None:
        """Its ports."""
        return self.ports

    def offer(self, port: int, value: Any) -> int:
        """One message from any of the ports is enough."""
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
        """The values by port, in the order in which the ports were given."""
        found = self._found
        return {port: unpack(found[port]) for port in self.ports if port in found}

    @property
    def is_over(self) -> bool:
        """Whether something has come from all its ports (or it has none)."""
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
