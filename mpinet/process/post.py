"""Messages that the network routes between processors hop by hop.

The machine's router moves routed messages in the same steps as the processors' own sends, which
have priority on every channel. Among the messages that wait for a channel, the oldest goes first:
the message sent in the earliest step, and among these the message from the lowest processor. The
router moves only the number of a message. The value goes to the target's rank when the message
starts, and to the target processor when the message arrives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import RoutingError
from mpinet.machine import Inbox, Machine
from mpinet.machine.guest import GuestRouter
from mpinet.process.mail import exchange_by_owner
from mpinet.process.values import from_bytes, to_bytes

UNKNOWN = -1, None
"""Placeholder for the target and value of a message that this rank does not expect."""


class Post:
    """Routed messages at this rank's processors and switches.

    Parameters
    ----------
    machine : Machine
        The machine.
    routing : str or None
        Name of the routing. Default: the network's first routing.
    """

    def __init__(self, machine: Machine, routing: str | None = None):
        self._machine = machine
        self._name = routing
        self._made: GuestRouter | None = None
        self._new: list[tuple[int, int, Any]] = []
        self._due: dict[int, tuple[int, Any]] = {}

    @property
    def handed_over(self) -> int:
        """Number of this rank's messages that start in the next step."""
        return len(self._new)

    @property
    def in_flight(self) -> int:
        """Number of routed messages in flight on this rank."""
        return self._made.live if self._made else 0

    def hand_over(self, source: int, target: int, value: Any) -> None:
        """Accept a message from a processor; at most one per processor and step."""
        self._new.append((source, target, value))

    def set_out(self) -> None:
        """Pass new messages to the router, and their values to the targets' ranks (collective).

        The number of a message is its source's number, counted from the first number of the step.
        """
        # Sort by source, because numbers give priority on channels. The result must not depend on
        # the order in which a rank runs its programs.
        new, self._new = sorted(self._new, key=lambda message: message[0]), []
        sources, targets = (np.array([message[end] for message in new], np.int64) for end in (0, 1))
        first = self._router.inject(sources, targets, sources, self._machine.topology.size)
        self._give_values(targets, [(first + message[0], message[1:]) for message in new])

    def step(self, nodes: Ints, ports: Ints, payload: Ints, word: int = 0) -> Inbox:
        """Make one step of the machine; see `GuestRouter.step_behind` (collective)."""
        return self._router.step_behind(nodes, ports, payload, word)

    def take(self) -> tuple[Ints, list[Any]]:
        """Return the targets and values of arrived messages, sorted by target, then number.

        Raises
        ------
        RoutingError
            On every rank: a message has ended at a wrong processor, or has no next hop.
        """
        router, fail = self._router, self._machine.transport.fail
        if router.lost:
            fail(
                RoutingError(
                    f"Routing {router.routing.name} on {self._machine.topology.name} gives a "
                    f"message no next hop at node {router.undeliverable[0, 1]}."
                )
            )
        ended = router.take()
        due = [self._due.pop(number, UNKNOWN) for number in ended.numbers.tolist()]
        if [target for target, _ in due] != ended.nodes.tolist():
            fail(router.delivered_elsewhere())
        # The stable sort keeps the messages of a target in the order of their numbers, oldest
        # first.
        order = np.argsort(ended.nodes, kind="stable")
        return ended.nodes[order], [due[place][1] for place in order.tolist()]

    def finish(self) -> None:
        """Check that no message was lost and restart numbering (no message is in flight)."""
        self._router.check_conservation()
        self._router.restart()

    @property
    def _router(self) -> GuestRouter:
        """The router; created when the first message starts."""
        if self._made is None:
            routing = self._machine.topology.routing(self._name)
            self._made = GuestRouter(self._machine, routing)
        return self._made

    def _give_values(self, targets: Ints, values: list[tuple[int, tuple[int, Any]]]) -> None:
        """Send each value, with message number and target, to the target's rank (collective)."""
        leaving, texts = exchange_by_owner(
            self._machine, targets, lambda places: to_bytes([values[place] for place in places])
        )
        for text in texts:
            self._due.update(from_bytes(text))
        staying = np.delete(np.arange(len(values)), leaving)
        self._due.update(values[place] for place in staying.tolist())
