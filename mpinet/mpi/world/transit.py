"""The ways of scripts' messages: keys hop on the machine, the messages go ahead of them.

For every message the machine's router moves a key hop by hop, in packets where that is asked for.
The message itself, which may have any size, is handed to the receiver's rank when the key sets out,
and to the receiver when the key (all packets of it) has come.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import RoutingError, UsageError
from mpinet.machine import Machine
from mpinet.machine.router import Router
from mpinet.mpi.world.accounts import ArrivalCosts
from mpinet.mpi.world.contexts import Contexts
from mpinet.mpi.world.message import BODY, Message, Outbox
from mpinet.mpi.world.metering import MeteredRouter
from mpinet.mpi.world.options import ScriptOptions
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.process.mail import exchange_by_owner
from mpinet.process.values import from_bytes, to_bytes
from mpinet.programs.embed import preferring_links

KEY, ACCOUNT, BORN, TARGET = WORDS = 0, 1, 2, 3
"""Words that hop: the message's key, the account that pays for it, the step it set out after, and
its receiver, with which the node where it ends is compare: the header is the routing's affair."""

AT_ONCE = 1 << 20
"""Most packets of one processor that set out in one step."""


class Transit:
    """The messages in flight.

    Parameters
    ----------
    machine : Machine
        Moves the keys, under its port model.
    contexts : Contexts
        Keep communicators' messages apart.
    options : ScriptOptions
        The routing, the bytes of a packet, and whether hops are counted by link and account.
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
            else Router(machine, ways, payload_words=len(WORDS), keep=True, checked=False)
        )
        """Router of the messages' keys."""
        self._packet = options.packet
        self.now: int = 0
        """Steps since the beginning."""
        self.counts: bool = False
        """True if messages in flight are counted by the step after which they set out."""
        # Only filled where processors fail: then it tells when all messages are in that a failed
        # processor may have sent.
        self._born: dict[int, int] = {}
        self._keys = 0
        self._bodies: dict[int, Message] = {}
        self._missing: dict[int, int] = {}
        # Kept for a step, because every processor that asks for the time asks it again and again.
        self._leaving: tuple[int, set[int]] = 0, set()

    def has_begun(self, sender: int) -> bool:
        """Tell if all messages of a processor on this rank that have set out have left it."""
        step, senders = self._leaving
        # The set of busy senders is made once a step and only on demand. Most scripts never ask for
        # the time.
        if step != self.now:
            senders = set(self.router.at_their_sources.tolist())
            self._leaving = self.now, senders
        return sender not in senders

    def idle(self, steps: int) -> None:
        """Let time pass while no message is in flight on any rank."""
        self.now += steps
        # A recording numbers its steps by the machine's, which does not move while a run is idle.
        if self._machine.trace is not None:
            self._machine.trace.idle += steps

    @property
    def in_flight(self) -> int:
        """Messages on this rank that have set out."""
        return self.router.live

    def advance(
        self, setting_out: Outbox, sent: int, in_flight: int
    ) -> tuple[list[int], list[Message]]:
        """Make a step of the machine (collective).

        Parameters
        ----------
        setting_out : Outbox
            Messages on this rank that set out in this step.
        sent, in_flight : int
            Messages on all ranks that set out in this step, and those with all others.

        Returns
        -------
        slots : list of int
            The receiving processors' slots.
        messages : list of Message
            What has come for each, in the order in which the messages were sent.
        """
        # All messages in flight set out in this step, so no older number is in use. Starting at 0
        # again keeps numbers below 63 bits in long runs.
        if sent == in_flight:
            self.router.restart()
        if sent:
            self._set_out(setting_out)
        self.now += self.router.step()
        return self._received()

    def _set_out(self, sent: Outbox) -> None:
        """Give the router what processors have sent, and the bodies to the receivers' ranks."""
        machine, count = self._machine, sent.messages
        *addresses, messages = sent.columns
        sources, targets, accounts = (np.fromiter(one, np.int64, count) for one in addresses)
        # Keys of different ranks never collide, without a message about them. They name bodies
        # only: the order of messages does not depend on them.
        keys = (self._keys + np.arange(count)) * machine.transport.size + machine.transport.rank
        self._keys += count
        # A body may have any size and any type, while the router moves rows of integers. So the
        # body travels once, and only its key hops.
        self._give_bodies(targets, keys, messages)
        payload = np.empty((count, len(WORDS)), np.int64)
        payload[:, KEY] = keys
        payload[:, ACCOUNT] = accounts
        payload[:, BORN] = self.now
        # The header belongs to the routing, which may rewrite it on the way. The target is kept a
        # second time to verify the arrival.
        payload[:, TARGET] = targets
        if self._packet is not None:
            packets = np.array([self._packets(message) for message in messages], np.int64)
            # Packets share one key. The message is complete when as many have come as its body
            # needs, in any order.
            sources, payload = np.repeat(sources, packets), np.repeat(payload, packets, axis=0)
        if count > 1:
            # A key's number on the machine is its sender and its place among the sender's messages,
            # so that the order in which messages set out is the same for any number of ranks.
            order = sources.argsort(kind="stable")
            sources, payload = sources[order], payload[order]
        # Priority in the router is by number. Sender first, then place in its own order: the same
        # for any distribution of processors over ranks.
        places = _numbers(sources)
        # All ranks need one stride between senders, or their numbers would overlap.
        most = machine.max(1 + int(places.max(initial=0)))[0]
        if most > AT_ONCE:
            raise UsageError(
                f"A processor sends {most} packets before it waits for anything, which is more "
                f"than {AT_ONCE}; let them be larger by --packet."
            )
        if self.counts:
            self._count(payload[:, BORN], 1)
        total = machine.topology.size * most
        # `total` reserves the numbers of all ranks at once, so that later injections lie behind
        # these everywhere.
        self.router.inject(sources, payload[:, TARGET], sources * most + places, total, payload)

    def _count(self, born: Ints, sign: int) -> None:
        """Count messages that set out or have come."""
        for step, number in zip(*np.unique(born, return_counts=True), strict=True):
            self._born[int(step)] = self._born.get(int(step), 0) + sign * int(number)

    def born_by(self, step: int) -> int:
        """This rank's share of the messages in flight that had set out by a step."""
        return sum(number for born, number in self._born.items() if born < step)

    def _give_bodies(self, targets: Ints, keys: Ints, messages: list[Message]) -> None:
        """Bring every body to its receiver's rank (collective)."""
        bodies = self._bodies
        # Stored before the exchange, which takes out those that leave. Messages within a rank are
        # not pickled at all.
        bodies.update(zip(keys.tolist(), messages, strict=True))

        def packed(places: list[int]) -> bytes:
            return self._packed([(key, bodies.pop(key)) for key in keys[places].tolist()])

        for text in exchange_by_owner(self._machine, targets, packed)[1]:
            bodies.update(self._unpacked(text))

    def _packed(self, bodies: list[tuple[int, Message]]) -> bytes:
        """Bodies as another rank gets them: contexts have other numbers there."""
        # A context's number depends on the order in which a rank met its communicators. Only the
        # name means the same elsewhere.
        name = self._contexts.name
        rows = [
            (key, name(context), source, tag, data, ack)
            for key, (context, source, tag, data, ack) in bodies
        ]
        return to_bytes(rows)

    def _unpacked(self, text: bytes) -> dict[int, Message]:
        """Bodies as another rank has given them."""
        rows: list[Any] = from_bytes(text)
        number = self._contexts.number
        return {
            key: (number(name), source, tag, data, ack)
            for key, name, source, tag, data, ack in rows
        }

    def _received(self) -> tuple[list[int], list[Message]]:
        """Return what has come to its target in this step.

        Raises
        ------
        RoutingError
            On every rank: a message has ended elsewhere, or cannot go on.
        """
        # A lost message would leave its receiver waiting, and the report would blame the script for
        # the routing's fault.
        self._require_none_lost()
        ended = self.router.take()
        if len(ended.numbers) == 0:
            return [], []
        payload = ended.payload
        # A routing of a user's may claim arrival at the wrong node. The claim is checked here,
        # where the true target is known.
        if (ended.nodes != payload[:, TARGET]).any():
            self._machine.transport.fail(self.router.delivered_elsewhere())
        # Costs are booked where a message ends, because only there its hops and steps are known.
        # The account's number names the line that pays.
        self.arrivals.note(payload[:, ACCOUNT], ended.hops, payload[:, BORN], self.now)
        if self.counts:
            self._count(payload[:, BORN], -1)
        slots, keys = self._machine.slots(ended.nodes).tolist(), payload[:, KEY].tolist()
        if self._packet is not None:
            # Store and forward of packets: the receiver sees a message only when its last packet is
            # there.
            whole = [place for place, key in enumerate(keys) if self._completes(key)]
            slots, keys = [slots[place] for place in whole], [keys[place] for place in whole]
        return slots, list(map(self._bodies.pop, keys))

    def _require_none_lost(self) -> None:
        """Raise `RoutingError` on every rank where a message could not go on."""
        router = self.router
        if router.lost:
            self._machine.transport.fail(
                RoutingError(
                    f"Routing {router.routing.name} on {self._machine.topology.name} could not "
                    "deliver a message of the script."
                )
            )

    def _completes(self, key: int) -> bool:
        """Note that a packet has come; whether it was its message's last."""
        # The count is made of the body, which is here already. So packets need no numbers and no
        # total.
        missing = self._missing.pop(key, None) or self._packets(self._bodies[key])
        if missing > 1:
            self._missing[key] = missing - 1
        return missing == 1

    def _packets(self, message: Message) -> int:
        """Count the packets in which a message sets out."""
        assert self._packet is not None
        # An empty message still is one packet: a barrier has to cross its links.
        return max(1, -(-len(message[BODY]) // self._packet))


def _routing(topology: Topology, name: str | None) -> Routing:
    """The routing that a person has named; where none, what also keeps to collectives' links."""
    if name is not None:
        return topology.routing(name)
    # Collectives send along tree edges, which are links. A default routing may go another way of
    # the same length, and two steps would meet on one link.
    return preferring_links(topology, topology.routing())


def _numbers(sources: Ints) -> Ints:
    """Numbers of messages, by ascending sources, among those of the same source."""
    return np.arange(len(sources)) - sources.searchsorted(sources)
