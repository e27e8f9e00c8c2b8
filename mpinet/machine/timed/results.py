"""The results of a run in time, put together from all ranks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.machine.machine import Machine
from mpinet.machine.timed import layout
from mpinet.machine.timed.program import Program
from mpinet.machine.transport import Local

if TYPE_CHECKING:
    from mpinet.machine.timed.run import TimedRun

SHOWN_STUCK = 10
"""Operations that are explained of those that never end."""

SHOWN_LINKS = 10
"""Busiest links that are listed."""

Row = dict[str, Any]


class Playing(Protocol):
    """A run of a program: its machine, the program, and its part of this rank.

    `slots` has the places of the program's processors among those that are hosted here.
    """

    machine: Machine
    program: Program
    part: Program
    slots: Ints


def result_of(run: TimedRun) -> Row:
    """Return the result of a run that is over (collective); the same on all ranks.

    Fields are those of docs/reference/time.md: time, ends, messages, hops, waits, busy, busiest,
    most_bytes, unmatched, stuck, first_stuck, stuck_operations, busiest_links.
    """
    transport, ledger, state = run.machine.transport, run.ledger, run.state
    busy, carried = state.servers["busy"], state.servers["carried"]
    counts = np.array(
        [ledger.messages, ledger.hops, ledger.waits, ledger.unmatched, int(busy.sum())], np.int64
    )
    messages, hops, waits, unmatched, total = (int(n) for n in transport.sum(counts))
    largest = np.array([busy.max(initial=0), carried.max(initial=0)], np.int64)
    busiest, most_bytes = (int(n) for n in transport.max(largest))
    ends = _ends(run)
    stuck, first = stuck_of(run, state.operations)
    return {
        "time": int(ends.max(initial=0)),
        "ends": ends.tolist(),
        "messages": messages,
        "hops": hops,
        "waits": waits,
        "busy": total,
        "busiest": busiest,
        "most_bytes": most_bytes,
        "unmatched": unmatched,
        "stuck": stuck,
        "first_stuck": [first[0]["processor"], first[0]["operation"]] if first else [],
        "stuck_operations": first,
        "busiest_links": _busiest(run, busy, carried),
    }


def _ends(run: TimedRun) -> Ints:
    """Return when each processor of the program is done (collective)."""
    ends = np.zeros(run.program.processors, np.int64)
    nodes = run.machine.nodes
    mine = np.flatnonzero(nodes < len(ends))
    ends[nodes[mine]] = run.state.processors["end"][mine]
    found: Ints = run.machine.transport.sum(ends)
    return found


def _shared(transport: Local, rows: list[Any], least: int) -> list[Any]:
    """Return the first of all ranks' rows, in their order, on every rank (collective)."""
    gathered = transport.gather(json.dumps(rows).encode())
    every = sorted(tuple(row) for text in gathered for row in json.loads(text))
    chosen: list[Any] = json.loads(transport.share(json.dumps(every[:least]).encode()))
    return chosen


def stuck_of(run: Playing, operations: Array, sends: str = "") -> tuple[int, list[Row]]:
    """Return how many operations never ended, and what the first ones wait for (collective).

    Parameters
    ----------
    run : Playing
        The run that is over.
    operations : ndarray of Operation
        Those of this rank.
    sends : str
        What a send waits for that has begun; default: the receive of its message.
    """
    program, nodes = run.part, run.machine.nodes
    rows = np.flatnonzero(operations["done"][: program.operations] == 0)
    count = int(run.machine.transport.sum(np.array([len(rows)], np.int64))[0])
    if not count:
        return 0, []
    slots = program.owners_of(rows)
    owners = nodes[run.slots[slots]]
    order = np.lexsort((rows, owners))[:SHOWN_STUCK]
    mine = [
        (
            int(owners[i]),
            int(rows[i] - program.first[slots[i]]),
            *_waits_for(run, operations, rows[i], sends),
        )
        for i in order
    ]
    names = ("processor", "operation", "line", "kind", "waits_for", "waits_line")
    first = _shared(run.machine.transport, mine, SHOWN_STUCK)
    return count, [dict(zip(names, row, strict=True)) for row in first]


def _waits_for(run: Playing, operations: Array, row: int, sends: str) -> tuple[int, str, str, int]:
    """Return the line and kind of an operation that never ended, what it waits for and its line."""
    program, operation = run.part, operations[row]
    kind = layout.KINDS[int(program.kind[row])]
    line = int(program.lines[row])
    if operation["missing"] > 0:
        slot = int(program.owners_of(row))
        first = int(program.first[slot])
        needs = program.needs[program.needs_first[row] : program.needs_first[row + 1]]
        for need in needs.tolist():
            needed = first + (need >> 1)
            if not operations[needed]["done"]:
                what = layout.KINDS[int(program.kind[needed])]
                return line, kind, f"operation {need >> 1} ({what})", int(program.lines[needed])
    tag = int(program.tag[row])
    tagged = "any tag" if tag == layout.ANY_TAG else f"tag {tag}"
    peer = int(program.peer[row])
    whom = "any processor" if peer == layout.ANY else f"processor {peer}"
    if kind == "recv":
        return line, kind, f"a message from {whom} with {tagged}", other_end(run, row)
    if sends:
        return line, kind, sends, 0
    return line, kind, f"a receive of {whom} with {tagged}", other_end(run, row)


def other_end(run: Playing, row: int) -> int:
    """Return the line of the first operation of the peer that could be the other end; 0: none."""
    part, program = run.part, run.program
    peer, tag = int(part.peer[row]), int(part.tag[row])
    slot = int(part.owners_of(row))
    mine = int(run.machine.nodes[run.slots[slot]])
    if peer == layout.ANY:
        return 0
    begin, end = int(program.first[peer]), int(program.first[peer + 1])
    wanted = layout.SEND if part.kind[row] == layout.RECV else layout.RECV
    rows: Array = np.arange(begin, end)[program.kind[begin:end] == wanted]
    peers = np.isin(program.peer[rows], [mine, layout.ANY])
    tags = (program.tag[rows] == tag) | (program.tag[rows] == layout.ANY_TAG)
    fitting = rows[peers & (tags | (tag == layout.ANY_TAG))]
    return int(program.lines[fitting[0]]) if len(fitting) else 0


def _busiest(run: TimedRun, busy: Ints, carried: Ints) -> list[Row]:
    """Return the links that were busy for longest, the lowest first among equals (collective)."""
    ports, rules = run.machine.topology.ports, run.rules
    places = np.arange(len(busy))
    if rules.serving == layout.BUS:
        names = np.stack([rules.first_bus + places, np.full(len(busy), -1)])
    else:
        names = np.stack([run.machine.nodes[places // ports], places % ports])
    # By names, not by places here: those depend on the mapping.
    chosen = np.lexsort((names[1], names[0], -busy))[:SHOWN_LINKS]
    mine = [
        (-int(busy[i]), int(names[0, i]), int(names[1, i]), int(carried[i]))
        for i in chosen[busy[chosen] > 0]
    ]
    first = _shared(run.machine.transport, mine, SHOWN_LINKS)
    if rules.serving == layout.BUS:
        return [{"bus": node, "busy": -time, "bytes": size} for time, node, _, size in first]
    return [
        {"node": node, "port": port, "busy": -time, "bytes": size}
        for time, node, port, size in first
    ]
