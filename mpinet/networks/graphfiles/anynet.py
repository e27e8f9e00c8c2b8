"""BookSim's anynet files: each line joins a router or node to routers and nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mpinet.base.numerals import quoted
from mpinet.networks.graphfiles.wiring import Wiring

if TYPE_CHECKING:
    import networkx

KINDS = ("router", "node")

End = tuple[str, int]
"""Kind and number of a router or node."""


def read_anynet(data: bytes) -> networkx.Graph:
    """Read an anynet file: routers become switches, nodes processors, cycles of channels latencies.

    Raises
    ------
    ValueError
        A line has a syntax error, a node has two routers, or a link's latency differs by direction.
    """
    ways = dict[tuple[End, End], tuple[int, int]]()
    router = dict[End, End]()
    for line, text in enumerate(data.decode().splitlines(), 1):
        for head, end, cycles in _joined(text.split(), line):
            if head[0] == end[0] == "node":
                raise ValueError(f"line {line}: node {head[1]} is joined to a node")
            for one, other in ((head, end), (end, head)):
                if one[0] == "node" and router.setdefault(one, other) != other:
                    raise ValueError(
                        f"line {line}: node {one[1]} has two routers, {router[one][1]} and "
                        f"{other[1]}"
                    )
            ways[head, end] = cycles, line
    return _wired(ways).finished()


def _joined(words: list[str], line: int) -> Iterator[tuple[End, End, int]]:
    """Yield the pairs of ends that a line joins, each with the channel's latency in cycles."""
    ends: list[list[str]] = []
    for word in words:
        if word in KINDS:
            ends.append([word])
        elif not ends or not (word.isascii() and word.isdecimal() and len(word) < 10):
            raise ValueError(f"line {line}: {quoted(word)} is not router or node with a number")
        else:
            ends[-1].append(word)
    if any(len(end) == 1 or len(end) > 3 for end in ends) or (ends and len(ends[0]) > 2):
        raise ValueError(
            f"line {line}: write a number after router and node, then optionally cycles"
        )
    read = [((end[0], int(end[1])), int(end[2]) if len(end) > 2 else 1) for end in ends]
    for end, cycles in read[1:]:
        if cycles < 1:
            raise ValueError(f"line {line}: a channel takes at least one cycle")
        yield read[0][0], end, cycles


def _wired(ways: dict[tuple[End, End], tuple[int, int]]) -> Wiring:
    """Return the wiring with nodes first, ascending; a direction without a line has latency 1."""
    wiring = Wiring()
    ends = {end for pair in ways for end in pair}
    names = {}
    for kind, number in sorted(ends, key=lambda end: (end[0] == "router", end[1])):
        names[kind, number] = f"{number}" if kind == "node" else f"router {number}"
        wiring.add(names[kind, number], kind == "router")
    timed = any(cycles > 1 for cycles, _ in ways.values())
    for (head, end), (cycles, line) in sorted(ways.items()):
        back = ways.get((end, head), (1, line))[0]
        if back != cycles:
            raise ValueError(
                f"line {line}: the channel from {names[head]} to {names[end]} takes {cycles} "
                f"cycles, the channel back {back}; mpinet needs equal numbers: write {cycles} in "
                "both lines"
            )
        if head < end or (end, head) not in ways:
            wiring.link(names[head], names[end])
            if timed:
                wiring.graph.edges[names[head], names[end], 0]["latency"] = f"{cycles}"
    return wiring
