"""Conversion of recordings to trace files: Perfetto and Chrome, Paje, and a table of intervals.

A step is a millisecond of trace time. A movement in step s lasts from s - 1 to s and is shown at
its sender.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.files import whole_file
from mpinet.report.recordings import MOVES, Recording, is_timed
from mpinet.report.timedtraces import LINKS, arrow, clock, event_slice, meta, moment, timed_events

STEP = 1000
"""Microseconds of trace time per step."""

AT_ONCE = 1 << 14
"""Number of events formatted at a time."""


class TraceFormat(NamedTuple):
    """Format of trace files: its endings and its writer."""

    endings: tuple[str, ...]
    lines: Callable[[Recording], Iterator[str]]


def write_trace(recording: Recording, kind: str, path: Path) -> None:
    """Write a recording as a trace file; `kind` is a key of `KINDS`."""
    with whole_file(path) as file:
        waiting: list[str] = []
        for line in KINDS[kind].lines(recording):
            waiting.append(line)
            if len(waiting) == AT_ONCE:
                file.write("".join(waiting).encode())
                waiting = []
        file.write("".join(waiting).encode())


def perfetto(recording: Recording) -> Iterator[str]:
    """Yield the Trace Event Format: a thread per processor, a slice per movement or call, arrows.

    Arrows follow the hops of a message. If messages have no numbers, an arrow leads from a movement
    to the receiver's next movement.
    """
    header, moves = recording.header, recording.moves
    metadata = json.dumps({key: value for key, value in header.items() if key != "sites"})
    yield f'{{"displayTimeUnit":"ms","otherData":{metadata},"traceEvents":[\n'
    title = json.dumps(f"mpinet {header['command']} on {header['topology']}")
    yield f'{{"ph":"M","pid":1,"name":"process_name","args":{{"name":{title}}}}}'
    timed = is_timed(header)
    yield from timed_events(recording) if timed else _step_events(recording)
    for place, ends in enumerate(_arrows(moves)):
        for phase, at in zip("sf", ends, strict=True):
            sender, port, step = (int(moves[name][at]) for name in ("sender", "port", "step"))
            if timed:
                begin = clock(*moment(header, int(moves["begin"][at])))
                yield arrow(LINKS, sender * header["ports"] + port + 1, begin, phase, place + 1)
            else:
                yield arrow(1, sender + 1, (step - 1) * STEP + STEP // 2, phase, place + 1)
    yield "\n]}\n"


def _step_events(recording: Recording) -> Iterator[str]:
    """Yield the events of a run in steps: names of tracks, then slices."""
    for node in _nodes(recording):
        what = "processor" if node < recording.header["hosts"] else "switch"
        yield meta(1, node + 1, "thread_name", "name", f"{what} {node}")
        yield meta(1, node + 1, "thread_sort_index", "sort_index", node)
    yield from _in_time(recording)


def _nodes(recording: Recording) -> list[int]:
    """Return the nodes that occur in a recording."""
    columns = [recording.moves["sender"], recording.moves["receiver"]]
    named = np.concatenate([*columns, recording.calls["call_processor"]])
    return [int(node) for node in np.unique(named)]


def _in_time(recording: Recording) -> Iterator[str]:
    """Yield slices ordered by start; at equal start calls come first, longest first."""
    calls, moves, sites = recording.calls, recording.moves, recording.header["sites"]
    begins, ends = calls["call_begin"], calls["call_end"]
    # A call of zero duration comes before a call that starts at the same time, because a viewer
    # would nest it in that call.
    order = np.lexsort((np.arange(len(begins)), ends > begins, begins))
    early = iter(order.tolist())
    call = next(early, None)
    columns = (moves[name].tolist() for name in moves)
    for step, sender, port, receiver, message in zip(*columns, strict=True):
        while call is not None and begins[call] < step:
            yield _call_slice(calls, sites, call)
            call = next(early, None)
        name = f"message {message}" if message >= 0 else f"to {receiver}"
        told = f'"port":{port},"to":{receiver}'
        yield event_slice(1, sender + 1, (step - 1) * STEP, STEP, "message", name, told)
    while call is not None:
        yield _call_slice(calls, sites, call)
        call = next(early, None)


def _call_slice(calls: dict[str, Ints], sites: list[list[Any]], place: int) -> str:
    name, file, line = sites[calls["call_site"][place]]
    begin, end = int(calls["call_begin"][place]), int(calls["call_end"][place])
    where = json.dumps(f"{file}:{line}" if file else "")
    track, length = calls["call_processor"][place] + 1, (end - begin) * STEP
    return event_slice(1, track, begin * STEP, length, "call", name, f'"at":{where}')


def _arrows(moves: dict[str, Ints]) -> Iterator[tuple[int, int]]:
    """Yield pairs of consecutive movements: hops of a message, or a movement and the next send."""
    places = np.arange(len(moves["step"]))
    numbered = places[moves["message"] >= 0]
    order = numbered[np.lexsort((moves["step"][numbered], moves["message"][numbered]))]
    same = moves["message"][order[1:]] == moves["message"][order[:-1]]
    joined = same & (moves["receiver"][order[:-1]] == moves["sender"][order[1:]])
    yield from zip(order[:-1][joined].tolist(), order[1:][joined].tolist(), strict=True)
    plain = places[moves["message"] < 0]
    if len(plain) == 0:
        return
    width = int(moves["step"].max()) + 2
    # A combined key of node and step finds each receiver's next send by a single search.
    keys = moves["sender"][plain] * width + moves["step"][plain]
    sorted_places = plain[np.argsort(keys, kind="stable")]
    keys = np.sort(keys, kind="stable")
    wanted = moves["receiver"][plain] * width + moves["step"][plain] + 1
    found = np.searchsorted(keys, wanted)
    there = found < len(keys)
    there[there] = keys[found[there]] // width == moves["receiver"][plain][there]
    yield from zip(plain[there].tolist(), sorted_places[found[there]].tolist(), strict=True)


PAJE_EVENTS = (
    ("DefineContainerType", "Alias Type Name"),
    ("DefineStateType", "Alias Type Name"),
    ("DefineLinkType", "Alias Type StartContainerType EndContainerType Name"),
    ("CreateContainer", "Time Alias Type Container Name"),
    ("DestroyContainer", "Time Type Name"),
    ("PushState", "Time Type Container Value"),
    ("PopState", "Time Type Container"),
    ("StartLink", "Time Type Container Value StartContainer Key"),
    ("EndLink", "Time Type Container Value EndContainer Key"),
)
"""Events of the format with their fields; the index of an event is its number."""

PAJE_TYPES = """\
0 M 0 "machine"
0 P M "processor"
1 C P "call"
2 L M P P "message"
"""
"""Container, state and link types of the trace."""


def _paje_header() -> Iterator[str]:
    """Yield the definitions of the events, then of the types."""
    for number, (event, fields) in enumerate(PAJE_EVENTS):
        yield f"%EventDef Paje{event} {number}\n"
        for field in fields.split():
            yield f"%       {field} {'date' if field == 'Time' else 'string'}\n"
        yield "%EndEventDef\n"
    yield PAJE_TYPES


def paje(recording: Recording) -> Iterator[str]:
    """Yield Paje's format: a container per processor, a link per movement, a state per call."""
    yield from _paje_header()
    header, moves, calls = recording.header, recording.moves, recording.calls
    nodes = _nodes(recording)
    yield f"3 0 m M 0 {json.dumps(header['topology'])}\n"
    for node in nodes:
        what = "processor" if node < header["hosts"] else "switch"
        yield f'3 0 p{node} P m "{what} {node}"\n'
    for event, place in _paje_order(moves, calls):
        yield _paje_line(recording, event, place)
    for node in nodes:
        yield f"4 {header['steps']} P p{node}\n"
    yield f"4 {header['steps']} M m\n"


ENDS, POPS, PUSHES, STARTS = range(4)
"""Kinds of events at one time, in this order."""


def _begins(moves: dict[str, Ints]) -> Ints:
    """Return the start times of movements: one step before the end, or the recorded start times."""
    found: Ints = moves["begin"] if "begin" in moves else moves["step"] - 1
    return found


def _paje_order(moves: dict[str, Ints], calls: dict[str, Ints]) -> Iterator[tuple[int, int]]:
    """Yield events in order of time: the kind of event, and the index of the movement or call."""
    begins, ends = calls["call_begin"], calls["call_end"]
    instant, called, moved = begins == ends, np.arange(len(begins)), np.arange(len(moves["step"]))
    # A call of zero duration is pushed and popped before calls that start at the same time.
    parts = [
        (ENDS, moved, moves["step"], np.full_like(moved, ENDS), moved),
        (POPS, called, ends, np.full_like(called, POPS), np.where(instant, 2 * called + 1, -1)),
        (PUSHES, called, begins, np.where(instant, POPS, PUSHES), 2 * called),
        (STARTS, moved, _begins(moves), np.full_like(moved, STARTS), moved),
    ]
    events = np.concatenate([np.full(len(part[1]), part[0]) for part in parts])
    places, times, ranks, within = (
        np.concatenate([part[k] for part in parts]) for k in range(1, 5)
    )
    for at in np.lexsort((within, ranks, times)).tolist():
        yield int(events[at]), int(places[at])


def _paje_line(recording: Recording, event: int, place: int) -> str:
    moves, calls = recording.moves, recording.calls
    if event in (ENDS, STARTS):
        number, time = int(moves["message"][place]), int(moves["step"][place])
        value = f'"message {number}"' if number >= 0 else '"message"'
        if event == STARTS:
            return f"7 {_begins(moves)[place]} L m {value} p{moves['sender'][place]} k{place}\n"
        return f"8 {time} L m {value} p{moves['receiver'][place]} k{place}\n"
    processor = calls["call_processor"][place]
    if event == POPS:
        return f"6 {calls['call_end'][place]} C p{processor}\n"
    name = recording.header["sites"][calls["call_site"][place]][0]
    return f"5 {calls['call_begin'][place]} C p{processor} {json.dumps(name)}\n"


def table(recording: Recording) -> Iterator[str]:
    """Yield a line of CSV for every movement, then for every call."""
    yield "kind,begin,end,processor,port,to,message,call,file,line\n"
    moves, calls = recording.moves, recording.calls
    begins = _begins(moves)
    for begin, step, sender, port, receiver, message in zip(
        begins.tolist(), *(moves[name].tolist() for name in MOVES), strict=True
    ):
        number = message if message >= 0 else ""
        yield f"message,{begin},{step},{sender},{port},{receiver},{number},,,\n"
    columns = ("call_begin", "call_end", "call_processor", "call_site")
    for begin, end, processor, site in zip(
        *(calls[column].tolist() for column in columns), strict=True
    ):
        name, file, line = recording.header["sites"][site]
        where = f'"{file}",{line}' if file else ","
        yield f"call,{begin},{end},{processor},,,,{name},{where}\n"


KINDS = {
    "perfetto": TraceFormat((".json",), perfetto),
    "paje": TraceFormat((".trace", ".paje"), paje),
    "csv": TraceFormat((".csv",), table),
}
"""Formats of trace files, by name."""
