"""BookSim's anynet files: a line per router or node, with the routers and nodes that it joins."""

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
    """Routers are switches, nodes are processors; a number behind a router is a way's cycles.

    Raises
    ------
    ValueError
        A line is no such one, a node has two routers, or a link takes longer one way than back.
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
    """Read the ends that a line joins, and the cycles from the first to each."""
    ends: list[list[str]] = []
    for word in words:
        if word in KINDS:
            ends.append([word])
        elif not ends or not (word.isascii() and word.isdecimal() and len(word) < 10):
            raise ValueError(
                f"line {line}: {quoted(word)} stands where router or node, and a number, belong"
            )
        else:
            ends[-1].append(word)
    if any(len(end) == 1 or len(end) > 3 for end in ends) or (ends and len(ends[0]) > 2):
        raise ValueError(f"line {line}: router and node have a number, others' cycles a second one")
    read = [((end[0], int(end[1])), int(end[2]) if len(end) > 2 else 1) for end in ends]
    for end, cycles in read[1:]:
        if cycles < 1:
            raise ValueError(f"line {line}: a channel takes a cycle at least")
        yield read[0][0], end, cycles


def _wired(ways: dict[tuple[End, End], tuple[int, int]]) -> Wiring:
    """Join the ends, nodes first, in ascending order; a way that no line tells takes one cycle."""
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
                f"line {line}: the way from {names[head]} to {names[end]} takes {cycles} cycles, "
                f"and the way back {back}; links here are alike both ways: say {cycles} in both "
                "lines"
            )
        if head < end or (end, head) not in ways:
            wiring.link(names[head], names[end])
            if timed:
                wiring.graph.edges[names[head], names[end], 0]["latency"] = f"{cycles}"
    return wiring
