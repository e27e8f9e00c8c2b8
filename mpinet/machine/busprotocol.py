"""Protocols by which the members of a bus agree on the next sender, in steps of the machine.

By default the lowest message number wins a bus: an order that no member of the bus can know. Each
protocol here uses only what a member hears on its bus. In each step a member offers its best
message for the bus, and the protocol grants the bus to one member or to none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from mpinet.base.arrays import Flags, Ints
from mpinet.draws import draw
from mpinet.machine.machine import Machine
from mpinet.machine.step import gather_claims

LARGEST_WINDOW = 10
"""Logarithm of the largest number of steps from which a backoff is drawn."""


class BusProtocol(ABC):
    """Arbitration by the members of each bus.

    Parameters
    ----------
    machine : Machine
        Machine on a network of busses.
    seed : int
        Seed of random backoffs.
    """

    idles: ClassVar[bool] = True
    """True if a bus may be idle while members wait, so a step may move no message."""

    def __init__(self, machine: Machine, seed: int = 0):
        self._machine, self._seed, self._step = machine, seed, 0
        self._seats: dict[int, dict[int, int]] = {}

    def senders(self, nominated: Ints) -> Flags:
        """Return flags of the messages (member, bus, priority) that get their bus (collective)."""
        self._step += 1
        members = nominated[:, :2].tolist()
        tried = np.array([self.offers(node, bus) for node, bus in members], bool)
        asking: dict[int, list[int]] = {}
        for node, bus in gather_claims(self._machine, nominated[tried])[:, :2].tolist():
            asking.setdefault(bus, []).append(node)
        # Each rank with a member of a bus sees the same claims, so all ranks agree.
        chosen = {bus: self.chosen(bus, nodes) for bus, nodes in asking.items()}
        return np.array([chosen.get(bus) == node for node, bus in members], bool)

    def seats(self, bus: int) -> dict[int, int]:
        """Return the seat of each member of a bus."""
        if bus not in self._seats:
            members = self._machine.topology.bus_members(bus)
            self._seats[bus] = {node: seat for seat, node in enumerate(members)}
        return self._seats[bus]

    def offers(self, node: int, bus: int) -> bool:
        """Return whether a member with a message tries to send on a bus in this step."""
        return True

    @abstractmethod
    def chosen(self, bus: int, nodes: list[int]) -> int | None:
        """Return the member that sends, among those that try; None if no member succeeds."""


class RoundRobin(BusProtocol):
    """The first waiting member behind the last sender sends.

    A member sees the request lines of its bus and hears each sender.
    """

    idles = False

    def __init__(self, machine: Machine, seed: int = 0):
        super().__init__(machine, seed)
        self._last: dict[int, int] = {}

    def chosen(self, bus: int, nodes: list[int]) -> int | None:
        """Return the waiting member with the next seat."""
        seats, last = self.seats(bus), self._last.get(bus, -1)
        node = min(nodes, key=lambda each: (seats[each] - last - 1) % len(seats))
        self._last[bus] = seats[node]
        return node


class Token(BusProtocol):
    """The member with the token sends, or passes the token to the next seat in a step of its own.

    A member keeps the token as long as messages wait there. A member hears only who holds the
    token.
    """

    def __init__(self, machine: Machine, seed: int = 0):
        super().__init__(machine, seed)
        self._held: dict[int, tuple[int, int]] = {}

    def chosen(self, bus: int, nodes: list[int]) -> int | None:
        """Return the holder, if it is waiting."""
        seats, (seat, since) = self.seats(bus), self._held.get(bus, (0, 1))
        # Each step since the last message has passed the token on by one seat.
        seat = (seat + self._step - since) % len(seats)
        node = next((each for each in nodes if seats[each] == seat), None)
        if node is not None:
            self._held[bus] = seat, self._step + 1
        return node


class Backoff(BusProtocol):
    """Members send at will. After a collision each sender waits a random number of steps.

    The range of the random number doubles with every collision of the message. A member hears only
    whether its own message collided.
    """

    def __init__(self, machine: Machine, seed: int = 0):
        super().__init__(machine, seed)
        self._waits: dict[tuple[int, int], tuple[int, int]] = {}

    def offers(self, node: int, bus: int) -> bool:
        """Return whether the member's waiting time is over."""
        return self._waits.get((node, bus), (0, 0))[1] <= self._step

    def chosen(self, bus: int, nodes: list[int]) -> int | None:
        """Return the only sender; several senders collide."""
        if len(nodes) == 1:
            self._waits.pop((nodes[0], bus), None)
            return nodes[0]
        for node in nodes:
            collisions = self._waits.get((node, bus), (0, 0))[0] + 1
            window = 1 << min(collisions, LARGEST_WINDOW)
            key = self._step * (self._machine.topology.busses or 1) + bus
            steps = draw(self._seed, node, key) % window
            self._waits[node, bus] = collisions, self._step + 1 + int(steps)
        return None


PROTOCOLS: dict[str, Callable[[Machine, int], BusProtocol]] = {
    "roundrobin": RoundRobin,
    "token": Token,
    "backoff": Backoff,
}
"""Protocols by name."""
