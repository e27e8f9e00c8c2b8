"""Emulation of a guest's program on a host, through an embedding.

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
"""Program of one step of the guest: a message over every link, in both directions."""


@dataclass(frozen=True)
class Emulated:
    """Result of a guest's program on the host."""

    program: str
    """``"step"``, ``"ascend"`` or ``"descend"``."""
    guest_steps: int
    """Number of steps on the guest itself."""
    host_steps: int
    """Number of steps of the host."""
    correct: bool
    """True if every message reached its target, or if all results equal those of the serial
    computation.
    """

    @property
    def slowdown(self) -> float | None:
        """Host steps per guest step; None if the guest makes no steps."""
        return self.host_steps / self.guest_steps if self.guest_steps else None


def emulate_step(
    machine: Machine,
    embedding: Embedding,
    routing: Routing | None = None,
    seed: int = 0,
) -> Emulated:
    """Emulate one all-port step with a message in both directions of every guest link (collective).

    This counts as one step of the guest under any port model of the host.

    Parameters
    ----------
    machine : Machine
        Machine of the host; runs the steps, enforces the port model and counts.
    embedding : Embedding
        Images of the guest nodes.
    routing : Routing, optional
        Routing of the host. Default: its first.
    seed : int
        Seed of the messages' contents.
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

    In dimension j the state of element i travels from its image to the image of i XOR 2^j. The
    guest steps are counted for the same exchanges on the guest itself, by its own routing and under
    the same port model. On the hypercube with full-duplex links each dimension takes one step.

    Parameters
    ----------
    machine : Machine
        Machine of the host; runs the steps, enforces the port model and counts.
    embedding : Embedding
        Images of the guest nodes; the guest has 2^q processors.
    operator : Operator or str
        As in `ascend.run`.
    kind : str
        ``"ascend"`` or ``"descend"``.
    routing : Routing, optional
        Routing of the host. Default: its first.
    seed : int
        Seed of the input values.

    Raises
    ------
    UsageError
        The number of the guest's processors is not a power of two, or the operator lacks this form.
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
    """Return a schedule for the host's machine with element i at the image of guest node i."""

    class Here(Emulation):
        def __init__(self, machine: Machine):
            super().__init__(machine, embedding, routing)

    return Here


class Emulation(PassSchedule):
    """Exchanges of a guest's elements, routed from image to image.

    Parameters
    ----------
    machine : Machine
        Machine of the host.
    embedding : Embedding
        Element i is at the image of guest node i.
    routing : Routing
        Routing of the host.
    """

    name = "emulated"

    def __init__(self, machine: Machine, embedding: Embedding, routing: Routing):
        super().__init__(machine)
        self.dimensions = require_power_of_two(embedding.guest)
        guests = embedding.guests_here(machine)
        self.index = guests[guests < 1 << self.dimensions]
        self._embedding, self._routing = embedding, routing

    def carry_out_pass(self, sweep: Pass, state: Array) -> list[Phase]:
        """Exchange and operate in every dimension of the pass; return the phases."""
        with Dimensions(self.machine) as made:
            for j in sweep.dimensions[len(made.each) :]:
                received = self._partners(j, state)
                state[:] = keep_own(sweep.oper, j, self.index, state, received)
                made.note()
        return made.stages(sweep)

    def _partners(self, j: int, state: Array) -> Array:
        """Route the states and return those of the partners ``index XOR 2^j``."""
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
