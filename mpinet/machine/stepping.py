"""The part of a machine used by the modules for its steps, and the result of a step.

`Machine` imports these modules, so they cannot import `Machine`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Array, Flags, Ints
from mpinet.base.fielddocs import described
from mpinet.base.memory import require_memory
from mpinet.errors import MpinetError, UsageError
from mpinet.machine.meters import Meters, count_wired
from mpinet.machine.model import PortModel
from mpinet.machine.placement import Mapping, Placement, blocks
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local, Received, Room, world
from mpinet.networks.topology import NetworkLike, Topology

# 32 ports per word: with 10^8 processors there is memory for a bit per port, but not for a byte.
WORD_BITS = 5
PORTS_PER_WORD = 1 << WORD_BITS
"""Ports per word in a set of ports (`Stepping.used_ports`)."""

T = TypeVar("T")


@described
@dataclass(frozen=True, eq=False)
class Inbox:
    """Messages received by this rank's processors in a step, by processor, then port."""

    nodes: Ints
    """Receiver of each message. Shape (k,)."""
    ports: Ints
    """Input port of each message. Shape (k,)."""
    payload: Array
    """The messages. Shape (k, ..)."""
    total: int = 0
    """Sum over all ranks of the argument `word` of `Machine.step`."""

    def __len__(self) -> int:
        return len(self.nodes)


class Stepping:
    """The part of a machine used by its steps; see `Machine` for the parameters.

    `Machine` adds the steps themselves, which are in modules that need this class.
    """

    def __init__(
        self,
        topology: NetworkLike,
        ports: str | PortModel = "all",
        transport: Local | None = None,
        mapping: Mapping | None = None,
        loads: bool = False,
        trace: Trace | None = None,
        watch: Callable[[int], None] = lambda steps: None,
    ):
        from mpinet.networks.catalogue import open_topology

        self.topology: Topology = open_topology(topology)
        topology = self.topology
        self.model = PortModel.named(ports)
        # A bus carries one transmission in any case; half duplex has no meaning there.
        if self.model.half_duplex and not topology.links:
            raise UsageError(f"{topology.name} has busses; half duplex applies to links only.")
        self.transport = transport or world()
        self.mapping = mapping or blocks(topology)
        self.placement = Placement(self.mapping, self.transport.rank, self.transport.size)
        self.meters = Meters()
        self._before = 0
        self.metered = loads
        if loads:
            most = self.placement.most * topology.ports
            require_memory(4 * most, f"Metering the channel loads of {topology.name}")
            self.meters.loads = np.zeros(self.placement.count * topology.ports, np.uint32)
        self.trace = trace
        self._watch = watch

    @property
    def nodes(self) -> Ints:
        """Processors of this rank in slot order, shape (hosted,)."""
        return self.placement.nodes

    @property
    def steps(self) -> int:
        """Number of steps made by the machine."""
        return self.meters.steps

    @property
    def next_step(self) -> int:
        """Number of the next step in messages to users, counted from a program's start."""
        return self.meters.steps - self._before + 1

    def slots(self, nodes: Ints) -> Ints:
        """Return the slots of `nodes` on this rank, in the shape of the argument."""
        return self.placement.slots(nodes)

    def step(self, nodes: Any, ports: Any) -> Inbox:
        """Make one step (collective); see `Machine.step`."""
        raise NotImplementedError

    def checked(self, check: Callable[[], T]) -> T:
        """Run a check without collectives; other ranks raise its error in their next one."""
        try:
            return check()
        # The other ranks are about to enter a collective. They must receive this error there
        # instead of waiting forever.
        except MpinetError as error:
            self.transport.fail(error)
            raise

    def exchange(
        self,
        records: Array,
        counts: Ints,
        word: int = 0,
        room: Room | None = None,
    ) -> Received:
        """Bring a step's messages to their receivers' ranks, and meter them (`Local.exchange`)."""
        # Metered at the only gate between ranks: plans, beeps and routers cannot forget the meters.
        self.meters.cross(records)
        return self.transport.exchange(records, counts, word, room)

    def count(self, messages: int, steps: int = 1) -> None:
        """Count one step or more, and the messages of this rank's processors in these steps."""
        self.meters.count(steps, messages)
        self._watch(self.steps)

    def record(self, senders: Ints, ports: Ints, receivers: Ints, numbers: Ints | int = -1) -> None:
        """Record the last step's messages, if there is a recording."""
        trace = self.trace
        if trace is not None:
            self.checked(lambda: trace.add(self.steps, senders, ports, receivers, numbers))

    def sum(self, *numbers: int) -> list[int]:
        """Return the sum of each number over all ranks (collective)."""
        # A single rank skips the array: some programs call this method in every step.
        if self.transport.size == 1:
            return list(map(int, numbers))
        return [int(total) for total in self.transport.sum(np.array(numbers, np.int64))]

    def max(self, *numbers: int) -> list[int]:
        """Return the maximum of each number over all ranks (collective)."""
        if self.transport.size == 1:
            return list(map(int, numbers))
        return [int(largest) for largest in self.transport.max(np.array(numbers, np.int64))]

    @cached_property
    def wired_ports(self) -> int:
        """Number of wired ports of this rank's processors."""
        return int(count_wired(self.topology.neighbor.native, self.nodes, self.topology.params))

    @cached_property
    def used_ports(self) -> NDArray[np.uint32]:
        """Scratch memory of the step: a bit for every port of the hosted processors, all zero."""
        words = -(-self.topology.ports // PORTS_PER_WORD)
        return np.zeros(self.placement.count * words, np.uint32)

    @cached_property
    def received(self) -> Flags:
        """Scratch memory of beeps: a flag for every hosted processor, all false."""
        return np.zeros(self.placement.count, np.bool_)

    @cached_property
    def sent(self) -> NDArray[np.uint32]:
        """Scratch memory of the step: a count for every hosted processor, all zero."""
        return np.zeros(self.placement.count, np.uint32)
