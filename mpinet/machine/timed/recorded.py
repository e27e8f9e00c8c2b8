"""Recordings of runs in time, made from notes: crossings of links, and activities of processors."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import trace as traces
from mpinet.machine.timed import layout
from mpinet.machine.timed.layout import BEGIN, END, INDEX, NODE, NOTE_BITS, PLACE, SOURCE, WHAT
from mpinet.machine.timed.moments import Moments
from mpinet.machine.timed.run import TimedRun

Place = tuple[str, int]
"""Source file and line of an operation; '' and 0 if unknown."""

NICS = ("NIC out", "NIC in")
"""Names of the activities of NICs, among the calls."""


def record(trace: traces.Trace, run: TimedRun, place_of: Callable[[int], Place]) -> int:
    """Write a finished run into this rank's trace; return the time of the last event.

    Parameters
    ----------
    trace : Trace
        An empty trace; its limits apply.
    run : TimedRun
        The run, with notes.
    place_of : callable
        ``place_of(row)`` returns the source file and line of an operation of the program.
    """
    notes, limits = run.notes, trace.limits
    trace.moves = traces.Spill(traces.TIMED)
    moves = (_flights if run.routing is None else _crossings)(run, notes)
    # Limits are applied to the notes at the end: the kernel notes all events, because the critical
    # path needs them.
    moves = moves[(moves["step"] >= limits.first) & (moves["step"] <= limits.last)]
    if limits.nodes is not None:
        near = np.isin(moves["sender"], limits.nodes) | np.isin(moves["receiver"], limits.nodes)
        moves = moves[near]
    trace.moves.fill(traces.in_order(moves))
    last = _note_calls(trace, run, notes, place_of)
    return max(last, int(moves["step"].max(initial=0)))


def _sends(run: TimedRun, notes: Ints) -> Ints:
    """Return, for each note, the row of its message's send."""
    rows: Ints = run.whole.first[notes[:, SOURCE]] + notes[:, INDEX]
    return rows


def _crossings(run: TimedRun, notes: Ints) -> traces.Records:
    """Return the messages over links, each until the arrival of its last byte at the next node."""
    notes = notes[notes[:, WHAT] & layout.NOTE_KINDS == layout.CROSSED]
    moves = np.zeros(len(notes), traces.TIMED)
    topology, nodes, ports = run.machine.topology, notes[:, NODE].copy(), notes[:, PLACE].copy()
    latencies = np.array(run.costs.latencies)
    kinds = np.minimum(topology.link_class(nodes, ports), len(latencies) - 1)
    moves["sender"], moves["port"] = nodes, ports
    moves["receiver"] = topology.neighbor(nodes, ports)
    moves["message"] = _sends(run, notes)
    moves["begin"], moves["free"] = notes[:, BEGIN], notes[:, END]
    moves["step"] = notes[:, END] + latencies[kinds]
    return moves


def _flights(run: TimedRun, notes: Ints) -> traces.Records:
    """Return the messages of a machine without a network, as in a complete graph."""
    notes = notes[notes[:, WHAT] & layout.NOTE_KINDS == layout.TAKEN]
    notes = notes[notes[:, SOURCE] != notes[:, NODE]]
    moves = np.zeros(len(notes), traces.TIMED)
    sends, size = _sends(run, notes), run.machine.topology.size
    moves["sender"], moves["receiver"] = notes[:, SOURCE], notes[:, NODE]
    # The port numbering of a complete graph: pictures and players then need no special case for
    # flat machines.
    moves["port"] = (notes[:, NODE] - notes[:, SOURCE] - 1) % size
    moves["message"] = sends
    moves["begin"] = notes[:, layout.READY] - run.costs.flat
    last = notes[:, layout.READY] + (run.whole.amount[sends] - 1) * run.costs.gap_byte
    moves["step"] = moves["free"] = last
    return moves


def _note_calls(
    trace: traces.Trace, run: TimedRun, notes: Ints, place_of: Callable[[int], Place]
) -> int:
    """Record the activities of CPUs and NICs, by end time; return the time of the last end."""
    program, costs = run.whole, run.costs
    moments = Moments(notes, program, costs)
    found: list[tuple[int, int, int, str, int]] = []
    for note in moments.began.notes.tolist():
        row = int(program.first[note[NODE]]) + note[PLACE]
        kind = layout.KINDS[int(program.kind[row])]
        found.append((note[END], note[NODE], note[BEGIN], _on_cpu(kind, note), row))
        if kind == "send":
            found.append((*_nic(run, note, row), NICS[0], row))
    for note in moments.taken.notes.tolist():
        send = int(program.first[note[SOURCE]]) + note[INDEX]
        matched = moments.met.one(send)
        row = -1 if matched is None else int(program.first[note[NODE]]) + matched[PLACE]
        found.append((note[END], note[NODE], note[BEGIN], _on_cpu("recv", note), row))
        received = moments.received.one(send)
        assert received is not None
        found.append((*_nic(run, received, send), NICS[1], row))
    for end, processor, begin, name, row in sorted(found):
        file, line = place_of(row) if row >= 0 else ("", 0)
        trace.calls.note(processor, begin, end, (name, file, line))
    return max((call[0] for call in found), default=0)


def _on_cpu(kind: str, note: list[int]) -> str:
    """Return the name of a CPU's activity; the first CPU is not named."""
    cpu = note[WHAT] >> NOTE_BITS
    return f"{kind} cpu {cpu}" if cpu else kind


def _nic(run: TimedRun, note: list[int], send: int) -> tuple[int, int, int]:
    """Return the end time, processor and begin time of a message's use of a NIC."""
    more = int(run.whole.amount[send]) - 1
    return note[BEGIN] + run.costs.gap + more * run.costs.gap_byte, note[NODE], note[BEGIN]
