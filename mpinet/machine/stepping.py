"""The machine as the parts of a step know it.

`Machine` is made of these parts, so that they cannot import it. They name what they use of it here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from numpy import uint32
from numpy.typing import NDArray

from mpinet.base.arrays import Array, Flags, Ints
from mpinet.base.fielddocs import described
from mpinet.machine.meters import Meters
from mpinet.machine.model import PortModel
from mpinet.machine.placement import Mapping, Placement
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local, Received, Room
from mpinet.networks.topology import Topology

T = TypeVar("T")


@described
@dataclass(frozen=True, eq=False)
class Inbox:
    """Messages that this rank's processors received in a step, by processor, then port."""

    nodes: Ints
    """Receiver of each message. Shape (k,)."""
    ports: Ints
    """Port that each message came in by. Shape (k,)."""
    payload: Array
    """The messages. Shape (k, ..)."""
    total: int = 0
    """Sum over all ranks of the word that each gave to `Machine.step`."""

    def __len__(self) -> int:
        return len(self.nodes)


class Counted(Protocol):
    """A plan, as far as it counts the messages of its step."""

    def count(self) -> None:
        """Count a step with these messages."""


class Stepping(Protocol):
    """A `Machine`, as far as the parts of its steps use it."""

    topology: Topology
    model: PortModel
    transport: Local
    mapping: Mapping
    placement: Placement
    meters: Meters
    metered: bool
    trace: Trace | None

    @property
    def nodes(self) -> Ints:
        """This rank's processors in slot order."""

    @property
    def steps(self) -> int:
        """Number of steps that the machine has made."""

    @property
    def next_step(self) -> int:
        """Number of the next step in messages to users."""

    @property
    def wired_ports(self) -> int:
        """Wired ports of this rank's processors."""

    @property
    def used_ports(self) -> NDArray[uint32]:
        """Set of ports in use of each processor, for a moment."""

    @property
    def sent(self) -> NDArray[uint32]:
        """Mark of each processor that has sent, for a moment."""

    @property
    def received(self) -> Flags:
        """Mark of each processor that has received, for a moment."""

    def slots(self, nodes: Ints) -> Ints:
        """Return the slots of nodes on this rank."""

    def step(self, nodes: Any, ports: Any) -> Inbox:
        """Make one step (collective)."""

    def plan(self, nodes: Any, ports: Any) -> Counted:
        """Plan a step whose sends are always the same (collective)."""

    def checked(self, check: Callable[[], T]) -> T:
        """Return what a check gives; if one rank's fails, all fail."""

    def count(self, messages: int, steps: int = 1) -> None:
        """Count steps, and messages of this rank's processors."""

    def count_step(self, sends: Any, numbers: Ints | int = -1) -> None:
        """Count one step's sends, meter and record them."""

    def sum(self, *numbers: int) -> list[int]:
        """Sum each number over all ranks."""

    def exchange(
        self, records: Array, counts: Ints, word: int = 0, room: Room | None = None
    ) -> Received:
        """Bring messages to their receivers' ranks, and meter them (collective)."""
