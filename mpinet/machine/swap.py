"""Planned exchanges between all pairs of processors whose numbers differ in one given bit.

In each exchange every processor sends one message and receives one. No data is stored per
processor, and messages within a rank are not copied.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Array, Ints
from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine.stepping import Stepping


class Swap:
    """A step in which all processors exchange over one dimension; made by `Machine.swap`.

    Parameters
    ----------
    machine : Machine
        The machine, with processors in contiguous blocks.
    bit : int
        The power of two by which the numbers of partners differ.
    """

    def __init__(self, machine: Stepping, bit: int):
        self._machine = machine
        self._bit = bit
        placement = machine.placement
        self._crosses = bit >= placement.count > 0
        self._counts = np.zeros(placement.ranks, np.int64)
        # With contiguous blocks of a power of two, all partners are on one other rank.
        if self._crosses:
            self._counts[placement.rank ^ bit // placement.count] = placement.count

    def __call__(self, payload: Array) -> Array:
        """Execute the exchange, and return the received messages.

        Parameters
        ----------
        payload : ndarray, shape (hosted,)
            A message of every processor.

        Returns
        -------
        ndarray, shape (hosted,) or (g, 2, bit)
            The received messages, in the order of the processors. The second shape is a view of
            `payload` with the halves of every pair of runs exchanged.

        Raises
        ------
        UsageError
            The number of messages differs from the number of processors.
        """
        machine, count = self._machine, self._machine.placement.count
        machine.checked(lambda: self._require_messages(payload))
        machine.count(count)
        if self._crosses:
            received = machine.exchange(payload, self._counts).records
            # A dry run receives nothing; its own payload has the right shape.
            return received if len(received) == count else payload  # dry runs receive nothing
        return payload.reshape(-1, 2, self._bit)[:, ::-1]

    def _require_messages(self, payload: Array) -> None:
        count = self._machine.placement.count
        if payload.shape != (count,):
            raise UsageError(
                f"A swap needs {count} messages, one per processor, not {payload.shape}."
            )


def plan_swaps(machine: Stepping, ports: Sequence[int], bits: Sequence[int]) -> list[Swap | None]:
    """Plan exchanges over several dimensions; see `Machine.swaps`."""
    plain = machine.topology.links and not machine.model.half_duplex
    unobserved = not machine.metered and machine.trace is None
    if not (plain and unobserved and machine.mapping.contiguous):
        return [None] * len(bits)
    pairs = list(zip(ports, bits, strict=True))
    # All ranks must agree: a swap on some ranks and a plan on other ranks would never meet.
    obstacles = machine.sum(*(int(not _fits(machine, port, bit)) for port, bit in pairs))
    return [None if any_ else Swap(machine, bit) for any_, bit in zip(obstacles, bits, strict=True)]


def _fits(machine: Stepping, port: int, bit: int) -> bool:
    """Return True if a swap can bring all of this rank's rows to the partners behind the port."""
    return _fits_blocks(machine, bit) and bool(
        leads_across(
            machine.topology.neighbor.native,
            machine.topology.params,
            machine.placement.first,
            machine.placement.count,
            port,
            bit,
        )
    )


def _fits_blocks(machine: Stepping, bit: int) -> bool:
    """Return True if this rank's partners are all on this rank, or all on one other rank."""
    first, count = machine.placement.first, machine.placement.count
    if bit < count or count == 0:
        return first % (2 * bit) == 0 == count % (2 * bit)
    equal_blocks = count * machine.placement.ranks == machine.topology.size
    return machine.placement.even and equal_blocks and count & (count - 1) == 0


@kernel
def leads_across(
    neighbor_rule: PortRule, params: Ints, first: int, count: int, port: int, bit: int
) -> bool:
    """Return True if the port leads each node to the node whose number differs in the bit."""
    neighbor = neighbor_rule.call
    if port < 0 or port >= params[1]:
        return False
    for node in range(first, first + count):
        if neighbor(node, port, params) != node ^ bit:
            return False
    return True
