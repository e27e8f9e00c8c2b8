"""The machine: processors hosted by ranks, and the step, which alone moves messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.fielddocs import described
from mpinet.base.notebook import shown
from mpinet.errors import UsageError
from mpinet.machine import enforcement, step
from mpinet.machine.beep import beep
from mpinet.machine.local_broadcast import LocalBroadcast
from mpinet.machine.meters import ChannelLoad, Crossing
from mpinet.machine.outcome import Outcome
from mpinet.machine.plan import Plan
from mpinet.machine.stepping import Inbox, Stepping
from mpinet.machine.swap import Swap, plan_swaps


@described
@dataclass
class Spent:
    """Steps and messages of a part of a run (`Machine.spending`)."""

    begun: int
    """Number of steps of the machine before the part."""
    steps: int = 0
    """Steps of the part."""
    messages: int = 0
    """Transmissions on the whole machine."""


@described
class Machine(Stepping):
    """N virtual processors, wired by a topology, under a port model, hosted by ranks.

    All ranks make the same machine and call its methods together (SPMD).

    Parameters
    ----------
    topology : Topology or str
        The network, or its topology string.
    ports : str or PortModel
        ``"all"``, ``"one"`` or a port model.
    transport : Local, optional
        Communication between ranks. Default: MPI under a launcher, otherwise this process alone.
    mapping : Mapping, optional
        Assignment of processors to ranks (default: contiguous blocks).
    loads : bool
        True to meter the load of every channel (4 bytes per port and processor).
    trace : Trace, optional
        Recorder of all messages.
    watch : callable
        Function for progress, called after every step with the number of steps so far.

    Examples
    --------
    >>> machine = Machine("ring:4")
    >>> inbox = machine.step([0], [0], np.array([7.5]))
    >>> inbox.nodes, inbox.payload, machine.meters.steps
    (array([1]), array([7.5]), 1)
    """

    runner: ClassVar[Callable[..., Outcome] | None] = None
    """Function called by `run`; importing `mpinet.process` sets it to `mpinet.process.run`.

    Imports point down only, and programs are above the machine. With this attribute the machine can
    run programs without importing them.
    """

    def _repr_html_(self) -> str | None:
        """HTML of the machine for a notebook."""
        return shown(self)

    @contextmanager
    def counted_anew(self) -> Iterator[None]:
        """Restart the step numbers in messages to users at 1 within this context."""
        before, self._before = self._before, self.meters.steps
        try:
            yield
        finally:
            self._before = before

    def step(
        self,
        nodes: Any,
        ports: Any,
        payload: Any = None,
        listen: tuple[Any, Any] | None = None,
        word: int = 0,
        numbers: Ints | int = -1,
    ) -> Inbox:
        """Make one step: send messages, and return those received by this rank's processors.

        Parameters
        ----------
        nodes, ports : array-like of int, shape (k,)
            The sends of this rank's processors: sender and port.
        payload : ndarray, shape (k, ..), optional
            One message per send, of any fixed-size dtype. All ranks need the same dtype and shape,
            even ranks without sends.
        listen : (nodes, ports), optional
            The ports on which this rank's processors accept messages in this step. Default: all.
        word : int
            Piggybacked allreduce: `Inbox.total` is the sum of all ranks' `word`.
        numbers : ndarray of int64, shape (k,), or int
            Numbers of the messages in a trace; -1: none.

        Returns
        -------
        Inbox
            Received messages by processor, then port, the same for any number of ranks.

        Raises
        ------
        ModelViolation
            A processor violates the port model. The error names step, processor, port and rule.
            Every rank raises an error, either now or in its next collective.

        Examples
        --------
        >>> machine = Machine("ring:4", "one")
        >>> machine.step(machine.nodes, [0] * 4, 10 * machine.nodes).payload
        array([30,  0, 10, 20])
        """
        # Checked twice: senders before anything moves, receivers afterwards.
        sends, arrivals, order = enforcement.carry_checked(
            self,
            nodes,
            ports,
            None if payload is None else np.asarray(payload),
            listen,
            word,
            self.exchange,
        )
        step.count(self, sends, numbers)
        return Inbox(
            arrivals.nodes[order], arrivals.ports[order], arrivals.payload[order], arrivals.total
        )

    def run(
        self,
        program: Callable[..., Any],
        *arguments: Any,
        seed: int = 0,
        routing: str | None = None,
        **named: Any,
    ) -> Outcome:
        """Run a program on every processor (collective); see `mpinet.process.run`.

        Parameters
        ----------
        program : callable
            ``program(node, *arguments, **named)``: a generator function of `mpinet.process.Node`.
        arguments, named
            Further arguments of every processor's program.
        seed : int
            Seed of the processors' random numbers.
        routing : str, optional
            Routing of the messages of `Node.route`.

        Returns
        -------
        Outcome
            Steps, messages, and on rank 0 the return value of every processor.

        Raises
        ------
        UsageError
            `mpinet.process` has not been imported (``mpinet.Machine`` imports it), or
            `mpinet.process.run` rejects the arguments.
        """
        run = type(self).runner
        if run is None:
            raise UsageError("Programs need mpinet.process: import it, or use mpinet.Machine.")
        return run(self, program, arguments, named, seed=seed, routing=routing)

    @contextmanager
    def spending(self) -> Iterator[Spent]:
        """Measure the cost of a context: ``with machine.spending() as spent:`` (collective).

        Steps and messages are known at the end of the context, where the ranks add them up.
        """
        spent, sent = Spent(self.steps), self.meters.messages
        yield spent
        spent.steps = self.steps - spent.begun
        spent.messages = self.sum(self.meters.messages - sent)[0]

    def plan(self, nodes: Any, ports: Any) -> Plan:
        """Plan a repeated pattern of sends: checked once, then cheap to execute.

        Parameters
        ----------
        nodes, ports : array-like of int, shape (k,)
            The sends of this rank's processors in each of these steps.

        Returns
        -------
        Plan
            Call it with the payload, shape (k, ..).

        Raises
        ------
        ModelViolation
            As in `step`.

        Examples
        --------
        >>> machine = Machine("ring:4", "one")
        >>> upwards = machine.plan(machine.nodes, [0] * 4)
        >>> numbers = machine.nodes
        >>> for _ in range(3):
        ...     numbers = upwards(numbers)
        >>> numbers, machine.steps
        (array([1, 2, 3, 0]), 3)
        """
        return Plan(self, nodes, ports)

    def swap(self, port: int, bit: int) -> Swap | None:
        """Plan an exchange of all processors over one dimension, if possible (collective).

        Parameters
        ----------
        port : int
            Port on which all of this rank's processors send.
        bit : int
            The power of two by which the numbers of partners differ.

        Returns
        -------
        Swap or None
            None if the port does not lead to the partner, the pattern does not fit the blocks of
            processors, or every send has to be recorded. Use `plan` in these cases.
        """
        return self.swaps([port], [bit])[0]

    def swaps(self, ports: Sequence[int], bits: Sequence[int]) -> list[Swap | None]:
        """Plan several exchanges, each as in `swap`, together (collective)."""
        return plan_swaps(self, ports, bits)

    def local_broadcast(self, ports: tuple[Ints, Ints] | None = None) -> LocalBroadcast:
        """Plan a step in which processors send one message each on many ports (collective).

        Parameters
        ----------
        ports : (ndarray of int64, ndarray of int64), optional
            Processors of this rank, and the ports on which they send and receive. A link is used in
            both directions or not at all. Default: all wired ports.

        Returns
        -------
        LocalBroadcast
            Call it with the messages, and room for the messages from other ranks.

        Raises
        ------
        ModelViolation
            As in `step`.
        """
        return LocalBroadcast(self, ports)

    def beep(self, nodes: Ints) -> Ints:
        """Send an empty message on all wired ports of these processors, in one step.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
            Distinct processors of this rank.

        Returns
        -------
        ndarray of int64, shape (m,)
            This rank's processors that receive one or more messages, ascending.

        Raises
        ------
        ModelViolation
            As in `step`.
        """
        return beep(self, nodes)

    @property
    def messages(self) -> int:
        """Number of transmissions on the whole machine (collective)."""
        return self.sum(self.meters.messages)[0]

    @property
    def crossing(self) -> Crossing:
        """Messages and bytes sent between ranks in all steps so far (collective)."""
        return Crossing(*self.sum(self.meters.crossed, self.meters.crossed_bytes))

    def channel_load(self) -> ChannelLoad:
        """Return the load of the busiest channel and the mean load, in messages (collective).

        A channel is a direction of a link, a half-duplex link, or a bus.

        Raises
        ------
        UsageError
            The machine does not meter loads.
        """
        if not self.metered:
            raise UsageError("This machine does not meter loads: make it with loads=True.")
        if not self.topology.links:
            return self._bus_load()
        # A half-duplex link is one channel with two ports, possibly counted on two ranks.
        loads = self._link_loads() if self.model.half_duplex else self.meters.loads
        ends, carried = self.sum(self.wired_ports, int(self.meters.loads.sum(dtype=np.int64)))
        channels = ends // 2 if self.model.half_duplex else ends
        largest = self.max(int(loads.max(initial=0)))[0]
        return ChannelLoad(largest, carried / channels if channels else 0.0)

    def _carried(self) -> tuple[Ints, Ints]:
        """Return the used channels of this rank's processors, and the load of each channel."""
        used = np.flatnonzero(self.meters.loads)
        slots, ports = np.divmod(used, self.topology.ports)
        return self.topology.channel(self.nodes[slots], ports), self.meters.loads[used].astype(
            np.int64
        )

    def _link_loads(self) -> Ints:
        """Return the total loads, both ways, of the links whose lower end is hosted here."""
        records = np.stack(self._carried(), axis=1)
        # Both directions of a link share the number of the lower end, whose rank can add them.
        leaving, counts = step.by_owner(self, records[:, 0] // self.topology.ports)
        received = self.transport.exchange(records[leaving], counts).records
        records = np.concatenate([np.delete(records, leaving, axis=0), received])
        _, place = np.unique(records[:, 0], return_inverse=True)
        return np.bincount(place, weights=records[:, 1]).astype(np.int64)

    def _bus_load(self) -> ChannelLoad:
        busses = self.topology.busses or 0
        loads = np.zeros(busses, np.int64)
        np.add.at(loads, *self._carried())
        loads = self.transport.sum(loads)
        return ChannelLoad(int(loads.max(initial=0)), float(loads.sum() / busses))
