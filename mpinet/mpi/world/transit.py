"""Transport of scripts' messages: keys hop on the machine, bodies go to the receiver's rank.

For each message the machine's router moves a key hop by hop, optionally as several packets. The
body may have any size. It is given to the receiver's rank when the key enters the machine, and to
the receiver when the key (all its packets) has arrived.
"""

from __future__ import annotations

from itertools import chain, groupby
from operator import attrgetter
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import RoutingError, UsageError
from mpinet.machine import Machine
from mpinet.machine.holding import HoldingRouter
from mpinet.machine.router import Router
from mpinet.mpi.world.accounts import ArrivalCosts
from mpinet.mpi.world.contexts import Contexts
from mpinet.mpi.world.directlinks import DirectLinks, DirectMessage
from mpinet.mpi.world.message import BODY, Message, Outbox
from mpinet.mpi.world.metering import MeteredRouter
from mpinet.mpi.world.options import ScriptOptions
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.process.mail import exchange_by_owner
from mpinet.process.values import from_bytes, to_bytes
from mpinet.programs.embed import preferring_links

KEY, ACCOUNT, BORN, TARGET = WORDS = 0, 1, 2, 3
"""Payload words of a hopping message: its key, the charged account, the step before it entered, and
its receiver. The receiver is compared with the final node, because the header belongs to the
routing.
"""

AT_ONCE = 1 << 20
"""Maximum number of packets sent by a processor in one step."""


class Transit:
    """The messages in flight.

    Parameters
    ----------
    machine : Machine
        Moves the keys, under its port model.
    contexts : Contexts
        Separate the messages of communicators.
    options : ScriptOptions
        The routing, the packet size, and whether hops are counted by link and account.
    """

    def __init__(self, machine: Machine, contexts: Contexts, options: ScriptOptions):
        self.arrivals: ArrivalCosts = ArrivalCosts()
        """Costs of the messages that arrived on this rank."""
        self._machine = machine
        self._contexts = contexts
        ways = _routing(machine.topology, options.routing)
        self.router: Router = (
            MeteredRouter(machine, ways, len(WORDS), ACCOUNT)
            if options.metered
            else HoldingRouter(machine, ways, payload_words=len(WORDS), keep=True, checked=False)
        )
        """Router of the messages' keys."""
        plain = not options.metered and options.packet is None and not options.faults
        self._direct = DirectLinks(machine, ways) if plain and DirectLinks.suits(machine) else None
        self._packet = options.packet
        self.now: int = 0
        """Steps since the beginning."""
        self.counts: bool = False
        """True if messages in flight are counted by the step before they entered."""
        # Filled only if processors fail. The counts show when all messages of a failed processor
        # have arrived.
        self._born: dict[int, int] = {}
        self._keys = 0
        self.bodies: dict[int, Message] = {}
        """Messages in flight to processors of this rank, by key."""
        self._missing: dict[int, int] = {}
        # Kept for a step, because processors may read the clock repeatedly.
        self._leaving: tuple[int, set[int]] = 0, set()

    def has_begun(self, sender: int) -> bool:
        """Return whether all messages in flight of a processor of this rank have left it."""
        step, senders = self._leaving
        # The set of busy senders is computed on demand, once a step. Most scripts never read the
        # clock.
        if step != self.now:
            senders = set(self.router.at_their_sources.tolist())
            if self._direct is not None:
                senders |= self._direct.senders
            self._leaving = self.now, senders
        return sender not in senders

    def idle(self, steps: int) -> None:
        """Let time pass while no message is in flight on any rank."""
        self.now += steps
        # A recording counts the machine's steps, and the machine does not step while a run is idle.
        if self._machine.trace is not None:
            self._machine.trace.idle += steps

    @property
    def in_flight(self) -> int:
        """Number of messages in flight on this rank."""
        direct = 0 if self._direct is None else self._direct.waiting
        return direct + self.router.in_flight

    @property
    def moving(self) -> list[list[int]]:
        """Node, key, account, step before entry and receiver of each packet in flight here."""
        rows: list[list[int]] = self.router.moving.tolist()
        return rows

    def advance(
        self, setting_out: Outbox, sent: int, in_flight: int
    ) -> tuple[list[int], list[Message]]:
        """Make a step of the machine (collective).

        Parameters
        ----------
        setting_out : Outbox
            Messages on this rank that enter in this step.
        sent, in_flight : int
            Messages on all ranks that enter in this step, and all messages in flight.

        Returns
        -------
        slots : list of int
            The receiving processors' slots.
        messages : list of Message
            The message for each slot, in the order in which the messages were sent.
        """
        direct = self._direct
        if direct is not None and not self.router.in_flight:
            if direct.take(setting_out, self.now):
                return self._crossed(direct.step(), direct.slots)
            self.router.restart()
            for born, batch in groupby(direct.clear(), attrgetter("born")):
                self._set_out(Outbox(chain.from_iterable(one[3:] for one in batch)), born)
        # All messages in flight enter in this step, so no older number is in use. Restarting at 0
        # keeps numbers below 63 bits in long runs.
        if sent == in_flight:
            self.router.restart()
        if sent:
            self._set_out(setting_out, self.now)
        self.now += self.router.step()
        return self._received()

    def _crossed(
        self, arrived: list[DirectMessage], slots: list[int]
    ) -> tuple[list[int], list[Message]]:
        """Count a step in which messages crossed their only link; return as `advance` does."""
        machine = self._machine
        machine.count(len(arrived))
        machine.transport.moving = len(arrived)
        self.now += 1
        _, _, born, _, receivers, accounts, messages = zip(*arrived, strict=True)
        self.arrivals.note(accounts, (1,) * len(arrived), born, self.now)
        return [slots[receiver] for receiver in receivers], list(messages)

    def _set_out(self, sent: Outbox, born: int) -> None:
        """Inject sent messages into the router, and send their bodies to the receivers' ranks.

        Parameters
        ----------
        sent : Outbox
            The messages.
        born : int
            Steps before the messages were sent.
        """
        machine, count = self._machine, sent.messages
        *addresses, messages = sent.columns
        sources, targets, accounts = (np.fromiter(one, np.int64, count) for one in addresses)
        # Keys of different ranks never collide, without communication. They only name bodies and do
        # not affect the order of messages.
        keys = (self._keys + np.arange(count)) * machine.transport.size + machine.transport.rank
        self._keys += count
        # A body may have any size and type, while the router moves rows of integers. Therefore the
        # body travels once, and only its key hops.
        self._give_bodies(targets, keys, messages)
        payload = np.empty((count, len(WORDS)), np.int64)
        payload[:, KEY] = keys
        payload[:, ACCOUNT] = accounts
        payload[:, BORN] = born
        # The header belongs to the routing, which may rewrite it on the way. The target is stored
        # again to verify the arrival.
        payload[:, TARGET] = targets
        if self._packet is not None:
            packets = np.array([self._packets(message) for message in messages], np.int64)
            # Packets share a key. The message is complete when its number of packets has arrived,
            # in any order.
            sources, payload = np.repeat(sources, packets), np.repeat(payload, packets, axis=0)
        if count > 1:
            # A key's number on the machine consists of its sender and its index among the sender's
            # messages. The order of messages is then the same for any number of ranks.
            order = sources.argsort(kind="stable")
            sources, payload = sources[order], payload[order]
        # Priority in the router is by number: sender first, then the index. It is the same for any
        # distribution of processors over ranks.
        places = _numbers(sources)
        # All ranks need the same stride between senders, or their numbers would overlap.
        most = machine.max(1 + int(places.max(initial=0)))[0]
        if most > AT_ONCE:
            raise UsageError(
                f"A processor sends {most} packets before it blocks, but at most {AT_ONCE} are "
                "allowed. Choose larger packets with --packet."
            )
        if self.counts:
            self._count(payload[:, BORN], 1)
        total = machine.topology.size * most
        # `total` reserves the numbers of all ranks at once. Later injections follow these numbers
        # everywhere.
        self.router.inject(sources, payload[:, TARGET], sources * most + places, total, payload)

    def _count(self, born: Ints, sign: int) -> None:
        """Count messages that enter (sign 1) or have arrived (sign -1), by first step."""
        for step, number in zip(*np.unique(born, return_counts=True), strict=True):
            self._born[int(step)] = self._born.get(int(step), 0) + sign * int(number)

    def born_by(self, step: int) -> int:
        """Return this rank's number of messages in flight that entered the machine by a step."""
        return sum(number for born, number in self._born.items() if born < step)

    def _give_bodies(self, targets: Ints, keys: Ints, messages: list[Message]) -> None:
        """Bring every body to its receiver's rank (collective)."""
        bodies = self.bodies
        # Stored before the exchange, which removes the leaving bodies. Messages within a rank are
        # not pickled.
        bodies.update(zip(keys.tolist(), messages, strict=True))

        def packed(places: list[int]) -> bytes:
            return self._packed([(key, bodies.pop(key)) for key in keys[places].tolist()])

        for text in exchange_by_owner(self._machine, targets, packed)[1]:
            bodies.update(self._unpacked(text))

    def _packed(self, bodies: list[tuple[int, Message]]) -> bytes:
        """Pack bodies for another rank, with context names instead of numbers."""
        # A context's number depends on the order in which a rank met its communicators. Only the
        # name is valid on another rank.
        name = self._contexts.name
        rows = [
            (key, name(context), source, tag, data, ack)
            for key, (context, source, tag, data, ack) in bodies
        ]
        return to_bytes(rows)

    def _unpacked(self, text: bytes) -> dict[int, Message]:
        """Unpack message bodies sent by another rank."""
        rows: list[Any] = from_bytes(text)
        number = self._contexts.number
        return {
            key: (number(name), source, tag, data, ack)
            for key, name, source, tag, data, ack in rows
        }

    def _received(self) -> tuple[list[int], list[Message]]:
        """Return the messages that arrived at their targets in this step.

        Raises
        ------
        RoutingError
            On every rank: a message ended at the wrong node or cannot move on.
        """
        # A lost message would leave its receiver blocked, and the report would blame the script for
        # the routing's fault.
        self._require_none_lost()
        ended = self.router.take()
        if len(ended.numbers) == 0:
            return [], []
        payload = ended.payload
        # A user's routing may claim arrival at the wrong node. The claim is checked here, where the
        # true target is known.
        if (ended.nodes != payload[:, TARGET]).any():
            self._machine.transport.fail(self.router.delivered_elsewhere())
        # Costs are charged when a message ends, because only then its hops and steps are known. The
        # account's number identifies the charged line.
        self.arrivals.note(payload[:, ACCOUNT], ended.hops, payload[:, BORN], self.now)
        if self.counts:
            self._count(payload[:, BORN], -1)
        slots, keys = self._machine.slots(ended.nodes).tolist(), payload[:, KEY].tolist()
        if self._packet is not None:
            # Store-and-forward of packets: the receiver gets a message only when its last packet
            # has arrived.
            whole = [place for place, key in enumerate(keys) if self._completes(key)]
            slots, keys = [slots[place] for place in whole], [keys[place] for place in whole]
        return slots, list(map(self.bodies.pop, keys))

    def _require_none_lost(self) -> None:
        """Raise `RoutingError` on every rank if a message cannot move on."""
        router = self.router
        if router.lost:
            self._machine.transport.fail(
                RoutingError(
                    f"Routing {router.routing.name} on {self._machine.topology.name} could not "
                    "deliver a message of the script."
                )
            )

    def _completes(self, key: int) -> bool:
        """Record an arrived packet; return whether it completes its message."""
        # The count is computed from the body, which has already arrived. Packets need no numbers
        # and no total.
        missing = self._missing.pop(key, None) or self._packets(self.bodies[key])
        if missing > 1:
            self._missing[key] = missing - 1
        return missing == 1

    def _packets(self, message: Message) -> int:
        """Return the number of packets of a message."""
        assert self._packet is not None
        # An empty message is one packet, because a barrier must cross its links.
        return max(1, -(-len(message[BODY]) // self._packet))


def _routing(topology: Topology, name: str | None) -> Routing:
    """Return the named routing, or a default routing that follows collectives' links."""
    if name is not None:
        return topology.routing(name)
    # Collectives send along tree edges, which are links. A default routing may take another route
    # of the same length, and two messages would compete for a link.
    return preferring_links(topology, topology.routing())


def _numbers(sources: Ints) -> Ints:
    """Return the index of each message among messages of the same source; sources ascend."""
    return np.arange(len(sources)) - sources.searchsorted(sources)
