"""Transfer of messages of any size in steps with fixed-size payloads.

A step of the machine carries a key for each message. The key names a value and its rank. Values for
other ranks follow in a single exchange of bytes per step.
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
    """Messages that this rank's processors send in the next step."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        """Value of each parcel."""
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
        """Number of messages; a value sent on k ports counts as k messages."""
        return sum(map(len, self._ports))

    def sends(self) -> tuple[Ints, Ints, Ints]:
        """Return senders, ports and indices into `values` of all messages, sorted by sender."""
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
        """Return the error for the first port number that exceeds 64 bits."""
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
    """Messages to send in one step."""

    senders: Ints
    """Sender of each message. Shape (k,)."""
    ports: Ints
    """Port on which each message is sent. Shape (k,)."""
    keys: Ints
    """Index of each message's value in `values`. Shape (k,)."""
    values: list[Any]
    """Values of the messages."""

    def targets(self, topology: Topology) -> Ints:
        """Return the receiver of each message; -1 if the machine will reject the message."""
        targets = np.full(len(self.ports), -1)
        there = np.flatnonzero((self.ports >= 0) & (self.ports < topology.ports))
        targets[there] = topology.neighbor(self.senders[there], self.ports[there])
        return targets

    def leaving(self, machine: Machine) -> tuple[Ints, Ints]:
        """Return the keys of messages to other ranks, by rank, and their number per rank."""
        if machine.transport.size == 1:
            return self.keys[:0], np.zeros(1, np.int64)
        targets = self.targets(machine.topology)
        allowed = targets >= 0
        places, counts = by_owner(machine, targets[allowed])
        return self.keys[allowed][places], counts


@dataclass(frozen=True, eq=False)
class Arrived:
    """Messages that this rank's processors received in one step."""

    inbox: Inbox
    """Receivers, ports and value keys, sorted by receiver, then port."""
    tables: list[Any]
    """Values for this rank by source rank, each with its keys."""

    def values(self, chosen: Ints) -> list[Any]:
        """Return the values of some messages, given by their positions in the inbox."""
        keys, ranks = np.divmod(self.inbox.payload[chosen], len(self.tables))
        if len(self.tables) == 1:
            return [self.tables[0][key] for key in keys.tolist()]
        pairs = zip(ranks.tolist(), keys.tolist(), strict=True)
        return [self.tables[rank][key] for rank, key in pairs]


def carry(machine: Machine, letters: Letters, step: Callable[..., Inbox]) -> Arrived:
    """Make one step of the machine that carries the given messages (collective).

    Parameters
    ----------
    machine : Machine
        The machine.
    letters : Letters
        The messages to send.
    step : callable
        `Machine.step`, or a function that makes a step in which further messages move.

    Raises
    ------
    ModelViolation
        As in `Machine.step`.
    """
    ranks = machine.transport.size
    # The key names the sender's rank and the index of the value there. A step carries one integer
    # per message, whatever the size of the value.
    payload = letters.keys * ranks + machine.transport.rank
    keys, counts = letters.leaving(machine)
    inbox = step(letters.senders, letters.ports, payload, word=len(keys))
    tables: list[Any] = [{}] * ranks
    # The step reports to all ranks whether any value goes to another rank. If none does, all ranks
    # skip the second exchange.
    if inbox.total:
        tables = _shared_values(machine, keys, counts, letters.values)
    tables[machine.transport.rank] = letters.values
    return Arrived(inbox, tables)


def _shared_values(machine: Machine, leaving: Ints, counts: Ints, values: list[Any]) -> list[Any]:
    """Send each rank the values for its processors; return the values for this rank."""
    texts = []
    for places in np.split(leaving, np.cumsum(counts)[:-1]):
        # A value for several processors of a rank is sent to this rank only once.
        keys = np.unique(places).tolist()
        texts.append(to_bytes((keys, [values[key] for key in keys])) if keys else b"")
    return [
        dict(zip(*from_bytes(text), strict=True)) if text else {}
        for text in exchange_texts(machine.transport, texts)
    ]


def exchange_by_owner(
    machine: Machine, targets: Ints, packed: Callable[[list[int]], bytes]
) -> tuple[Ints, list[bytes]]:
    """Send each other rank the values for its processors (collective).

    Parameters
    ----------
    machine : Machine
        The machine.
    targets : ndarray of int64, shape (values,)
        Target processor of each value.
    packed : callable
        Returns the packed values at the given indices.

    Returns
    -------
    leaving : ndarray of int64
        Indices of the values for other ranks.
    texts : list of bytes
        Packed values from each other rank.
    """
    if machine.transport.size == 1:
        return np.empty(0, np.int64), []
    leaving, counts = by_owner(machine, targets)
    parts = np.split(leaving, np.cumsum(counts)[:-1])
    texts = [packed(part.tolist()) if len(part) else b"" for part in parts]
    return leaving, [text for text in exchange_texts(machine.transport, texts) if text]


def exchange_texts(transport: Local, texts: Sequence[bytes]) -> list[bytes]:
    """Send a byte string to each other rank and return the byte strings received (collective)."""
    sizes = np.array([len(text) for text in texts], np.int64)
    received = transport.exchange(np.frombuffer(b"".join(texts), np.uint8), sizes)
    ends = np.cumsum(received.counts)[:-1]
    return [part.tobytes() for part in np.split(received.records, ends)]
