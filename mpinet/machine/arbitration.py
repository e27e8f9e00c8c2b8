"""Arbitration where processors of several ranks contend: one-port, half duplex, busses.

All-port machines of full-duplex links need none of it: there a channel has one sender. Here
processors nominate messages, shared channels take the best nomination, and receivers accept the
best of what is sent to them; each of the two rounds costs one more exchange between ranks.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Flags, Ints
from mpinet.compiled import kernel
from mpinet.errors import UsageError
from mpinet.machine.machine import Machine
from mpinet.machine.step import by_owner, first_of_each, gather_claims

# Larger than any priority, so that a minimum needs no case for processors without a message.
NONE = np.iinfo(np.int64).max
"""No priority: higher than all."""

AHEAD = -(1 << 62)
"""The lowest priority of sends that go before all messages; theirs are the first from here."""


class Arbiter:
    """Decides which waiting messages hop in a step.

    Parameters
    ----------
    machine : Machine
        The machine whose port model has to be kept.

    Raises
    ------
    UsageError
        A port model with limits other than one and all.
    """

    def __init__(self, machine: Machine):
        model = machine.model
        if not {model.send, model.receive} <= {1, None}:
            raise UsageError(
                f"The router keeps port models in which a processor uses one port or all, not "
                f"{model.name}."
            )
        self._machine = machine
        self._one_send = model.send == 1
        self._one_receive = model.receive == 1
        self._shared = model.half_duplex or not machine.topology.links
        limited = self._one_send or self._one_receive
        self._one_by_one = self._one_send and self._one_receive and not self._shared
        self._lowest = np.full(len(machine.nodes) if limited else 0, NONE)

    @classmethod
    def where_needed(cls, machine: Machine) -> Arbiter | None:
        """Return an arbiter, or None where every channel has one sender and no limit holds."""
        arbiter = cls(machine)
        needed = arbiter._one_send or arbiter._one_receive or arbiter._shared
        return arbiter if needed else None

    def grant(self, nodes: Ints, ports: Ints, priorities: Ints) -> Flags:
        """Choose the messages that hop (collective).

        Parameters
        ----------
        nodes, ports : ndarray of int64, shape (k,)
            Processors at which this rank's messages wait, and their ports; in order of service.
        priorities : ndarray of int64, shape (k,)
            Their priorities, ascending, all different on all ranks: the lowest is the best.

        Returns
        -------
        ndarray of bool, shape (k,)
            Whether the message hops.
        """
        topology = self._machine.topology
        # One rank, one-port and full duplex is the common case of small studies: one pass without
        # temporaries.
        if self._one_by_one and self._machine.transport.size == 1:
            return self._paired_up(nodes, ports, priorities)
        # Each stage chooses among the winners of the one before: per sender, channel, receiver.
        # What a message wins first and loses later stays unused in this step.
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
        """Choose the messages that hop in a step in which others' sends go first (collective).

        Parameters
        ----------
        senders, sending : ndarray of int64, shape (s,)
            The processors of this rank that send, and on which port, in any order. Those that the
            machine will refuse since there is no such port claim nothing.
        nodes, ports, priorities
            As for `grant`.
        """
        topology = self._machine.topology
        there = (sending >= 0) & (sending < topology.ports)
        there[there] = topology.neighbor(senders[there], sending[there]) >= 0
        # Sends take part like messages, with priorities from `AHEAD` on, lower than any message's.
        # Duplicates are the machine's to refuse, with a sentence; here they must not claim a
        # channel twice.
        sends = np.unique(senders[there] * topology.ports + sending[there])
        granted = self.grant(
            np.concatenate([sends // topology.ports, nodes]),
            np.concatenate([sends % topology.ports, ports]),
            np.concatenate([AHEAD + sends, priorities]),
        )
        return granted[len(sends) :]

    def _paired_up(self, nodes: Ints, ports: Ints, priorities: Ints) -> Flags:
        """Grant as `grant` does, in one pass over arrays: this rank hosts all processors."""
        topology = self._machine.topology
        rules = topology.neighbor.native, topology.params
        granted = np.empty(len(nodes), bool)
        pair_up(*rules, nodes, ports, priorities, self._lowest, granted)
        return granted

    def _best_on_channel(self, nominated: Ints) -> Flags:
        """Flags of the nominations, rows (node, channel, priority), that win their channel."""
        claims = gather_claims(self._machine, nominated)
        # Claims ascend by priority, and `np.unique` finds the first of each channel: the best one.
        claims = claims[np.argsort(claims[:, 2])]
        channels, first = np.unique(claims[:, 1], return_index=True)
        best = claims[first, 2][np.searchsorted(channels, nominated[:, 1])]
        return nominated[:, 2] == best

    def _accepted(self, targets: Ints, priorities: Ints) -> Flags:
        """Flags of the messages that receivers accept: each takes the best one sent to it."""
        machine = self._machine
        leaving, counts = by_owner(machine, targets)
        staying = np.delete(np.arange(len(targets)), leaving)
        # The receiver's rank decides, for it alone sees all offers. Two exchanges: offers out,
        # answers back.
        offers = np.stack([targets, priorities], axis=1)
        received = machine.transport.exchange(offers[leaving], counts)
        every = np.concatenate([offers[staying], received.records])
        accepted = self._best_of_each(*np.ascontiguousarray(every.T))
        # Answers go back with the counts of what came, so each arrives in the place of its offer.
        answers = machine.transport.exchange(accepted[len(staying) :], received.counts).records
        result = np.empty(len(targets), bool)
        result[staying], result[leaving] = accepted[: len(staying)], answers
        return result

    def _best_of_each(self, nodes: Ints, priorities: Ints) -> Flags:
        """Flags of the messages with the lowest priority at their processor, hosted here."""
        best = np.empty(len(nodes), bool)
        mark_best(self._machine.slots(nodes), priorities, self._lowest, best)
        return best


@kernel
def mark_best(slots: Ints, priorities: Ints, lowest: Ints, best: Flags) -> None:
    """Mark the message of each slot that has the lowest priority; `lowest` is all `NONE`."""
    for i in range(slots.size):
        # Two passes instead of a sort: linear, and the scratch array is as long as the rank's
        # processors.
        lowest[slots[i]] = min(lowest[slots[i]], priorities[i])
    for i in range(slots.size):
        best[i] = priorities[i] == lowest[slots[i]]
    # Only the slots in use are reset: there may be far more processors than messages.
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

    Of the messages that wait at a processor the best is nominated, of those nominated for a
    processor the best is accepted. `lowest` has a place for every processor, and is all `NONE`.
    """
    neighbor = neighbor_rule.call
    mark_best(nodes, priorities, lowest, granted)
    # In loops, which compile five times as fast as NumPy's functions of arrays.
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
