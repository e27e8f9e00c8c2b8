"""Sorted notes of a run in time, for searches by time; and accounts of processors' times."""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import TooLarge
from mpinet.machine.timed import layout
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.layout import BEGIN, END, INDEX, NODE, NOTE_BITS, PLACE, SOURCE, WHAT
from mpinet.machine.timed.program import Program
from mpinet.machine.transport import Local


class NoteTable:
    """Notes sorted by key, then by time.

    Parameters
    ----------
    notes : ndarray of int64, shape (n, 8)
        The notes, in an order independent of ranks.
    keys : ndarray of int64, shape (n,)
        Keys of the notes.
    times : ndarray of int64, shape (n,), optional
        Times of the notes; default: their begins.
    """

    def __init__(self, notes: Ints, keys: Ints, times: Ints | None = None):
        times = notes[:, BEGIN] if times is None else times
        # Sorted once, then searched by bisection: the critical path needs single notes, in random
        # order. Sorting is stable, so ties keep the order of the notes.
        order = np.lexsort((times, keys))
        self.keys, self.notes, self._times = keys[order], notes[order], times[order]

    def of(self, key: int) -> Ints:
        """Return the notes with a key; shape (k, 8)."""
        first, last = np.searchsorted(self.keys, [key, key + 1])
        return self.notes[first:last]

    def at(self, key: int, time: int) -> list[list[int]]:
        """Return the notes with a key and a time."""
        begin, end = np.searchsorted(self.keys, [key, key + 1])
        first, last = begin + np.searchsorted(self._times[begin:end], [time, time + 1])
        found: list[list[int]] = self.notes[first:last].tolist()
        return found

    def one(self, key: int, word: int = BEGIN, value: int | None = None) -> list[int] | None:
        """Return the first note with a key and a value of a word; None if there is none."""
        found = self.of(key)
        if value is not None:
            found = found[found[:, word] == value]
        return found[0].tolist() if len(found) else None


class Moments:
    """All notes of a run.

    Parameters
    ----------
    notes : ndarray of int64, shape (n, 8)
        Notes of all ranks, in any order.
    program : Program
        The program, with the processors of the network.
    costs : Costs
        Costs of processors and links.
    """

    began: NoteTable
    """Begins of calcs and sends, by the operation's row."""
    posted: NoteTable
    """Posts of receives, by the operation's row."""
    matched: NoteTable
    """Matches of receives, by the operation's row."""
    met: NoteTable
    """Matches of messages, by the row of the send."""
    cpus: NoteTable
    """Operations by the time at which their CPU became free."""
    taken_in: NoteTable
    """Messages by the time at which the receiver's CPU became free."""

    def __init__(self, notes: Ints, program: Program, costs: Costs):
        kinds = notes[:, WHAT] & layout.NOTE_KINDS

        def of(kind: int) -> Ints:
            found: Ints = notes[kinds == kind]
            return found

        def operations(rows: Ints) -> Ints:
            found: Ints = program.first[rows[:, NODE]] + rows[:, PLACE]
            return found

        def sends(rows: Ints) -> Ints:
            found: Ints = program.first[rows[:, SOURCE]] + rows[:, INDEX]
            return found

        def ended(rows: Ints, ends: Ints) -> NoteTable:
            return NoteTable(rows, rows[:, NODE], ends)

        began, taken, matched = of(layout.BEGAN), of(layout.TAKEN), of(layout.MATCHED)
        posted, crossed, received = of(layout.POSTED), of(layout.CROSSED), of(layout.RECEIVED)
        # Without a network, NIC and CPU begin to receive together.
        received = received if len(received) else taken
        self.began, self.posted = (
            NoteTable(began, operations(began)),
            NoteTable(posted, operations(posted)),
        )
        self.matched, self.met = (
            NoteTable(matched, operations(matched)),
            NoteTable(matched, sends(matched)),
        )
        self.taken: NoteTable = NoteTable(taken, sends(taken))
        """Messages taken in by a CPU, by the row of the send."""
        self.received: NoteTable = NoteTable(received, sends(received))
        """Messages received by a NIC, by the row of the send."""
        hops = crossed[:, WHAT] >> NOTE_BITS
        self._most = int(hops.max(initial=0)) + 1
        self.crossed: NoteTable = NoteTable(crossed, sends(crossed) * self._most + hops)
        """Crossings of links, by `crossing`."""
        self.through: NoteTable = NoteTable(crossed, crossed[:, END])
        """Crossings of links, by the time at which the link became free."""
        began, taken, received = self.began.notes, self.taken.notes, self.received.notes
        self.cpus, self.taken_in = ended(began, began[:, END]), ended(taken, taken[:, END])
        sent = began[program.kind[operations(began)] == layout.SEND]

        def nic_ends(rows: Ints, sizes: Ints) -> Ints:
            found: Ints = rows[:, BEGIN] + costs.gap + (sizes - 1) * costs.gap_byte
            return found

        self.sending: NoteTable = ended(sent, nic_ends(sent, program.amount[operations(sent)]))
        """Sends by the time at which the NIC of the sender became free."""
        self.receiving: NoteTable = ended(
            received, nic_ends(received, program.amount[sends(received)])
        )
        """Messages by the time at which the NIC of the receiver became free."""

    def crossing(self, send: int, hop: int) -> int:
        """Return the key in `crossed` for a message's crossing of the link of its `hop`."""
        return send * self._most + hop

    def last_hop(self, send: int) -> int:
        """Return the number of a message's last hop."""
        end = np.searchsorted(self.crossed.keys, (send + 1) * self._most)
        return int(self.crossed.keys[end - 1] % self._most)


def gathered(transport: Local, notes: Ints) -> Ints:
    """Return all ranks' notes on rank 0, none on other ranks (collective)."""
    every = transport.gather(np.ascontiguousarray(notes).tobytes())
    return np.frombuffer(b"".join(every), np.int64).reshape(-1, len(layout.NOTE))


def accounts(transport: Local, notes: Ints, program: Program, ends: Ints) -> dict[str, list[int]]:
    """Return the time that each processor's CPUs computed, sent, received and waited (collective).

    Parameters
    ----------
    transport : Local
        The ranks.
    notes : ndarray of int64, shape (n, 8)
        Notes of this rank.
    program : Program
        The program, with the processors of the network.
    ends : ndarray of int64, shape (processors,)
        End time of each processor. Its CPUs wait whenever they are idle before this time.

    Raises
    ------
    TooLarge
        On every rank: the times of a processor's CPUs together do not fit into 64 bits.
    """
    # Checked before the product below can wrap around; the sum over ranks has the same bound.
    if (program.cpus + 1) * int(ends.max(initial=0)) > layout.NEVER:
        raise TooLarge(
            f"{program.name}: the times of {program.cpus} CPUs together are longer than 2^62 ticks."
        )
    kinds, spent = notes[:, WHAT] & layout.NOTE_KINDS, notes[:, END] - notes[:, BEGIN]
    sums = np.zeros((3, program.processors), np.int64)
    began, taken = kinds == layout.BEGAN, kinds == layout.TAKEN
    calcs = began.copy()
    calcs[began] = program.kind[program.first[notes[began, NODE]] + notes[began, PLACE]] == (
        layout.CALC
    )
    for line, chosen in zip(sums, (calcs, began & ~calcs, taken), strict=True):
        np.add.at(line, notes[chosen, NODE], spent[chosen])
    sums = transport.sum(sums)
    cpus = np.zeros(program.processors, np.int64)
    owners = program.owners
    np.maximum.at(cpus, owners, program.cpu)
    waited = (cpus + 1) * ends - sums.sum(axis=0)
    names = ("computed", "sent", "received", "waited")
    return {name: row.tolist() for name, row in zip(names, [*sums, waited], strict=True)}
