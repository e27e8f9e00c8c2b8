"""Recordings in simulated time for Perfetto: processors' CPUs and NICs, and links, as tracks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from mpinet.base.units import SECONDS
from mpinet.report.recordings import UNITS, Recording

PROCESSORS, LINKS = 1, 2
"""Groups of tracks."""


def clock(unit: str, time: int) -> str:
    """Return a time in microseconds, as text in the form of the trace format.

    Examples
    --------
    >>> clock("ps", 1234567), clock("ms", 3)
    ('1.234567', '3000')
    """
    # Perfetto counts in microseconds; decimals preserve the picoseconds.
    power = 3 * (UNITS.index("us") - UNITS.index(unit))
    if power >= 0:
        return str(time * 10**power)
    whole, rest = divmod(time, 10**-power)
    return f"{whole}.{rest:0{-power}}" if rest else str(whole)


def moment(header: Mapping[str, Any], time: int) -> tuple[str, int]:
    """Return a time of a recording as a whole number of a unit, and the unit.

    A time counted in ticks shorter than its unit is rounded to the femtosecond.
    """
    unit, ticks = header["unit"], header.get("ticks", 1)
    if ticks == 1:
        return unit, time
    return "fs", round(Fraction(time, ticks) * (SECONDS[unit] / SECONDS["fs"]))


def track_of(call: str) -> str:
    """Return the track of a call at its processor, '' for the processor's first CPU.

    Examples
    --------
    >>> track_of("send"), track_of("recv cpu 1"), track_of("NIC out")
    ('', 'cpu 1', 'NIC out')
    """
    if call.startswith("NIC"):
        return call
    return call[call.index("cpu ") :] if " cpu " in call else ""


def timed_events(recording: Recording) -> Iterator[str]:
    """Yield the events of a run in simulated time: names of tracks, then slices."""
    header, moves, calls = recording.header, recording.moves, recording.calls
    for group, name in ((PROCESSORS, "processors"), (LINKS, "links")):
        yield meta(group, 0, "process_name", "name", name)
        yield meta(group, 0, "process_sort_index", "sort_index", group)
    tracks = [track_of(site[0]) for site in header["sites"]]
    names = sorted(set(tracks))
    number = np.array([names.index(track) for track in tracks], np.int64)
    track = calls["call_processor"] * len(names) + number[calls["call_site"]]
    for place in np.unique(track).tolist():
        node, which = divmod(place, len(names))
        yield meta(PROCESSORS, place + 1, "thread_name", "name", f"{node} {names[which]}".strip())
        yield meta(PROCESSORS, place + 1, "thread_sort_index", "sort_index", place)
    link = moves["sender"] * max(1, header["ports"]) + moves["port"]
    _, first = np.unique(link, return_index=True)
    for at in first.tolist():
        ends = f"{moves['sender'][at]} to {moves['receiver'][at]}"
        yield meta(LINKS, int(link[at]) + 1, "thread_name", "name", ends)
        yield meta(LINKS, int(link[at]) + 1, "thread_sort_index", "sort_index", int(link[at]))
    yield from _calls(recording, track)
    for place, begin, free, message in zip(
        *(array.tolist() for array in (link, moves["begin"], moves["free"], moves["message"])),
        strict=True,
    ):
        yield _slice(LINKS, place, header, begin, free, f"message {message}", "link", "")


def _calls(recording: Recording, track: np.ndarray) -> Iterator[str]:
    calls, header = recording.calls, recording.header
    columns = ("call_begin", "call_end", "call_site")
    for place, begin, end, number in zip(
        track.tolist(), *(calls[name].tolist() for name in columns), strict=True
    ):
        name, file, line = header["sites"][number]
        at = f"{file}:{line}" if file and line else file
        yield _slice(PROCESSORS, place, header, begin, end, name, "call", at)


def _slice(
    group: int,
    track: int,
    header: Mapping[str, Any],
    begin: int,
    end: int,
    name: str,
    kind: str,
    at: str,
) -> str:
    (unit, begin), (_, end) = moment(header, begin), moment(header, end)
    where = f'"at":{json.dumps(at)}' if at else ""
    return event_slice(
        group, track + 1, clock(unit, begin), clock(unit, end - begin), kind, name, where
    )


def event_slice(
    group: int, track: int, begin: int | str, length: int | str, kind: str, name: str, told: str
) -> str:
    """Return a slice on a track; `told` is the text of its details, empty for none."""
    more = f',"args":{{{told}}}' if told else ""
    return (
        f',\n{{"ph":"X","pid":{group},"tid":{track},"ts":{begin},"dur":{length},'
        f'"cat":"{kind}","name":{json.dumps(name)}{more}}}'
    )


def meta(group: int, track: int, what: str, field: str, value: object) -> str:
    """Return the event that sets the name or position of a track."""
    return (
        f',\n{{"ph":"M","pid":{group},"tid":{track},"name":"{what}",'
        f'"args":{{"{field}":{json.dumps(value)}}}}}'
    )


def arrow(group: int, track: int, time: int | str, phase: str, number: int) -> str:
    """Return one end of an arrow between two tracks on a message's route."""
    binding = ',"bp":"e"' if phase == "f" else ""
    return (
        f',\n{{"ph":"{phase}","id":{number},"cat":"message","name":"hop","pid":{group},'
        f'"tid":{track},"ts":{time}{binding}}}'
    )
