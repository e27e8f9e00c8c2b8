"""Transfer of messages of any size by steps with fixed-size payloads.

A step of the machine carries every message as a key: which value of which rank it is. The values
of messages that go to another rank follow in one exchange of bytes for the whole step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.numerals import counted
from mpinet.errors import ProgramError
from mpinet.machine import Inbox, Machine
from mpinet.machine.step import by_owner
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.process.actions import Parcels
from mpinet.process.values import from_bytes, to_bytes


class StepOutbox:
    """Sends of this rank's processors for the next step."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        """A value for every parcel."""
        self._senders: list[int] = []
        self._ports: list[tuple[int, ...]] = []

    def add(self, sender: int, parcels: Parcels) -> None:
        """Add a processor's sends for the next step."""
        for ports, value in parcels:
            self._senders.append(sender)
            self._ports.append(ports)
            self.values.append(value)

    @property
    def count(self) -> int:
        """Number of messages: one per port."""
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
        """Return the error of the first port whose number no machine can have."""
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
    """Messages to carry in one step."""

    senders: Ints
    """Sender of each message. Shape (k,)."""
    ports: Ints
    """Port that each message leaves by. Shape (k,)."""
    keys: Ints
    """The place of each message's value in `values`. Shape (k,)."""
    values: list[Any]
    """The values."""

    def targets(self, topology: Topology) -> Ints:
        """Receiver of each message; -1 if the machine will refuse it."""
        targets = np.full(len(self.ports), -1)
        there = np.flatnonzero((self.ports >= 0) & (self.ports < topology.ports))
        targets[there] = topology.neighbor(self.senders[there], self.ports[there])
        return targets

    def leaving(self, machine: Machine) -> tuple[Ints, Ints]:
        """Keys of the messages to other ranks, rank 0's first, and their number per rank."""
        if machine.transport.size == 1:
            return self.keys[:0], np.zeros(1, np.int64)
        targets = self.targets(machine.topology)
        allowed = targets >= 0
        places, counts = by_owner(machine, targets[allowed])
        return self.keys[allowed][places], counts


@dataclass(frozen=True, eq=False)
class Arrived:
    """Messages that one step has brought to this rank's processors."""

    inbox: Inbox
    """Receivers, ports, and the keys of the values, by receiver, then port."""
    tables: list[Any]
    """Every rank's values of messages for this rank, by their keys."""

    def values(self, chosen: Ints) -> list[Any]:
        """Values of some of the messages, given by their places in the inbox."""
        keys, ranks = np.divmod(self.inbox.payload[chosen], len(self.tables))
        if len(self.tables) == 1:
            return [self.tables[0][key] for key in keys.tolist()]
        pairs = zip(ranks.tolist(), keys.tolist(), strict=True)
        return [self.tables[rank][key] for rank, key in pairs]


def carry(machine: Machine, letters: Letters, step: Callable[..., Inbox]) -> Arrived:
    """Make one step of the machine (collective).

    Parameters
    ----------
    machine : Machine
        The machine.
    letters : Letters
        What is sent.
    step : callable
        `Machine.step`, or what makes a step of the machine in which more than the letters move.

    Raises
    ------
    ModelViolation
        As in `Machine.step`.
    """
    ranks = machine.transport.size
    # The key names the sender's rank and the value there. So a step carries one integer per
    # message, for values of any size.
    payload = letters.keys * ranks + machine.transport.rank
    keys, counts = letters.leaving(machine)
    inbox = step(letters.senders, letters.ports, payload, word=len(keys))
    tables: list[Any] = [{}] * ranks
    # The step has told all ranks whether any value goes to another one. Without one the second
    # exchange is left out everywhere.
    if inbox.total:
        tables = _shared_values(machine, keys, counts, letters.values)
    tables[machine.transport.rank] = letters.values
    return Arrived(inbox, tables)


def _shared_values(machine: Machine, leaving: Ints, counts: Ints, values: list[Any]) -> list[Any]:
    """Send every rank the values for its processors; return those of all ranks for this one."""
    texts = []
    for places in np.split(leaving, np.cumsum(counts)[:-1]):
        # A value that goes to many processors of a rank travels there once.
        keys = np.unique(places).tolist()
        texts.append(to_bytes((keys, [values[key] for key in keys])) if keys else b"")
    return [
        dict(zip(*from_bytes(text), strict=True)) if text else {}
        for text in exchange_texts(machine.transport, texts)
    ]


def exchange_by_owner(
    machine: Machine, targets: Ints, packed: Callable[[list[int]], bytes]
) -> tuple[Ints, list[bytes]]:
    """Give every other rank the values for its processors (collective).

    Parameters
    ----------
    machine : Machine
        The machine.
    targets : ndarray of int64, shape (values,)
        The processor that each value is for.
    packed : callable
        Packs the values in some places.

    Returns
    -------
    leaving : ndarray of int64
        The places of the values that other ranks get.
    texts : list of bytes
        What other ranks have packed for this one.
    """
    if machine.transport.size == 1:
        return np.empty(0, np.int64), []
    leaving, counts = by_owner(machine, targets)
    parts = np.split(leaving, np.cumsum(counts)[:-1])
    texts = [packed(part.tolist()) if len(part) else b"" for part in parts]
    return leaving, [text for text in exchange_texts(machine.transport, texts) if text]


def exchange_texts(transport: Local, texts: Sequence[bytes]) -> list[bytes]:
    """Send every other rank a text, and receive one from each (collective)."""
    sizes = np.array([len(text) for text in texts], np.int64)
    received = transport.exchange(np.frombuffer(b"".join(texts), np.uint8), sizes)
    ends = np.cumsum(received.counts)[:-1]
    return [part.tobytes() for part in np.split(received.records, ends)]
