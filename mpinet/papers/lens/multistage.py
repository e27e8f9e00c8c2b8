"""Rows of exchange groups, and the multistage networks (section 7, Figures 3 and 4).

A box, or exchange group, consists of the processors that share their lower busses, and these
busses.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mpinet.claims import Corrected, Measured, claim, points, section
from mpinet.claims.remembered import remembered
from mpinet.measure.libraries import library
from mpinet.networks.catalogue import open_topology
from mpinet.papers.grids import of
from mpinet.papers.lens.grids import SEVEN, circles
from mpinet.papers.lens.symmetry import lens
from mpinet.papers.lens.words import word


@dataclass(frozen=True)
class Box:
    """An exchange group."""

    row: int
    """Number of digits left of its processors' dots."""
    processors: tuple[int, ...]
    """Processors of the box."""
    lower: tuple[int, ...]
    """Shared lower busses, in the order of their places."""
    own: tuple[int, ...]
    """Each processor's bus to the right; -1 for none."""


@remembered(most=32)
def boxes(topology: str) -> tuple[Box, ...]:
    """Return the boxes, derived from the emulator's busses."""
    network = lens(topology)
    groups: dict[tuple[int, ...], list[int]] = {}
    own = {}
    for node in range(network.size):
        places = network.busses_of(node)
        has_own = len(places) == network.radices[1] + 1
        own[node] = places[0] if has_own else -1
        groups.setdefault(tuple(places[int(has_own) :]), []).append(node)
    return tuple(
        Box(
            word(network.address(nodes[0]))[0],
            tuple(nodes),
            lower,
            tuple(own[node] for node in nodes),
        )
        for lower, nodes in groups.items()
    )


claim_7_figure_3 = section(place="7, Figure 3", grid=SEVEN)

ROWS = claim_7_figure_3(
    "LENS-S7-rows",
    claimed=of(
        lambda p, q, n: {k: (p - 1) ** (k - 1) * (q - 1) ** (n - k) for k in range(1, n + 1)}
    ),
    measured=lambda topology: dict(sorted(Counter(box.row for box in boxes(topology)).items())),
)


claim_7 = section(place="7", grid=SEVEN)


@claim_7("LENS-S7-exchange-group", claimed=of(lambda p, q, n: [[p - 1, q - 1, (p - 1) * (q - 1)]]))
def groups(topology: str) -> list[list[int]]:
    """Return the occurring numbers of processors, busses and incidences of boxes."""
    network, found = lens(topology), set()
    for box in boxes(topology):
        on = [node for bus in box.lower for node in network.bus_members(bus)]
        joined = sum(node in box.processors for node in on)
        found.add((len(box.processors), len(box.lower), joined))
    return sorted(map(list, found))


def number_in_row(topology: str, box: Box) -> int:
    """Return a box's number: its digits without its own position, read circularly from the dot."""
    network = lens(topology)
    (R, S), n, k = network.radices, network.level, box.row
    digits = word(network.address(box.processors[0]))[1]
    value = 0
    for place in [*range(k, n), *range(k - 1)]:
        value = value * (S if place >= k else R) + digits[place]
    return value


@claim_7_figure_3(
    "LENS-S7-perfect-shuffle",
    claimed=of(
        lambda p, q, n: {
            "lines": sum((p - 1) ** k * (q - 1) ** (n - k) for k in range(1, n)),
            "shuffled": sum((p - 1) ** k * (q - 1) ** (n - k) for k in range(1, n)),
        }
    ),
)
def shuffled(topology: str) -> Measured:
    """Return whether each line over the emulator's busses follows the shuffle."""
    network = lens(topology)
    (R, S), n = network.radices, network.level
    arrives = {
        bus: number_in_row(topology, box) * S + c
        for box in boxes(topology)
        for c, bus in enumerate(box.lower)
        if box.row > 1
    }
    lines = right = 0
    where: dict[str, object] = {}
    for box in boxes(topology):
        if box.row == n:
            continue
        width = R**box.row * S ** (n - box.row) // S
        for node, bus in zip(box.processors, box.own, strict=True):
            b = word(network.address(node))[1][box.row - 1]
            a, r = divmod(number_in_row(topology, box) * R + b, width)
            lines += 1
            right += arrives[bus] == r * S + a
            if arrives[bus] != r * S + a and not where:
                where = {"row": box.row, "line": a * width + r, "arrives as": arrives[bus]}
    return Measured({"lines": lines, "shuffled": right}, where)


Lines = list[tuple[int, int]]


def box_lines(topology: str) -> tuple[list[int], Lines]:
    """Return each box's stage, and the lines between boxes: the busses to the right."""
    every = boxes(topology)
    below = {bus: number for number, box in enumerate(every) for bus in box.lower}
    lines = [(i, below[bus]) for i, box in enumerate(every) for bus in box.own if bus >= 0]
    return [box.row - 1 for box in every], lines


def switch_lines(kind: str, n: int) -> tuple[list[int], Lines]:
    """Return each switch's stage, and the lines between switches, by the emulator's ports."""
    network = open_topology(f"multistage:{kind},{n}")
    stages = [int(network.address(node).partition(",")[0]) for node in range(network.size)]
    lines = [
        (node, int(network.neighbor(node, port)))
        for node in range(network.size)
        for port in range(min(2, network.ports))
        if network.neighbor(node, port) >= 0
    ]
    return stages, lines


def alike(one: tuple[list[int], Lines], other: tuple[list[int], Lines]) -> bool:
    """Return whether two networks of lines are isomorphic, stage by stage.

    Every line is represented by a vertex, so parallel lines are counted.
    """
    graphs = []
    for stages, lines in (one, other):
        size = len(stages)
        # igraph's search does not support parallel edges. A vertex per line keeps parallel lines
        # distinct.
        ends = [(end, size + i) for i, line in enumerate(lines) for end in line]
        graphs.append(library("igraph").Graph(n=size + len(lines), edges=ends))
    colors = [stages + [-1] * len(lines) for stages, lines in (one, other)]
    colors = [[color + 1 for color in row] for row in colors]
    if sorted(colors[0]) != sorted(colors[1]):
        return False
    return bool(graphs[0].isomorphic_bliss(graphs[1], color1=colors[0], color2=colors[1]))


MULTISTAGE = claim(
    "LENS-S7-multistage",
    claimed=True,
    grid=points(
        "p=q=3, n 1..5",
        [
            {"n": n, "kind": kind}
            for n in range(1, 6)
            for kind in ("omega", "flip", "cube", "banyan")
        ],
    ),
    measured=lambda n, kind: alike(box_lines(f"lens:3,3,{n}"), switch_lines(kind, n)),
)


def lines_of_boxes(topology: str) -> Counter[tuple[int, int]]:
    """Return the number of boxes by their lines to the right and left, without outer rows."""
    stages, lines = box_lines(topology)
    right, left = Counter(u for u, _ in lines), Counter(v for _, v in lines)
    return Counter((right[i], left[i]) for i in range(len(stages)) if right[i] and left[i])


BOX_LINE_COUNTS = claim_7(
    "LENS-S7-box-lines",
    claimed=of(lambda p, q, n: [sorted((p, q))]),
    measured=lambda topology: sorted(sorted(pair) for pair in lines_of_boxes(topology)),
    corrected=Corrected("LENS-C-box-lines", claimed=of(lambda p, q, n: [sorted((p - 1, q - 1))])),
)

FOUR_LINES = claim(
    "LENS-F4-four-neighbours",
    claimed=[4],
    grid=circles("completed lens (3,4)", [(3, 4)]),
    measured=lambda topology: sorted({right + left for right, left in lines_of_boxes(topology)}),
)
