"""The critical path of a run in time: a chain of moments, each the cause of the next.

The path is followed from the end of the run back to its begin. Each moment has a cause that ended
at exactly this time. The cause of a begin is the last fulfilled requirement, or the operation that
freed the CPU or the NIC. The cause of a crossing is the arrival of the message, or the message that
left the link. The run time is therefore the sum of the costs of all pieces, each a multiple of
parameters. The count of a parameter on the path is the time saved per unit of this parameter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mpinet.machine.timed import layout
from mpinet.machine.timed.costs import Costs
from mpinet.machine.timed.layout import (
    BEGIN,
    CALC,
    END,
    INDEX,
    NODE,
    NOTE_BITS,
    PLACE,
    READY,
    RECV,
    SEND,
    SOURCE,
    WHAT,
)
from mpinet.machine.timed.moments import Moments
from mpinet.machine.timed.program import Program
from mpinet.networks.routing import Routing, path
from mpinet.networks.topology import Topology

KINDS = ("cpu", "nic", "latency", "bandwidth", "waiting")
"""Kinds of time on a critical path; waiting is time for links busy with other messages."""

Moment = tuple[Callable[..., Any], tuple[int, ...]] | None
"""The previous moment: a function that continues the path, and its arguments; None: the run's
begin.
"""


@dataclass(frozen=True)
class CriticalPiece:
    """A piece of the critical path."""

    begin: int
    """Time at which the piece begins."""
    end: int
    """Time at which the piece ends."""
    kind: str
    """One of `KINDS`."""
    row: int
    """The operation's row in the program; for a message the row of its send."""
    link: tuple[int, int] | None = None
    """Node and port of the link, if a link takes the time."""
    behind: int | None = None
    """Row of the send of the message that occupies the link, for a piece of waiting."""


class Chain:
    """The critical path of a run.

    Parameters
    ----------
    moments : Moments
        Recorded times of the run.
    program : Program
        The program, with the processors of the network.
    costs : Costs
        Costs of processors and links.
    topology, routing : Topology, Routing, optional
        The network; None: there is none.
    processor, time : int
        Processor and time at the end of the run.
    """

    def __init__(
        self,
        moments: Moments,
        program: Program,
        costs: Costs,
        topology: Topology | None,
        routing: Routing | None,
        processor: int,
        time: int,
    ):
        self._moments, self._program, self._costs = moments, program, costs
        self._topology, self._routing = topology, routing
        self._eager = layout.NEVER if costs.eager is None else costs.eager
        self._classes = max(len(costs.latencies), len(costs.byte_times))
        self.pieces: list[CriticalPiece] = []
        """The path, from the begin of the run to its end."""
        self.counts: Counter[str] = Counter()
        """Number of occurrences of each parameter on the path, by name: overhead, overhead_byte,
        gap, gap_byte, flat, ``latency K`` and ``time_byte K`` of class K. Also the time of calcs.
        """
        self._now, self._since, self._waits = time, -1, -1
        # Each moment is a function and its arguments: recursion would be too deep
        # for paths of millions of moments.
        moment = self._last(processor) if time else None
        while moment is not None:
            ask, about = moment
            moment = ask(*about)
        self.pieces.reverse()

    # ------------------------------------------------------------------ pieces, and their costs

    def _spend(
        self,
        time: int,
        kind: str,
        row: int,
        counts: dict[str, int],
        link: tuple[int, int] | None = None,
    ) -> None:
        """Follow the path back by a piece of the path."""
        end, self._now = self._now, self._now - time
        self.counts.update(counts)
        # From `_since` on the message was ready, but other messages used the link. This part counts
        # as waiting, not as the piece's own cost.
        if self._since >= 0 and end > self._since:
            begin = max(self._now, self._since)
            self.pieces.append(CriticalPiece(begin, end, "waiting", self._waits, self._busy, row))
            end = begin
        if self._now <= self._since:
            self._since = -1
        if end > self._now:
            self.pieces.append(CriticalPiece(self._now, end, kind, row, link))

    def _size(self, send: int) -> int:
        return int(self._program.amount[send])

    def _kind(self, node: int, port: int) -> int:
        assert self._topology is not None
        return min(int(self._topology.link_class(node, port)), self._classes - 1)

    def _latency(self, kind: int) -> int:
        return self._costs.latencies[min(kind, len(self._costs.latencies) - 1)]

    def _pass(self, note: list[int], send: int) -> None:
        """Follow the path back by the latency of a link."""
        kind = self._kind(note[NODE], note[PLACE])
        link = (note[NODE], note[PLACE])
        self._spend(self._latency(kind), "latency", send, {f"latency {kind}": 1}, link)

    def _further(self, send: int) -> int:
        """Return the NIC time of a message's bytes after the first."""
        return (self._size(send) - 1) * self._costs.gap_byte

    def _back(self, send: int) -> tuple[int, dict[str, int]]:
        """Return the latency of the way from a message's receiver to its sender, and its parts."""
        source, target = self._owner(send), int(self._program.peer[send])
        if self._costs.rendezvous == "loggopsim":
            return 0, {}
        if self._topology is None or self._routing is None:
            return self._costs.flat, {"flat": 1}
        if source == target:
            return 0, {}
        nodes, ports = path(self._topology, self._routing, target, source)
        kinds = [self._kind(node, port) for node, port in zip(nodes, ports, strict=False)]
        parts = Counter(f"latency {kind}" for kind in kinds)
        return sum(map(self._latency, kinds)), dict(parts)

    def _owner(self, row: int) -> int:
        return int(self._program.owners_of(row))

    def _send_of(self, note: list[int]) -> int:
        return int(self._program.first[note[SOURCE]]) + note[INDEX]

    def _row_of(self, note: list[int]) -> int:
        return int(self._program.first[note[NODE]]) + note[PLACE]

    # ------------------------------------------------------------------------------- operations

    def _last(self, node: int) -> Moment:
        """Return the last moment of the processor that ends last."""
        moments, time = self._moments, self._now
        # Several activities may end at the last moment. Any of them is on a critical path; a fixed
        # order makes the answer reproducible.
        for note in moments.taken_in.at(node, time):
            return self._taken, (self._send_of(note),)
        for note in moments.cpus.at(node, time):
            return self._computed, (self._row_of(note), note[BEGIN])
        for row in range(self._program.first[node], self._program.first[node + 1]):
            if self._done_at(row) == time:
                return self._done, (row,)
        raise AssertionError(f"nothing ends at processor {node} at {time}")

    def _done_at(self, row: int) -> int | None:
        """Return the end time of an operation; None: it never ended."""
        program, moments = self._program, self._moments
        if program.kind[row] == RECV:
            note = moments.matched.one(row)
            return None if note is None else note[END]
        note = moments.began.one(row)
        if note is None or program.kind[row] == CALC or self._size(row) <= self._eager:
            return None if note is None else note[END]
        met = moments.met.one(row)
        return None if met is None else max(note[END], met[BEGIN] + self._back(row)[0])

    def _done(self, row: int) -> Moment:
        """Follow the path back from the end of an operation."""
        program, moments, time = self._program, self._moments, self._now
        if program.kind[row] == RECV:
            note = moments.matched.one(row, END, time)
            assert note is not None
            send = self._send_of(note)
            # A receive ends with its message, or at once if the message came first: these are
            # different predecessors.
            if moments.taken.one(send, END, time) is not None:
                return self._taken, (send,)
            return self._began, (row,)
        began = moments.began.one(row, END, time)
        if began is not None:
            return self._computed, (row, began[BEGIN])
        back, parts = self._back(row)
        self._spend(back, "latency", row, parts)
        note = moments.met.one(row, BEGIN, self._now)
        assert note is not None
        if moments.taken.one(row, BEGIN, self._now) is not None:
            return self._taking, (row,)
        return self._began, (self._row_of(note),)

    def _computed(self, row: int, begin: int) -> Moment:
        """Follow the path back by the CPU time of a calc or a send."""
        amount = int(self._program.amount[row])
        if self._program.kind[row] == CALC:
            self._spend(self._now - begin, "cpu", row, {"calc": amount})
        else:
            parts = {"overhead": 1, "overhead_byte": amount - 1}
            self._spend(self._now - begin, "cpu", row, parts)
        return self._began, (row,)

    def _began(self, row: int) -> Moment:
        """Follow the path back from the begin of an operation.

        The previous moment is its release, or the time when a CPU or NIC became free.
        """
        program, node = self._program, self._owner(row)
        # Requirements before resources: if both were fulfilled now, the user can change the
        # dependency.
        required = self._required(row)
        if required is not None or self._now == 0:
            return required
        blocked = self._left_cpu(node, int(program.cpu[row]))
        if blocked is not None:
            return blocked
        for note in self._moments.sending.at(node, self._now):
            if note[BEGIN] < self._now and program.kind[row] == SEND:
                return self._left_nic(note, self._row_of(note), self._began)
        raise AssertionError(f"nothing kept an operation of {node} at {self._now}")

    def _required(self, row: int) -> Moment:
        """Return the first requirement fulfilled at the current time; None if there is none."""
        for moment, time in self._needs(row):
            # Any requirement fulfilled at this time is tight. The first in program order is taken.
            if time == self._now:
                return moment
        return None

    def _needs(self, row: int) -> list[tuple[Moment, int]]:
        """Return an operation's requirements, each with the time of its fulfilment."""
        program, moments = self._program, self._moments
        first, found = int(program.first[self._owner(row)]), list[tuple[Moment, int]]()
        for need in program.needs[program.needs_first[row] : program.needs_first[row + 1]].tolist():
            needed = first + (need >> 1)
            if not need & 1:
                time = self._done_at(needed)
                moment: Moment = (self._done, (needed,))
            else:
                table = moments.posted if program.kind[needed] == RECV else moments.began
                note = table.one(needed)
                time = None if note is None else note[BEGIN]
                moment = (self._began, (needed,))
            if time is not None:
                found.append((moment, time))
        return found

    def _left_cpu(self, node: int, cpu: int) -> Moment:
        """Return the activity that freed a CPU at the current time; None if there is none."""
        for note in self._moments.cpus.at(node, self._now):
            if note[WHAT] >> NOTE_BITS == cpu and note[BEGIN] < self._now:
                return self._computed, (self._row_of(note), note[BEGIN])
        for note in self._moments.taken_in.at(node, self._now):
            if note[WHAT] >> NOTE_BITS == cpu and note[BEGIN] < self._now:
                return self._taken, (self._send_of(note),)
        return None

    def _left_nic(self, note: list[int], send: int, ask: Callable[[int], Moment]) -> Moment:
        """Follow the path back by the NIC time of the previous message."""
        parts = {"gap": 1, "gap_byte": self._size(send) - 1}
        self._spend(self._now - note[BEGIN], "nic", send, parts)
        return ask, (send,)

    # --------------------------------------------------------------------------------- messages

    def _taken(self, send: int) -> Moment:
        """Follow the path back from the end of a message's reception.

        The path continues by CPU and NIC time, or by the arrival of the last byte.
        """
        costs, more = self._costs, self._size(send) - 1
        note = self._moments.taken.one(send, END, self._now)
        assert note is not None
        if self._topology is not None:
            parts = {"overhead": 1, "overhead_byte": more}
            self._spend(self._now - note[BEGIN], "cpu", send, parts)
            return self._taking, (send,)
        # The same maximum as in the kernel determines the parameter charged for the bytes.
        each = max(costs.overhead_byte, costs.gap_byte)
        if note[BEGIN] + costs.overhead + more * each != self._now:
            self._spend(costs.overhead, "cpu", send, {"overhead": 1})
            return self._come, (send,)
        if costs.gap_byte > costs.overhead_byte:
            self._spend(more * each, "nic", send, {"gap_byte": more})
            self._spend(costs.overhead, "cpu", send, {"overhead": 1})
        else:
            parts = {"overhead": 1, "overhead_byte": more}
            self._spend(costs.overhead + more * each, "cpu", send, parts)
        return self._taking, (send,)

    def _taking(self, send: int) -> Moment:
        """Follow the path back from the begin of a message's reception."""
        note = self._moments.taken.one(send, BEGIN, self._now)
        assert note is not None
        if note[READY] != self._now:
            blocked = self._left_cpu(note[NODE], note[WHAT] >> NOTE_BITS)
            if blocked is not None:
                return blocked
        return self._admitted(send) if self._topology is None else self._received(send)

    def _received(self, send: int) -> Moment:
        """Follow the path back from the time when a NIC has received a message of a network."""
        note, further = self._moments.received.one(send, END, self._now), self._further(send)
        assert note is not None
        if note[BEGIN] + further != self._now:
            return self._come, (send,)
        self._spend(further, "nic", send, {"gap_byte": self._size(send) - 1})
        return self._admitted, (send,)

    def _admitted(self, send: int) -> Moment:
        """Follow the path back from the time when a NIC began to receive a message."""
        note = self._moments.received.one(send, BEGIN, self._now)
        assert note is not None
        if note[READY] == self._now:
            return self._reached, (send,)
        ask = self._taking if self._topology is None else self._admitted
        for before in self._moments.receiving.at(note[NODE], self._now):
            if before[BEGIN] < self._now:
                return self._left_nic(before, self._send_of(before), ask)
        raise AssertionError(f"nothing kept a message of {note[SOURCE]} at {self._now}")

    def _takes_links(self, send: int) -> bool:
        """Return True if a message uses links: to another processor of a network."""
        return self._topology is not None and self._owner(send) != self._program.peer[send]

    def _reached(self, send: int) -> Moment:
        """Follow the path back from the arrival of the first byte of a message."""
        if not self._takes_links(send):
            if self._topology is None:
                self._spend(self._costs.flat, "latency", send, {"flat": 1})
            return self._entered, (send,)
        return self._over(send, self._moments.last_hop(send) + 1)

    def _come(self, send: int) -> Moment:
        """Follow the path back from the arrival of the last byte of a message."""
        if not self._takes_links(send):
            parts = {"gap_byte": self._size(send) - 1}
            self._spend(self._further(send), "bandwidth", send, parts)
            return self._reached, (send,)
        return self._behind(send, self._moments.last_hop(send) + 1)

    def _entered(self, send: int) -> Moment:
        """Follow the path back from the entry of a message into the network."""
        self._spend(self._costs.overhead, "cpu", send, {"overhead": 1})
        return self._began, (send,)

    def _injected(self, send: int) -> Moment:
        """Follow the path back from the departure of a message's last byte from the NIC."""
        parts = {"gap_byte": self._size(send) - 1}
        self._spend(self._further(send), "nic", send, parts)
        return self._entered, (send,)

    def _note_of(self, send: int, hop: int, word: int) -> list[int]:
        """Return the record of the crossing with one of its times equal to the current time."""
        key = self._moments.crossing(send, hop)
        note = self._moments.crossed.one(key, word, self._now)
        assert note is not None
        return note

    def _earlier(self, send: int, hop: int) -> None:
        """Follow the path back by the latency of a hop."""
        key = self._moments.crossing(send, hop)
        note = self._moments.crossed.one(key)
        assert note is not None
        self._pass(note, send)

    def _over(self, send: int, hop: int) -> Moment:
        """Follow the path back from the time when a message was ready for a hop."""
        store = self._costs.mode == "store"
        if hop == 0:
            return (self._injected if store else self._entered), (send,)
        self._earlier(send, hop - 1)
        return (self._through if store else self._crossing), (send, hop - 1)

    def _behind(self, send: int, hop: int) -> Moment:
        """Follow the path back from the time when a message's last byte was ready for a hop."""
        if hop == 0:
            return self._injected, (send,)
        self._earlier(send, hop - 1)
        return self._through, (send, hop - 1)

    def _through(self, send: int, hop: int) -> Moment:
        """Follow the path back from the time when a link became free."""
        note, size = self._note_of(send, hop, END), self._size(send)
        kind = self._kind(note[NODE], note[PLACE])
        times = self._costs.byte_times
        busy = size * times[min(kind, len(times) - 1)]
        if note[BEGIN] + busy != self._now:
            return self._behind(send, hop)
        link = (note[NODE], note[PLACE])
        self._spend(busy, "bandwidth", send, {f"time_byte {kind}": size}, link)
        return self._crossing, (send, hop)

    def _crossing(self, send: int, hop: int) -> Moment:
        """Follow the path back from a message's entry into a link.

        The previous moment is the message's arrival, or the departure of another message.
        """
        note = self._note_of(send, hop, BEGIN)
        if note[READY] == self._now:
            return self._over, (send, hop)
        if self._since < 0:
            self._since, self._waits = note[READY], send
            self._busy = (note[NODE], note[PLACE])
        self._since = min(self._since, note[READY])
        order = _order(note)
        # The predecessor on a server is the last message served earlier, by the server's own order.
        before = [
            other
            for other in self._moments.through.of(self._now).tolist()
            if _order(other) < order and self._is_same(note, other)
        ]
        other = max(before, key=_order)
        return self._through, (self._send_of(other), other[WHAT] >> NOTE_BITS)

    def _is_same(self, one: list[int], other: list[int]) -> bool:
        """Return True if two crossings use the same server."""
        topology = self._topology
        assert topology is not None
        if (one[NODE], one[PLACE]) == (other[NODE], other[PLACE]):
            return True
        if topology.links and not self._costs.half_duplex:
            return False
        channels = [int(topology.channel(each[NODE], each[PLACE])) for each in (one, other)]
        return channels[0] == channels[1]


def _order(note: list[int]) -> tuple[int, ...]:
    """Return the key by which a link orders messages."""
    return note[READY], note[SOURCE], note[INDEX]
