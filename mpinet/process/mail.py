"""How messages of any size move by steps of fixed-size payloads.

A step of the machine carries every message as a key: which value of which rank it is. The values
of messages that go to another rank follow in one exchange of bytes for the whole step.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from mpinet.arrays import Ints
from mpinet.errors import ProgramError
from mpinet.machine import Inbox, Machine
from mpinet.machine.step import by_owner
from mpinet.networks.topology import Topology
from mpinet.numerals import counted
from mpinet.process.actions import Parcels
from mpinet.process.values import from_bytes, to_bytes


class Outbox:
    """What this rank's processors send in the next step.

    Attributes
    ----------
    values : list
        A value for every parcel.
    """

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._senders: list[int] = []
        self._ports: list[tuple[int, ...]] = []

    def add(self, sender: int, parcels: Parcels) -> None:
        """Add what a processor sends in the next step."""
        for ports, value in parcels:
            self._senders.append(sender)
            self._ports.append(ports)
            self.values.append(value)

    @property
    def count(self) -> int:
        """How many messages that is: one on every port."""
        return sum(map(len, self._ports))

    def sends(self) -> tuple[Ints, Ints, Ints]:
        """Senders, ports and the places of their values in `values`, by sender."""
        counts = np.fromiter(map(len, self._ports), np.int64, len(self._ports))
        senders = np.repeat(np.array(self._senders, np.int64), counts)
        try:
            ports = np.fromiter(chain.from_iterable(self._ports), np.int64, len(senders))
        except OverflowError:
            raise self._too_large() from None
        keys = np.repeat(np.arange(len(counts)), counts)
        if (np.diff(senders) < 0).any():
            order = np.argsort(senders, kind="stable")
            senders, ports, keys = senders[order], ports[order], keys[order]
        return senders, ports, keys

    def _too_large(self) -> ProgramError:
        """The error of the first port whose number no machine can have."""
        sender, port = next(
            (sender, port)
            for sender, ports in zip(self._senders, self._ports, strict=True)
            for port in ports
            if port.bit_length() > 63
        )
        return ProgramError(
            f"Processor {sender} sends on port {counted(port)}: ports have numbers of 64 bits."
        )


@dataclass(frozen=True, eq=False)
class Letters:
    """Messages to carry in one step.

    Attributes
    ----------
    senders, ports : ndarray of int64, shape (k,)
        Who sends on which port.
    keys : ndarray of int64, shape (k,)
        The place of each message's value in `values`.
    values : list
        The values.
    words : ndarray of int64, shape (k, w)
        What else a message carries.
    """

    senders: Ints
    ports: Ints
    keys: Ints
    values: list[Any]
    words: Ints

    def targets(self, topology: Topology) -> Ints:
        """Who gets each message; -1 where the machine will refuse it."""
        targets = np.full(len(self.ports), -1)
        there = np.flatnonzero((self.ports >= 0) & (self.ports < topology.ports))
        targets[there] = topology.neighbor(self.senders[there], self.ports[there])
        return targets

    def leaving(self, machine: Machine) -> tuple[Ints, Ints]:
        """The keys of what goes to other ranks, to rank 0 first, and how many to each."""
        if machine.transport.size == 1:
            return self.keys[:0], np.zeros(1, np.int64)
        targets = self.targets(machine.topology)
        allowed = targets >= 0
        places, counts = by_owner(machine, targets[allowed])
        return self.keys[allowed][places], counts


@dataclass(frozen=True, eq=False)
class Arrived:
    """Messages that one step has brought to this rank's processors.

    Attributes
    ----------
    inbox : Inbox
        Receivers, ports, and rows (key of the value, words..), by receiver, then port.
    tables : list
        Every rank's values of messages for this rank, by their keys.
    """

    inbox: Inbox
    tables: list[Any]

    def values(self, chosen: Ints) -> list[Any]:
        """The values of some of the messages, given by their places in the inbox."""
        keys, ranks = np.divmod(self.inbox.payload[chosen, 0], len(self.tables))
        if len(self.tables) == 1:
            return [self.tables[0][key] for key in keys.tolist()]
        pairs = zip(ranks.tolist(), keys.tolist(), strict=True)
        return [self.tables[rank][key] for rank, key in pairs]


def carry(machine: Machine, letters: Letters) -> Arrived:
    """Make one step of the machine (collective).

    Raises
    ------
    ProgramError
        As in `Machine.step`.
    """
    ranks = machine.transport.size
    payload = np.empty((len(letters.keys), 1 + letters.words.shape[1]), np.int64)
    payload[:, 0] = letters.keys * ranks + machine.transport.rank
    payload[:, 1:] = letters.words
    keys, counts = letters.leaving(machine)
    inbox = machine.step(letters.senders, letters.ports, payload, word=len(keys))
    tables: list[Any] = [{}] * ranks
    if inbox.total:
        tables = _shared_values(machine, keys, counts, letters.values)
    tables[machine.transport.rank] = letters.values
    return Arrived(inbox, tables)


def _shared_values(machine: Machine, leaving: Ints, counts: Ints, values: list[Any]) -> list[Any]:
    """Send every rank the values that its processors get; all ranks' values for this one."""
    texts = []
    for places in np.split(leaving, np.cumsum(counts)[:-1]):
        keys = np.unique(places).tolist()
        texts.append(to_bytes((keys, [values[key] for key in keys])) if keys else b"")
    sizes = np.array([len(text) for text in texts], np.int64)
    everything = np.frombuffer(b"".join(texts), np.uint8)
    received = machine.transport.exchange(everything, sizes)
    tables: list[Any] = []
    for part in np.split(received.records, np.cumsum(received.counts)[:-1]):
        tables.append(dict(zip(*from_bytes(part.tobytes()), strict=True)) if len(part) else {})
    return tables
