"""Hashes of data distributed over ranks, line by line in a fixed order and bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np

from mpinet.base.arguments import PortRule
from mpinet.base.arrays import Bytes, Ints, Table
from mpinet.base.files import whole_file
from mpinet.compiled import inlined, kernel
from mpinet.machine.trace import Trace, merged
from mpinet.machine.transport import Local
from mpinet.measure.wiring import links_of
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.networks.walks import Rules, rules

WINDOW = 1 << 16
"""Number of nodes or messages that a rank formats at a time."""


def dealt_lines(
    transport: Local, count: int, lines: Callable[[int, int], bytes], window: int = WINDOW
) -> Iterator[bytes]:
    """Yield the lines of items 0..count-1, window by window, on rank 0 (collective).

    Parameters
    ----------
    transport : Local
        The ranks, which format the windows in turn.
    count : int
        Number of items.
    lines : callable
        ``lines(begin, end)``: returns the lines of the items begin..end-1.
    window : int
        Number of items that a rank formats at a time.
    """
    # Ranks format windows in turn and rank 0 hashes the windows in order. No rank ever holds the
    # whole text.
    for first in range(0, count, window * transport.size):
        begin = min(first + window * transport.rank, count)
        yield from transport.gather(lines(begin, min(begin + window, count)))


def hash_of(parts: Iterator[bytes], write: Callable[[bytes], object] = len) -> str:
    """Return the SHA-256 of all parts; also pass each part to `write`."""
    text = sha256()
    for part in parts:
        text.update(part)
        write(part)
    return text.hexdigest()


def hash_into(parts: Iterator[bytes], path: str | Path | None, transport: Local) -> str:
    """Return the SHA-256 of all parts; rank 0 writes the parts to the file `path` (collective)."""
    if path is None or transport.rank:
        return hash_of(parts)
    with whole_file(Path(path)) as file:
        return hash_of(parts, file.write)


def edge_lines(topology: Topology) -> Callable[[int, int], bytes]:
    """Return a function that formats the links of a window's nodes u to higher v as ``u v``."""

    def lines(begin: int, end: int) -> bytes:
        nodes, others = links_of(topology, begin, end)
        up = others > nodes
        return number_lines(np.stack([nodes[up], others[up]], axis=1))

    return lines


def incidence_lines(topology: Topology) -> Callable[[int, int], bytes]:
    """Return a function that formats sorted lines ``processor bus`` of a window's processors."""

    def lines(begin: int, end: int) -> bytes:
        return number_lines(topology.incidences(np.arange(begin, end)))

    return lines


def schedule_lines(transport: Local, trace: Trace, steps: int) -> Iterator[bytes]:
    """Yield lines ``step sender port receiver`` of a trace's first steps on rank 0 (collective)."""
    for rows in merged(transport, trace.moves)[1]:
        rows = rows[rows["step"] <= steps]
        columns = [rows[name] for name in ("step", "sender", "port", "receiver")]
        yield number_lines(np.stack(columns, axis=1))


def path_lines(
    topology: Topology, routing: Routing, ends: Callable[[Ints], tuple[Ints, Ints]]
) -> Callable[[int, int], bytes]:
    """Return a function that formats the paths of messages, a line of nodes each.

    In bus networks, a line alternates between nodes and busses: ``p bB p ...``.
    """

    def lines(begin: int, end: int) -> bytes:
        sources, targets = ends(np.arange(begin, end))
        text = np.empty(64 * (end - begin) + 64, np.uint8)
        while True:
            length = write_paths(
                rules(topology, routing),
                topology.channel.native,
                int(not topology.links),
                np.ascontiguousarray(sources),
                np.ascontiguousarray(targets),
                text,
            )
            if length >= 0:
                return text[:length].tobytes()
            text = np.empty(2 * len(text), np.uint8)

    return lines


def number_lines(rows: Ints) -> bytes:
    """Return a line for each row, with non-negative numbers separated by single blanks."""
    rows = np.ascontiguousarray(rows, np.int64)
    text = np.empty(rows.size * NUMBER_WIDTH, np.uint8)
    return text[: write_rows(rows, text)].tobytes()


NUMBER_WIDTH = 20
"""Largest number of characters of a number and its separator."""

ZERO, BLANK, NEWLINE, BUS = b"0 \nb"


@inlined
def write_number(number, text, place):
    """Write a number's digits into a buffer; return the position after the last digit."""
    digits, rest = 1, number // 10
    # Division yields the lowest digit first. The number of digits gives the position of this digit,
    # because the next number follows directly.
    while rest:
        digits += 1
        rest //= 10
    for i in range(place + digits - 1, place - 1, -1):
        text[i] = ZERO + number % 10
        number //= 10
    return place + digits


@kernel
def write_rows(rows: Table, text: Bytes) -> int:
    """Write a line for each row into a buffer; return the length of the text."""
    place = 0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            place = write_number(rows[i, j], text, place)
            text[place] = BLANK
            place += 1
        text[place - 1] = NEWLINE
    return place


@kernel
def write_paths(
    rules: Rules,
    channel_rule: PortRule,
    busses: int,
    sources: Ints,
    targets: Ints,
    text: Bytes,
) -> int:
    """Write a line for each path into a buffer; return the length, -1 if out of space."""
    neighbor, start, decide = rules.neighbor.call, rules.start.call, rules.decide.call
    wiring, wayfinding, channel = rules.wiring, rules.wayfinding, channel_rule.call
    header = np.empty(rules.words, np.int64)
    place = 0
    for i in range(sources.size):
        node = sources[i]
        # Some start rules set only the words that they use. Without this reset, words of the
        # previous message would be read.
        header[:] = 0
        start(node, targets[i], header, wayfinding)
        while True:
            # A node, a bus and their separators have to fit. Otherwise the caller doubles the
            # buffer and starts again.
            if place + 3 * NUMBER_WIDTH > text.size:
                return -1
            place = write_number(node, text, place)
            port = decide(node, header, wayfinding)
            if port < 0:
                break
            text[place] = BLANK
            place += 1
            if busses:
                text[place] = BUS
                place = write_number(channel(node, port, wiring), text, place + 1)
                text[place] = BLANK
                place += 1
            node = neighbor(node, port, wiring)
        text[place] = NEWLINE
        place += 1
    return place
