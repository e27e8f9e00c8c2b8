"""Planned steps: a pattern of sends that is checked once and carried out often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mpinet.machine import enforcement, step

if TYPE_CHECKING:
    from mpinet.machine.machine import Machine


class Plan:
    """A step whose sends are always the same; made by `Machine.plan` (collective).

    Attributes
    ----------
    senders : ndarray of int64, shape (k,)
        The planned senders.
    nodes, ports : ndarray of int64, shape (m,)
        The receivers among this rank's processors, and the ports that they receive on, by
        processor, then port.
    """

    def __init__(self, machine: Machine, nodes: Any, ports: Any):
        self._machine = machine
        sends = machine.checked(lambda: enforcement.check_sends(machine, nodes, ports))
        places = np.arange(len(sends.nodes))
        arrivals = step.carry(machine, sends, places, 0)
        order, keys = step.in_order(machine, arrivals, None)
        machine.checked(lambda: enforcement.check_received(machine, sends, arrivals, keys))
        if not machine.topology.links:
            transmissions = enforcement.heard_transmissions(machine, sends)
            machine.checked(lambda: enforcement.check_busses(machine, transmissions))
        self.nodes = arrivals.nodes[order]
        self.ports = arrivals.ports[order]
        self.senders = sends.nodes
        self._sends = sends
        self._lay_out(arrivals, order)

    def _lay_out(self, arrivals: step.Arrivals, order: NDArray[np.int64]) -> None:
        """Remember where each message of the payload goes."""
        machine = self._machine
        self._leaving, self._counts = step.by_owner(machine, self._sends.targets)
        staying = len(self._sends.nodes) - len(self._leaving)
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        self._kept = arrivals.payload[:staying]
        self._kept_place, self._received_place = place[:staying], place[staying:]
        self._source = arrivals.payload[order] if machine.transport.size == 1 else order

    def __call__(self, payload: NDArray[Any], word: int = 0) -> NDArray[Any]:
        """Carry the step out.

        Parameters
        ----------
        payload : ndarray, shape (k, ..)
            A message for each of the planned sends, in their order.
        word : int
            A number that rides along (see `total`).

        Returns
        -------
        ndarray, shape (m, ..)
            What `nodes` received on `ports`.

        Raises
        ------
        UsageError
            Not as many messages as sends.
        ModelViolation
            Different messages on one bus.
        """
        machine = self._machine
        machine.checked(lambda: enforcement.check_payload(machine, self._sends, payload))
        machine.count_step(self._sends)
        if machine.transport.size == 1:
            self.total = word
            return payload[self._source]
        received, _, self.total = machine.transport.exchange(
            payload[self._leaving], self._counts, word
        )
        inbox = np.empty((len(self.nodes), *payload.shape[1:]), payload.dtype)
        inbox[self._kept_place] = payload[self._kept]
        inbox[self._received_place] = received
        return inbox
