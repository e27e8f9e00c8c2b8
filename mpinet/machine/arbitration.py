"""Arbitration of contention between processors of several ranks: one-port, half duplex, busses.

All-port machines with full-duplex links need no arbitration, because each channel has one sender.
Otherwise processors nominate messages, shared channels take the best nomination, and receivers
accept the best message sent to them. The latter two rounds cost one more exchange between ranks
each.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Flags, Ints
from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine.busprotocol import BusProtocol
from mpinet.machine.machine import Machine
from mpinet.machine.step import by_owner, first_of_each, gather_claims

# Larger than any priority, so a minimum needs no special case for processors without a message.
NONE = np.iinfo(np.int64).max
"""Number above all priorities, for processors without a message."""

AHEAD = -(1 << 62)
"""First priority of sends preferred to all messages; low numbers are served first."""


class Arbiter:
    """Decides which waiting messages hop in a step.

    Parameters
    ----------
    machine : Machine
        The machine, with the port model to observe.
    protocol : BusProtocol, optional
        Arbitration by the members of each bus. Default: the lowest priority number wins.

    Raises
    ------
    UsageError
        The port model has a limit other than one or all.
    """

    def __init__(self, machine: Machine, protocol: BusProtocol | None = None):
        model = machine.model
        if not {model.send, model.receive} <= {1, None}:
            raise UsageError(
                f"The router needs a port model with one port or all ports per processor, not "
                f"{model.name}."
            )
        self._machine, self._protocol = machine, protocol
        self._one_send = model.send == 1
        self._one_receive = model.receive == 1
        self._shared = model.half_duplex or not machine.topology.links
        limited = self._one_send or self._one_receive
        self._one_by_one = self._one_send and self._one_receive and not self._shared
        self._lowest = np.full(len(machine.nodes) if limited else 0, NONE)

    @classmethod
    def where_needed(cls, machine: Machine, protocol: BusProtocol | None = None) -> Arbiter | None:
        """Return an arbiter, or None if every channel has one sender and there is no port limit."""
        arbiter = cls(machine, protocol)
        needed = arbiter._one_send or arbiter._one_receive or arbiter._shared
        return arbiter if needed else None

    def grant(self, nodes: Ints, ports: Ints, priorities: Ints) -> Flags:
        """Choose the messages that hop (collective).

        Parameters
        ----------
        nodes, ports : ndarray of int64, shape (k,)
            Processors of this rank's waiting messages, and the messages' ports, in order of
            service.
        priorities : ndarray of int64, shape (k,)
            Priorities of the messages, ascending and unique over all ranks. The lowest number wins.

        Returns
        -------
        ndarray of bool, shape (k,)
            True for each message that hops.
        """
        topology = self._machine.topology
        # One rank, one-port and full duplex is the common case of small studies: one pass without
        # temporary arrays.
        if self._one_by_one and self._machine.transport.size == 1:
            return self._paired_up(nodes, ports, priorities)
        # Each stage chooses among the winners of the previous stage: per sender, channel, receiver.
        # A resource granted in one stage to a later loser stays unused in this step.
        channels = topology.channel(nodes, ports) if self._shared else ports
        # Nomination before acceptance, as in iSLIP with one iteration: a sender offers only its
        # best message.
        if self._one_send:
            chosen = np.flatnonzero(self._best_of_each(nodes, priorities))
        else:
            chosen = first_of_each(nodes, channels)
        if self._shared:
            nominated = np.stack([nodes, channels, priorities], axis=1)[chosen]
            chosen = chosen[self._best_on_channel(nominated)]
        if self._one_receive:
            targets = topology.neighbor(nodes[chosen], ports[chosen])
            chosen = chosen[self._accepted(targets, priorities[chosen])]
        granted = np.zeros(len(nodes), bool)
        granted[chosen] = True
        return granted

    def grant_behind(
        self, senders: Ints, sending: Ints, nodes: Ints, ports: Ints, priorities: Ints
    ) -> Flags:
        """Choose the messages that hop in a step in which given sends take precedence (collective).

        Parameters
        ----------
        senders, sending : ndarray of int64, shape (s,)
            Processors of this rank, and the ports of their sends, in any order. Sends on missing
            ports claim nothing; the machine rejects them later.
        nodes, ports, priorities
            As for `grant`.
        """
        topology = self._machine.topology
        there = (sending >= 0) & (sending < topology.ports)
        there[there] = topology.neighbor(senders[there], sending[there]) >= 0
        # Sends take part like messages, with priorities from `AHEAD` on, below any message's. The
        # machine rejects duplicates with an error message later. Here duplicates must not claim a
        # channel twice.
        sends = np.unique(senders[there] * topology.ports + sending[there])
        granted = self.grant(
            np.concatenate([sends // topology.ports, nodes]),
            np.concatenate([sends % topology.ports, ports]),
            np.concatenate([AHEAD + sends, priorities]),
        )
        return granted[len(sends) :]

    def _paired_up(self, nodes: Ints, ports: Ints, priorities: Ints) -> Flags:
        """Grant messages as `grant` does, in one pass, if this rank hosts all processors."""
        topology = self._machine.topology
        rules = topology.neighbor.native, topology.params
        granted = np.empty(len(nodes), bool)
        pair_up(*rules, nodes, ports, priorities, self._lowest, granted)
        return granted

    def _best_on_channel(self, nominated: Ints) -> Flags:
        """Return flags of the nominations (node, channel, priority) that win their channel."""
        if self._protocol is not None:
            return self._protocol.senders(nominated)
        claims = gather_claims(self._machine, nominated)
        # Claims ascend by priority, and `np.unique` finds the first of each channel: the best one.
        claims = claims[np.argsort(claims[:, 2])]
        channels, first = np.unique(claims[:, 1], return_index=True)
        best = claims[first, 2][np.searchsorted(channels, nominated[:, 1])]
        return nominated[:, 2] == best

    def _accepted(self, targets: Ints, priorities: Ints) -> Flags:
        """Return flags of the accepted messages: each receiver accepts its best message."""
        machine = self._machine
        leaving, counts = by_owner(machine, targets)
        staying = np.delete(np.arange(len(targets)), leaving)
        # The receiver's rank decides, because only this rank sees all offers. Two exchanges: offers
        # out, answers back.
        offers = np.stack([targets, priorities], axis=1)
        received = machine.transport.exchange(offers[leaving], counts)
        every = np.concatenate([offers[staying], received.records])
        accepted = self._best_of_each(*np.ascontiguousarray(every.T))
        # Answers use the counts of the received offers, so each answer returns to the place of its
        # offer.
        answers = machine.transport.exchange(accepted[len(staying) :], received.counts).records
        result = np.empty(len(targets), bool)
        result[staying], result[leaving] = accepted[: len(staying)], answers
        return result

    def _best_of_each(self, nodes: Ints, priorities: Ints) -> Flags:
        """Return flags of the messages with the lowest priority number at their local processor."""
        best = np.empty(len(nodes), bool)
        mark_best(self._machine.slots(nodes), priorities, self._lowest, best)
        return best


@kernel
def mark_best(slots: Ints, priorities: Ints, lowest: Ints, best: Flags) -> None:
    """Mark the message with the lowest priority number of each slot; needs `lowest` all `NONE`."""
    for i in range(slots.size):
        # Two passes instead of a sort: linear time, with a scratch array of one entry per local
        # processor.
        lowest[slots[i]] = min(lowest[slots[i]], priorities[i])
    for i in range(slots.size):
        best[i] = priorities[i] == lowest[slots[i]]
    # Only the used slots are reset: there may be far more processors than messages.
    for i in range(slots.size):
        lowest[slots[i]] = NONE


@kernel
def pair_up(
    neighbor_rule: PortRule,
    wiring: Ints,
    nodes: Ints,
    ports: Ints,
    priorities: Ints,
    lowest: Ints,
    granted: Flags,
) -> None:
    """Grant every processor one message to send and one to receive.

    The best message waiting at each processor is nominated. The best message nominated for each
    receiver is accepted. `lowest` has an entry for every processor and must be all `NONE`.
    """
    neighbor = neighbor_rule.call
    mark_best(nodes, priorities, lowest, granted)
    # Loops, because they compile five times as fast as NumPy's array functions.
    nominated, targets = np.empty(nodes.size, np.int64), np.empty(nodes.size, np.int64)
    offers, accepted = np.empty(nodes.size, np.int64), np.empty(nodes.size, np.bool_)
    count = 0
    for i in range(nodes.size):
        if granted[i]:
            nominated[count], offers[count] = i, priorities[i]
            targets[count] = neighbor(nodes[i], ports[i], wiring)
            count += 1
    mark_best(targets[:count], offers[:count], lowest, accepted[:count])
    for i in range(count):
        granted[nominated[i]] = accepted[i]
