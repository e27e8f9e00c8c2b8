"""Emulation: a guest's program on a host, through an embedding.

The messages of every step of the guest are routed over the host, under the host's port model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpinet.base.arrays import Array
from mpinet.machine import Machine
from mpinet.machine.router import Router
from mpinet.machine.state import State
from mpinet.networks.routing import Routing
from mpinet.programs import ascend
from mpinet.programs.collective import items
from mpinet.programs.embed import (
    Embedding,
    guest_links,
    host_of,
    preferring_links,
    require_delivered,
)
from mpinet.programs.operators.operator import ASCEND, Operator, Pass
from mpinet.programs.schedules.pairs import keep_own
from mpinet.programs.schedules.routed import as_words, from_words
from mpinet.programs.schedules.schedule import (
    Dimensions,
    PassSchedule,
    Phase,
    require_power_of_two,
)

STEP = "step"
"""The program of one step of the guest: a message over every link, both ways."""


@dataclass(frozen=True)
class Emulated:
    """Result of a guest's program on the host."""

    program: str
    """``"step"``, ``"ascend"`` or ``"descend"``."""
    guest_steps: int
    """Steps on the guest itself."""
    host_steps: int
    """Steps of the host."""
    correct: bool
    """True if every message reached its addressee, or if all results equal those of the serial
    computation."""

    @property
    def slowdown(self) -> float | None:
        """Host steps per guest step; None where the guest makes none."""
        return self.host_steps / self.guest_steps if self.guest_steps else None


def emulate_step(
    machine: Machine,
    embedding: Embedding,
    routing: Routing | None = None,
    seed: int = 0,
) -> Emulated:
    """Emulate one all-port step in which every guest link carries a message both ways (collective).

    It counts as one step of the guest, whatever the host's port model.

    Parameters
    ----------
    machine : Machine
        Of the host; moves, polices and counts.
    embedding : Embedding
        Where the guest nodes are.
    routing : Routing, optional
        The host's. Default: its first.
    seed : int
        Chooses the messages' contents.
    """
    guest, host = embedding.guest, host_of(machine, embedding)
    before = machine.steps
    nodes, ports, others = guest_links(guest, embedding.guests_here(machine))
    router = Router(
        machine, preferring_links(host, routing or host.routing()), payload_words=2, keep=True
    )
    router.inject(
        embedding.images_of(nodes),
        embedding.images_of(others),
        nodes * guest.ports + ports,
        guest.size * guest.ports,
        np.stack([nodes, items(seed, nodes, others)], axis=1),
    )
    router.run()
    require_delivered(router)
    receivers = embedding.guests_at(router.delivered.nodes)
    senders, contents = router.delivered.payload.T
    came = np.stack([receivers, senders], axis=1)
    came = came[np.lexsort((senders, receivers))]
    wanted = np.stack([nodes, others], axis=1)[np.lexsort((others, nodes))]
    right = np.array_equal(came, wanted)
    right = right and np.array_equal(contents, items(seed, senders, receivers))
    steps = machine.steps - before
    guest_steps = int(machine.sum(len(nodes))[0] > 0)
    return Emulated(STEP, guest_steps, steps, machine.sum(int(not right))[0] == 0)


def emulate_ascend(
    machine: Machine,
    embedding: Embedding,
    operator: Operator | str,
    kind: str = ASCEND,
    routing: Routing | None = None,
    seed: int = 0,
) -> Emulated:
    """Run ASCEND or DESCEND of the guest on the host (collective).

    In dimension j the state of element i goes from its image to that of i XOR 2^j. The guest's
    steps are those of the same exchanges on the guest itself, by its own routing and under the
    same port model: one a dimension on the hypercube (links full duplex).

    Parameters
    ----------
    machine : Machine
        Of the host; moves, polices and counts.
    embedding : Embedding
        Where the guest nodes are; the guest has 2^q processors.
    operator : Operator or str
        As in `ascend.run`.
    kind : str
        ``"ascend"`` or ``"descend"``.
    routing : Routing, optional
        The host's. Default: its first.
    seed : int
        For the input values.

    Raises
    ------
    UsageError
        The guest has not 2^q processors, or the operator not this form.
    """
    host = host_of(machine, embedding)
    schedule = emulation(embedding, preferring_links(host, routing or host.routing()))

    def on_host() -> tuple[int, bool]:
        found = ascend.run(machine, operator, kind, seed, schedule)
        return found.steps, found.correct

    with State(machine, "emulation") as state:
        steps, correct = state.once("on host", on_host)
        guest = embedding.guest
        itself = Machine(guest, machine.model, machine.transport)
        own = emulation(Embedding(guest, guest), preferring_links(guest, guest.routing()))
        alone = ascend.run(itself, operator, kind, seed, own)
    return Emulated(kind, alone.steps, steps, correct and alone.correct)


def emulation(embedding: Embedding, routing: Routing) -> type[PassSchedule]:
    """A schedule for the host's machine that keeps element i at the image of guest node i."""

    class Here(Emulation):
        def __init__(self, machine: Machine):
            super().__init__(machine, embedding, routing)

    return Here


class Emulation(PassSchedule):
    """Exchanges of a guest's elements, routed from image to image.

    Parameters
    ----------
    machine : Machine
        Of the host.
    embedding : Embedding
        Element i is at the image of guest node i.
    routing : Routing
        The host's.
    """

    name = "emulated"

    def __init__(self, machine: Machine, embedding: Embedding, routing: Routing):
        super().__init__(machine)
        self.dimensions = require_power_of_two(embedding.guest)
        guests = embedding.guests_here(machine)
        self.index = guests[guests < 1 << self.dimensions]
        self._embedding, self._routing = embedding, routing

    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Exchange and operate in every dimension of the pass."""
        with Dimensions(self.machine) as made:
            for j in sweep.dimensions[len(made.each) :]:
                received = self._partners(j, state)
                state[:] = keep_own(sweep.oper, j, self.index, state, received)
                made.note()
        return made.stages(sweep)

    def _partners(self, j: int, state: Array) -> Array:
        """The states of the elements ``index XOR 2^j``."""
        images, words = self._embedding.images_of, as_words(state)
        router = Router(self.machine, self._routing, payload_words=words.shape[1], keep=True)
        sources, targets = images(self.index), images(self.index ^ (1 << j))
        router.inject(sources, targets, self.index, 1 << self.dimensions, words)
        router.run()
        require_delivered(router)
        ended = router.delivered
        received = np.empty_like(state)
        rows = np.searchsorted(self.index, self._embedding.guests_at(ended.nodes))
        received[rows] = from_words(ended.payload, state.dtype)
        return received
