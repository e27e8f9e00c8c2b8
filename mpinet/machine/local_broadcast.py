"""Local broadcast: a planned step in which every processor sends its row to all its neighbours.

A rank keeps a row for each of its own processors and for each neighbour of these on other ranks.
Rows between processors of the same rank are not moved. A row goes to another rank once, for all its
receivers there.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Counts, Ints, Words
from mpinet.base.memory import require_memory
from mpinet.compiled import kernel
from mpinet.errors import ModelViolation
from mpinet.machine import enforcement, step
from mpinet.machine.beep import goes_unchecked, wired
from mpinet.machine.plan import Plan
from mpinet.machine.stepping import Stepping

Ports = tuple[Ints, Ints]

BYTES_A_PORT = 19
"""Bytes per wired port during the lookup of its neighbour's row."""


class LocalBroadcast:
    """A step with rows in both directions of many links; made by `Machine.local_broadcast`.

    Parameters
    ----------
    machine : Machine
        The machine with the links.
    ports : (ndarray of int64, ndarray of int64), optional
        As in `Machine.local_broadcast`.
    """

    origins: Counts
    """Row received by each send, as an index into all rows on this rank. Shape (sends,)."""

    def __init__(self, machine: Stepping, ports: Ports | None = None):
        self._machine = machine
        placement = machine.placement
        # 24 bytes per processor (its number and two start indices), plus the ports' bytes.
        wired = machine.topology.most_wired // machine.topology.size if ports is None else 0
        needed = (24 + BYTES_A_PORT * wired) * placement.most
        # Neighbour lists are the largest arrays of a distance computation.
        require_memory(needed, f"A step to all neighbours in {machine.topology.name}")
        if ports is not None:
            _check_both_ends(machine, *ports)
        # An all-port machine without meter and trace has nothing more to check or record.
        unchecked = goes_unchecked(machine)
        self._plan = None if unchecked else Plan(machine, *(ports or _all_wired(machine)))
        starts, neighbors = (
            _all_neighbors(machine) if ports is None else _neighbors_on(machine, *ports)
        )
        self.sends: int = len(neighbors)
        """Number of messages sent by this rank's processors in each step."""
        self.starts: Words = starts.astype(np.uint64)
        """First index in `origins` of each slot's processor. Shape (hosted + 1,)."""
        self._lay_out(starts, neighbors)

    def _lay_out(self, starts: Ints, senders: Ints) -> None:
        """Find the received rows, and the rows to send to other ranks.

        Links lead both ways: a neighbour on another rank both sends and receives. Rows from other
        ranks are sorted by rank, then by slot, which is the order of the senders.
        """
        machine, count = self._machine, self._machine.placement.count
        rows = machine.slots(senders)
        away = np.flatnonzero((rows < 0) | (rows >= count))
        # One row per distinct foreign neighbour: a row crosses once, not once per link.
        elsewhere, places = np.unique(rows[away], return_inverse=True)
        self.origins = rows.astype(np.uint32)
        self.origins[away] = count + places
        self._rows = count + len(elsewhere)
        # Links lead both ways, so the processors that receive from a rank must also send to this
        # rank.
        receivers = np.searchsorted(starts, away, "right") - 1
        owners = machine.placement.owners(senders[away])
        owners, slots = np.divmod(np.unique(owners * count + receivers), max(count, 1))
        self._leaving = _in_a_row(slots)
        self._counts = np.bincount(owners, minlength=machine.transport.size)

    def room(self, *shape: int) -> Words:
        """Allocate zeroed rows of the given shape for `__call__`; shape (rows, ..)."""
        return np.zeros((self._rows, *shape), np.uint64)

    def __call__(self, rows: Words, word: int = 0) -> int:
        """Execute the step: send each row to all neighbours (collective).

        Parameters
        ----------
        rows : ndarray of uint64, shape (rows, ..)
            First the messages of this rank's processors; the rows received from other ranks are
            written after them.
        word : int
            A number of this rank to add up over all ranks.

        Returns
        -------
        int
            The sum of all ranks' words.
        """
        machine, count = self._machine, self._machine.placement.count
        if self._plan is None:
            machine.count(self.sends)
        else:
            self._plan.count()
        if machine.transport.size == 1:
            return word
        leaving = rows[:count][self._leaving]
        return machine.exchange(
            leaving, self._counts, word, lambda coming: rows[count : count + coming]
        ).total


def _check_both_ends(machine: Stepping, nodes: Ints, ports: Ints) -> None:
    """Check the sends, and check for an answer to each send over the same link (collective)."""
    sends = machine.checked(lambda: enforcement.check_sends(machine, nodes, ports))
    arrivals = step.carry(machine, sends, None, 0, machine.transport.exchange)
    machine.checked(lambda: _require_answers(machine, sends, arrivals))


def _require_answers(machine: Stepping, sends: step.Sends, arrivals: step.Arrivals) -> None:
    width = machine.topology.ports
    came = arrivals.nodes * width + arrivals.ports
    silent = np.setdiff1d(came, sends.nodes * width + sends.ports)
    if len(silent):
        node, port = divmod(int(silent[0]), width)
        raise ModelViolation(
            f"Step {machine.next_step}: processor {node} receives on port {port}, but does not "
            "send there: a local broadcast uses both directions of a link or none."
        )


def _all_wired(machine: Stepping) -> Ports:
    return wired(machine.topology, machine.nodes)


def _all_neighbors(machine: Stepping) -> tuple[Ints, Ints]:
    """Return the start of each local processor's neighbours, and the neighbours."""
    starts = np.empty(machine.placement.count + 1, np.int64)
    neighbors = np.empty(machine.wired_ports, np.int64)
    topology = machine.topology
    list_neighbors(topology.neighbor.native, topology.params, machine.nodes, starts, neighbors)
    return starts, neighbors


def _neighbors_on(machine: Stepping, nodes: Ints, ports: Ints) -> tuple[Ints, Ints]:
    """Return the start of each processor's neighbours, and the neighbours, on the given ports."""
    slots = machine.slots(nodes)
    by_slot = np.argsort(slots, kind="stable")
    ports_of = np.bincount(slots, minlength=machine.placement.count)
    neighbors = machine.topology.neighbor(nodes[by_slot], ports[by_slot])
    return np.concatenate([[0], np.cumsum(ports_of)]), neighbors


def _in_a_row(slots: Ints) -> Ints | slice:
    """Return an index for these slots: a slice if the slots are consecutive."""
    first = int(slots[0]) if len(slots) else 0
    follow = np.array_equal(slots, np.arange(first, first + len(slots)))
    return slice(first, first + len(slots)) if follow else slots


@kernel
def list_neighbors(
    neighbor_rule: PortRule, params: Ints, nodes: Ints, starts: Ints, neighbors: Ints
) -> None:
    """Write the neighbours of nodes in port order, and the start of each node's neighbours."""
    neighbor, place = neighbor_rule.call, 0
    for i in range(nodes.size):
        starts[i] = place
        for port in range(params[1]):
            other = neighbor(nodes[i], port, params)
            if other >= 0:
                neighbors[place] = other
                place += 1
    starts[nodes.size] = place
