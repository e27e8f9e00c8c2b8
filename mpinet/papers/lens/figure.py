"""The example of Figure 2: from 021.0212012 to 0110010.212, p = q = 4 and n = 10."""

from __future__ import annotations

import numpy as np

from mpinet import measure
from mpinet.claims import Measured, claim
from mpinet.networks.catalogue import open_topology
from mpinet.papers.lens.walks import ASTRAY, LEFT, RIGHT
from mpinet.papers.lens.words import longest_run, word

FIGURE = "clens:4,10"
SOURCE, TARGET = "021.0212012", "0110010.212"

LISTED = (
    "021.0212012",
    "02.?0212012",
    "0.??0212012",
    "01.?0212012",
    "011.0212012",
    "0110.212012",
    "01100.12012",
    "011001.2012",
    "0110010.012",
    "0110010?.12",
    "0110010.212",
)
"""Path of Figure 2g; a question mark is an arbitrary digit."""


def as_emulated(address: str) -> tuple[int, tuple[int, ...]]:
    """Return dot and digits of an address, after a round trip through the emulator."""
    network = open_topology(FIGURE)
    return word(network.address(network.node(address)))


def agreement() -> list[bool]:
    """Return for each position whether source and target agree."""
    return [a == b for a, b in zip(as_emulated(SOURCE)[1], as_emulated(TARGET)[1], strict=True)]


def arcs() -> dict[int, list[bool]]:
    """Return the agreement along both arcs, read away from the source, by direction."""
    agree, k, row = agreement(), as_emulated(SOURCE)[0], as_emulated(TARGET)[0]
    turned = agree[k:] + agree[:k]
    a = (row - k) % len(agree)
    return {RIGHT: turned[:a], LEFT: turned[a:][::-1]}


DIFFERENCES = claim(
    "LENS-F2-differences",
    claimed="0100101100",
    measured=lambda: "".join("0" if same else "1" for same in agreement()),
)


@claim("LENS-F2-regions", claimed={"a": 6, "b": 3, "c": 1})
def arcs_and_runs() -> dict[str, int]:
    """Return the lengths of the arcs and runs, read from the emulator's addresses."""
    longer, other = sorted(arcs().values(), key=len, reverse=True)
    runs = [int(longest_run(np.array(arc))) for arc in (longer, other)]
    return {"a": len(longer), "b": runs[0], "c": runs[1]}


@claim("LENS-F2-lengths", claimed={"class 1": 10, "class 2": 16, "class 3": 12, "class 4": 14})
def class_lengths() -> dict[str, int]:
    """Return the lengths of the classes' walks over the emulator's busses; A is the longer arc."""
    both = arcs()
    longer = max(both, key=lambda direction: len(both[direction]))
    found = {}
    for number, direction in ((1, longer), (3, -longer)):
        arc = both[direction]
        b = int(longest_run(np.array(arc)))
        x = next(x for x in range(len(arc)) if all(arc[x : x + b]))
        y = len(arc) - x - b
        back = x + 10 - len(arc) + y
        about = (direction,) * x + (-direction,) * back + (direction,) * y
        found[f"class {number}"] = walked(about)
        found[f"class {number + 1}"] = walked((direction,) * (len(arc) + 10))
    return found


def walked(moves: tuple[int, ...]) -> int:
    """Return the hops of a walk that writes the target's digits; `ASTRAY` if the walk fails.

    Every hop uses a port of the processor at the dot.
    """
    network = open_topology(FIGURE)
    (k, digits), (_, goal) = word(SOURCE), word(TARGET)
    n, node = len(digits), network.node(SOURCE)
    for hops, move in enumerate(moves):
        place = k % n if move == RIGHT else (k - 1) % n
        digits = (*digits[:place], goal[place], *digits[place + 1 :])
        k = (k + move - 1) % n + 1
        address = "".join(map(str, digits))
        following = network.node(f"{address[:k]}.{address[k:]}")
        # The listed hops have to be links of the emulator. Otherwise their number proves nothing.
        if following not in network.neighbor(node, range(network.ports)):
            return ASTRAY
        node = following
        if node == network.node(TARGET) and hops + 1 == len(moves):
            return hops + 1
    return ASTRAY


@claim("LENS-F2-path", claimed=LISTED)
def path() -> Measured:
    """Return the emulator's route, with question marks as in the listing."""
    network = open_topology(FIGURE)
    nodes = measure.walk(network, network.node(SOURCE), network.node(TARGET), "patternA")
    addresses = [network.address(node) for node in nodes]
    shown = [
        "".join("?" if mark == "?" else digit for digit, mark in zip(address, row, strict=True))
        for address, row in zip(addresses, LISTED, strict=False)
    ]
    return Measured((*shown, *addresses[len(LISTED) :]), {"route": addresses})


@claim("LENS-F2-B-saving", claimed=9)
def with_pattern_b() -> int:
    """Return the distance from source to target, by a flood."""
    network = open_topology(FIGURE)
    hops = measure.distance_matrix(network, [network.node(SOURCE)])[0]
    return int(hops[network.node(TARGET)])
