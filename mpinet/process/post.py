"""Messages that the network routes between processes: hop by hop, by the routing's decisions.

The machine's router moves them in the same steps as the processors' own sends, which go first on
every channel. Of the messages that wait for a channel the oldest goes: the one handed over in the
earliest step, of those the one from the lowest processor. What hops is the message's number; its
value is given to the target's rank when it sets out, and to the target when it has come.
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
"""Source and value that a rank knows of a message for others' processors, or already delivered."""


class Post:
    """Routed messages at this rank's processors and switches.

    Parameters
    ----------
    machine : Machine
        The machine.
    routing : str or None
        The routing's name (default: the network's first).
    """

    def __init__(self, machine: Machine, routing: str | None = None):
        self._machine = machine
        self._name = routing
        self._made: GuestRouter | None = None
        self._new: list[tuple[int, int, Any]] = []
        self._due: dict[int, tuple[int, Any]] = {}

    @property
    def handed_over(self) -> int:
        """Number of messages here that set out in the next step."""
        return len(self._new)

    @property
    def in_flight(self) -> int:
        """Number of messages here that have set out."""
        return self._made.live if self._made else 0

    def hand_over(self, source: int, target: int, value: Any) -> None:
        """Accept a message from a processor, which gives at most one in a step."""
        self._new.append((source, target, value))

    def set_out(self) -> None:
        """Pass new messages to the router, and their values to the targets' ranks (collective).

        A message's number is that of its source among those that set out in the same step.
        """
        # By source, as numbers give priority on channels. The order in which a rank's programs ran
        # must not show.
        new, self._new = sorted(self._new, key=lambda message: message[0]), []
        sources, targets = (np.array([message[end] for message in new], np.int64) for end in (0, 1))
        first = self._router.inject(sources, targets, sources, self._machine.topology.size)
        self._give_values(targets, [(first + message[0], message[1:]) for message in new])

    def step(self, nodes: Ints, ports: Ints, payload: Ints, word: int = 0) -> Inbox:
        """Make one step of the machine; see `GuestRouter.step_behind` (collective)."""
        return self._router.step_behind(nodes, ports, payload, word)

    def take(self) -> tuple[Ints, list[Any]]:
        """Return the targets and values of the messages that have arrived, by target, then number.

        Raises
        ------
        RoutingError
            On every rank: a message has ended elsewhere, or cannot go on.
        """
        router, fail = self._router, self._machine.transport.fail
        if router.lost:
            fail(
                RoutingError(
                    f"Routing {router.routing.name} on {self._machine.topology.name} leads a "
                    f"message nowhere at node {router.undeliverable[0, 1]}."
                )
            )
        ended = router.take()
        due = [self._due.pop(number, UNKNOWN) for number in ended.numbers.tolist()]
        if [target for target, _ in due] != ended.nodes.tolist():
            fail(router.delivered_elsewhere())
        # Stable, so that messages of one target stay in the order of their numbers, the oldest
        # first.
        order = np.argsort(ended.nodes, kind="stable")
        return ended.nodes[order], [due[place][1] for place in order.tolist()]

    def finish(self) -> None:
        """Check, with no message in flight, that none was lost; restart numbering (collective)."""
        self._router.check_conservation()
        self._router.restart()

    @property
    def _router(self) -> GuestRouter:
        """The router, made when the first message sets out."""
        if self._made is None:
            routing = self._machine.topology.routing(self._name)
            self._made = GuestRouter(self._machine, routing)
        return self._made

    def _give_values(self, targets: Ints, values: list[tuple[int, tuple[int, Any]]]) -> None:
        """Bring every value, with its number and its target, to the target's rank (collective)."""
        leaving, texts = exchange_by_owner(
            self._machine, targets, lambda places: to_bytes([values[place] for place in places])
        )
        for text in texts:
            self._due.update(from_bytes(text))
        staying = np.delete(np.arange(len(values)), leaving)
        self._due.update(values[place] for place in staying.tolist())
