"""Queues of messages between neighbours on a small machine, which need no router.

A message to a neighbour waits for its channel, crosses one link and arrives. On a small machine a
step of the router costs more than all else, and these queues have the same outcome.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from mpinet.errors import MpinetError
from mpinet.machine import Machine
from mpinet.mpi.world.message import COLUMNS, Message, Outbox
from mpinet.networks.routing import Routing, path

MOST = 128
"""Maximum number of nodes of the machine. With more messages in a step the router is faster."""


class DirectMessage(NamedTuple):
    """A message on its way to a neighbour."""

    number: int
    """Priority of the message; the lowest number is served first."""
    channel: int
    """Queue of the message."""
    born: int
    """Steps before the message was sent."""
    sender: int
    """Processor that sends the message."""
    receiver: int
    """Processor that receives the message."""
    account: int
    """Number of the charged account."""
    message: Message
    """The message for the receiver."""


class DirectLinks:
    """The messages in flight of a machine on which all of them go to neighbours.

    Parameters
    ----------
    machine : Machine
        A machine for which `suits` is true.
    routing : Routing
        The routing of the messages.
    """

    def __init__(self, machine: Machine, routing: Routing):
        self.waiting: int = 0
        """Number of messages in flight."""
        self.slots: list[int] = machine.slots(np.arange(machine.topology.size)).tolist()
        """Slot of each node."""
        self._topology, self._routing = machine.topology, routing
        self._one_port = machine.model.send == 1
        self._channels: dict[tuple[int, int], int] = {}
        self._queues: dict[int, deque[DirectMessage]] = {}
        self._numbered = 0

    @staticmethod
    def suits(machine: Machine) -> bool:
        """Return whether the queues have the outcome of the router on a machine."""
        model = machine.model
        return (
            machine.topology.size <= MOST
            and machine.topology.links
            and machine.transport.size == 1
            and machine.trace is None
            and not machine.metered
            and not model.half_duplex
            and model.send == model.receive
            and model.send in (1, None)
        )

    @property
    def senders(self) -> set[int]:
        """Processors with messages in flight."""
        return {one.sender for queue in self._queues.values() for one in queue}

    def take(self, sent: Outbox, now: int) -> bool:
        """Take sent messages if all of them go to neighbours; return whether they do."""
        rows = [sent[begin : begin + COLUMNS] for begin in range(0, len(sent), COLUMNS)]
        channels = [self._channel(sender, receiver) for sender, receiver, _, _ in rows]
        if -1 in channels:
            return False
        # As in the router: by sender, then by the order of sending.
        for place in sorted(range(len(rows)), key=lambda place: rows[place][0]):
            one = DirectMessage(self._numbered, channels[place], now, *rows[place])
            self._queues.setdefault(one.channel, deque()).append(one)
            self._numbered += 1
        self.waiting += len(rows)
        return True

    def step(self) -> list[DirectMessage]:
        """Make a step: every channel moves its first message. Return the arrivals in order."""
        heads = sorted(queue[0] for queue in self._queues.values())
        if self._one_port:
            # A processor offers its first message only, and accepts the first offer.
            offers: dict[int, DirectMessage] = {}
            for one in heads:
                offers.setdefault(one.receiver, one)
            heads = list(offers.values())
        for one in heads:
            queue = self._queues[one.channel]
            queue.popleft()
            if not queue:
                del self._queues[one.channel]
        self.waiting -= len(heads)
        return heads

    def clear(self) -> list[DirectMessage]:
        """Remove all messages, and return them in the order of their numbers."""
        left = sorted(one for queue in self._queues.values() for one in queue)
        self._queues.clear()
        self.waiting = 0
        return left

    def _channel(self, sender: int, receiver: int) -> int:
        """Return the queue of messages between two processors; -1 if they are no neighbours."""
        channel = self._channels.get((sender, receiver))
        if channel is None:
            channel = self._channels[sender, receiver] = self._found(sender, receiver)
        return channel

    def _found(self, sender: int, receiver: int) -> int:
        try:
            _, ports = path(self._topology, self._routing, sender, receiver)
        except MpinetError:
            return -1  # the router reports the error
        if len(ports) != 1:
            return -1
        return sender if self._one_port else sender * self._topology.ports + ports[0]
