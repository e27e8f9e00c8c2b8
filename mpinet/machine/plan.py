"""Planned steps: a pattern of sends, checked once and executed often."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mpinet.base.arrays import Array, Ints
from mpinet.machine import enforcement, step
from mpinet.machine.stepping import Stepping

Places = NDArray[np.signedinteger[Any]]
"""Slots of processors, or indices of an array, in 32 bits if they fit."""


class Plan:
    """A step with always the same sends; made by `Machine.plan` (collective).

    A plan keeps 14 bytes per message if a rank has fewer than 2^31 processors and messages, and
    processors have at most 256 ports.
    """

    def __init__(self, machine: Stepping, nodes: Any, ports: Any):
        self._machine = machine
        sends, arrivals, order = enforcement.carry_checked(
            machine, nodes, ports, None, None, 0, machine.transport.exchange
        )
        self._transmissions = sends.transmissions
        # Slots of 32 bits and ports of one byte save memory: ASCEND keeps one plan per dimension.
        self._sender_slots = narrow(machine.slots(sends.nodes))
        self._send_ports = sends.ports.astype(np.min_scalar_type(machine.topology.ports))
        self._receiver_slots = narrow(machine.slots(arrivals.nodes[order]))
        self._receive_ports = arrivals.ports[order].astype(self._send_ports.dtype)
        self._lay_out(sends, np.arange(len(arrivals.nodes))[order])

    def _lay_out(self, sends: step.Sends, order: Ints) -> None:
        """Find the source of each received message: an index into the payload, or after its end."""
        if self._machine.transport.size == 1:
            self._sources = narrow(order)
            return
        leaving, self._counts = step.by_owner(self._machine, sends.targets)
        self._leaving = narrow(leaving)
        staying = np.delete(np.arange(len(sends.nodes)), leaving)
        # Received rows follow the payload, so one gather builds the result in the receivers' order.
        behind = len(sends.nodes) + np.arange(len(order) - len(staying))
        self._sources = narrow(np.concatenate([staying, behind])[order])

    @property
    def senders(self) -> Ints:
        """Planned senders, shape (k,)."""
        return self._machine.nodes[self._sender_slots]

    @property
    def nodes(self) -> Ints:
        """Receivers among this rank's processors, by number, then port; shape (m,)."""
        return self._machine.nodes[self._receiver_slots]

    @property
    def ports(self) -> Ints:
        """Ports on which `nodes` receive, shape (m,)."""
        return self._receive_ports.astype(np.int64)

    def __call__(self, payload: Array, word: int = 0) -> Array:
        """Execute the planned step, and return the received messages.

        Parameters
        ----------
        payload : ndarray, shape (k, ..)
            A message for each of the planned sends, in their order.
        word : int
            A number of this rank; `total` is its sum over all ranks.

        Returns
        -------
        ndarray, shape (m, ..)
            Messages received by `nodes` on `ports`.

        Raises
        ------
        UsageError
            The number of messages differs from the number of sends.
        ModelViolation
            A processor puts different messages on one bus.
        """
        machine = self._machine
        machine.checked(lambda: self._check(payload))
        self.count()
        if machine.transport.size == 1:
            self.total = word
            return payload[self._sources]
        received, _, self.total = machine.exchange(payload[self._leaving], self._counts, word)
        return np.concatenate([payload, received])[self._sources]

    def _check(self, payload: Array) -> None:
        """Check the payload of a step; see `enforcement.check_payload`."""
        if self._machine.topology.links:
            enforcement.require_messages(len(self._sender_slots), payload)
        else:
            enforcement.check_payload(self._machine, self._sends, payload)

    def count(self) -> None:
        """Count one execution of the step, and record its sends if there is a recording."""
        machine = self._machine
        # Unobserved plans count one number. The full sends are rebuilt only if needed.
        if machine.metered or machine.trace is not None:
            step.count(machine, self._sends)
        else:
            machine.count(self._transmissions)

    @cached_property
    def _sends(self) -> step.Sends:
        """Return the sends in full, with processors and ports."""
        topology, nodes = self._machine.topology, self.senders
        ports = self._send_ports.astype(np.int64)
        channels = nodes[:0] if topology.links else topology.channel(nodes, ports)
        return step.Sends(
            nodes,
            ports,
            topology.neighbor(nodes, ports),
            topology.reverse_port(nodes, ports),
            channels,
            self._transmissions,
        )


def narrow(numbers: Ints) -> Places:
    """Return the numbers in 32 bits each, if they fit."""
    fit = len(numbers) == 0 or numbers.max() < 2**31
    return numbers.astype(np.int32) if fit else numbers
