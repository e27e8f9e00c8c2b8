"""The results of a run in time, combined from all ranks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import TooLarge
from mpinet.machine.machine import Machine
from mpinet.machine.timed import layout
from mpinet.machine.timed.program import Program
from mpinet.machine.timed.scripted import Scripted
from mpinet.machine.transport import Local

if TYPE_CHECKING:
    from mpinet.machine.timed.run import TimedRun

SHOWN_STUCK = 10
"""Largest number of stuck operations to explain."""

SHOWN_LINKS = 10
"""Number of busiest links to list."""

HALF = 32
"""Number of bits of the lower half of a time; sums of halves over all ranks fit into 64 bits."""

Row = dict[str, Any]


def result_of(run: TimedRun) -> Row:
    """Return the result of a finished run, the same on all ranks (collective).

    The fields are explained in docs/reference/time.md: time, ends, messages, hops, waits, busy,
    busiest, most_bytes, unmatched, stuck, first_stuck, stuck_operations, busiest_links.
    """
    transport, ledger, state = run.machine.transport, run.ledger, run.state
    busy, carried = state.servers["busy"], state.servers["carried"]
    counts = np.array([ledger.messages, ledger.hops, ledger.unmatched], np.int64)
    messages, hops, unmatched = (int(n) for n in transport.sum(counts))
    waits, total = (_total(run, np.asarray(times)) for times in ([ledger.waits], busy))
    largest = np.array([busy.max(initial=0), carried.max(initial=0)], np.int64)
    busiest, most_bytes = (int(n) for n in transport.max(largest))
    ends = _ends(run)
    stuck, first = _stuck(run)
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


def _total(run: TimedRun, times: Ints) -> int:
    """Return the sum of all ranks' times (collective).

    Raises
    ------
    TooLarge
        On every rank: the sum exceeds 2^62 ticks, the limit of the sum on one rank.
    """
    # Sums of two halves: the total over all ranks may exceed 64 bits although each rank's sum does
    # not.
    halves = np.array([(times >> HALF).sum(), (times & (1 << HALF) - 1).sum()], np.int64)
    high, low = (int(half) for half in run.machine.transport.sum(halves))
    if (high << HALF) + low > layout.NEVER:
        raise TooLarge(
            run.costs.too_long("The sum of all waiting times, or of all busy times, of links")
        )
    return (high << HALF) + low


def _ends(run: TimedRun) -> Ints:
    """Return the end time of each processor of the program (collective)."""
    # Each rank fills its own entries and leaves zeros elsewhere: one sum gathers all entries
    # without sending indices.
    ends = np.zeros(run.program.processors, np.int64)
    nodes = run.machine.nodes
    mine = np.flatnonzero(nodes < len(ends))
    ends[nodes[mine]] = run.state.processors["end"][mine]
    found: Ints = run.machine.transport.sum(ends)
    return found


def _shared(transport: Local, rows: list[Any], least: int) -> list[Any]:
    """Return the first `least` rows of all ranks, sorted, on every rank (collective)."""
    gathered = transport.gather(json.dumps(rows).encode())
    # A rank sends only its own first rows, because the first `least` rows of all ranks are among
    # them.
    every = sorted(tuple(row) for text in gathered for row in json.loads(text))
    chosen: list[Any] = json.loads(transport.share(json.dumps(every[:least]).encode()))
    return chosen


def _stuck(run: TimedRun) -> tuple[int, list[Row]]:
    """Return the number of stuck operations, and the reasons of the first ones (collective).

    A stuck processor has an unfinished operation among its operations with rows.
    """
    machine, state = run.machine, run.state
    open_rows = np.flatnonzero(
        state.operations["missing"][: int(run.part.rows.sum())] > layout.DONE_WITH
    )
    first = state.processors["first"][run.slots]
    slots = run.slots[np.unique(np.searchsorted(first, open_rows, "right") - 1)]
    slots = slots[np.argsort(machine.nodes[slots], kind="stable")]
    count = sum(int((missing > layout.DONE_WITH).sum()) for missing in map(run.missing, slots))
    slots = slots[:SHOWN_STUCK]
    nodes = machine.nodes[slots]
    undone = np.concatenate([np.zeros(0, np.int64), *map(run.missing, slots)])
    return stuck_of(machine, run.program, run.program.part(nodes), nodes, undone, count=count)


def stuck_of(
    machine: Machine,
    program: Program | Scripted,
    part: Program,
    nodes: Ints,
    missing: Ints,
    sends: str = "",
    count: int | None = None,
) -> tuple[int, list[Row]]:
    """Return the number of stuck operations, and the reasons of the first ones (collective).

    Parameters
    ----------
    machine : Machine
        The machine that played the program.
    program : Program or Scripted
        The program.
    part : Program
        The operations of some of this rank's processors, including the first stuck ones.
    nodes : ndarray of int64
        These processors.
    missing : ndarray of int64
        Number of unfulfilled requirements of each operation at the end, as in `Operation`.
    sends : str
        Reason for sends that have begun but not ended; default: the receive of the message.
    count : int, optional
        Number of stuck operations of this rank; default: the number in `part`.
    """
    rows = np.flatnonzero(missing > layout.DONE_WITH)
    mine = len(rows) if count is None else count
    total = int(machine.transport.sum(np.array([mine], np.int64))[0])
    if not total:
        return 0, []
    slots = part.owners_of(rows)
    told = [
        (
            int(nodes[slots[i]]),
            int(rows[i] - part.first[slots[i]]),
            *_waits_for(program, part, nodes, missing, int(rows[i]), sends),
        )
        for i in np.lexsort((rows, nodes[slots]))[:SHOWN_STUCK]
    ]
    names = ("processor", "operation", "line", "kind", "waits_for", "waits_line")
    first = _shared(machine.transport, told, SHOWN_STUCK)
    return total, [dict(zip(names, row, strict=True)) for row in first]


def _waits_for(
    program: Program | Scripted, part: Program, nodes: Ints, missing: Ints, row: int, sends: str
) -> tuple[int, str, str, int]:
    """Return line and kind of a stuck operation, and the cause and its line."""
    kind = layout.KINDS[int(part.kind[row])]
    line, slot = int(part.lines[row]), int(part.owners_of(row))
    # An unfinished requirement is the cause, not the operation's own message.
    if missing[row] > 0:
        needs = part.needs[part.needs_first[row] : part.needs_first[row + 1]]
        for need in needs.tolist():
            needed = int(part.first[slot]) + (need >> 1)
            if missing[needed] > layout.DONE_WITH:
                what = layout.KINDS[int(part.kind[needed])]
                return line, kind, f"operation {need >> 1} ({what})", int(part.lines[needed])
    tag, peer = int(part.tag[row]), int(part.peer[row])
    tagged = "any tag" if tag == layout.ANY_TAG else f"tag {tag}"
    whom = "any processor" if peer == layout.ANY else f"processor {peer}"
    if sends and kind != "recv":
        return line, kind, sends, 0
    what = f"a message from {whom}" if kind == "recv" else f"a receive of {whom}"
    there = 0 if peer == layout.ANY else other_end(program, part, row, int(nodes[slot]))
    return line, kind, f"{what} with {tagged}", there


def other_end(program: Program | Scripted, part: Program, row: int, mine: int) -> int:
    """Return the line of the peer's first operation that fits as other end; 0: none."""
    tag, theirs = int(part.tag[row]), program.part(np.array([part.peer[row]], np.int64))
    wanted = layout.SEND if part.kind[row] == layout.RECV else layout.RECV
    peers = (theirs.kind == wanted) & np.isin(theirs.peer, [mine, layout.ANY])
    tags = (theirs.tag == tag) | (theirs.tag == layout.ANY_TAG) | (tag == layout.ANY_TAG)
    fitting = np.flatnonzero(peers & tags)
    return int(theirs.lines[fitting[0]]) if len(fitting) else 0


def _busiest(run: TimedRun, busy: Ints, carried: Ints) -> list[Row]:
    """Return the links with the longest busy times, the lowest first among equals (collective)."""
    ports, rules = run.machine.topology.ports, run.rules
    places = np.arange(len(busy))
    if rules.serving == layout.BUS:
        names = np.stack([rules.first_bus + places, np.full(len(busy), -1)])
    else:
        names = np.stack([run.machine.nodes[places // ports], places % ports])
    # Sorted by names, not by indices on this rank, which depend on the mapping.
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
