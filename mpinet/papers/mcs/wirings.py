"""Networks of the chapter with their terminals, wired as described in its text.

Packets enter at input terminals, pass switches along directed wires, and leave at output terminals.
Lengths count all wires, including the wires of terminals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mpinet.networks.graph import StoredGraph

Arc = tuple[int, int]


class Switching(NamedTuple):
    """Network of switches with N inputs and N outputs."""

    switches: int
    """Number of switches."""
    inputs: tuple[int, ...]
    """Switch connected to each input."""
    outputs: tuple[tuple[int, ...], ...]
    """Switches connected to each output."""
    arcs: tuple[Arc, ...]
    """Wires between switches."""
    columns: tuple[tuple[int, ...], ...] = ()
    """Columns of switches from inputs to outputs; empty if the network has no columns."""


def tree(inputs: int) -> Switching:
    """Return the complete binary tree over N inputs and outputs; the root is switch 0."""
    inner = [
        (above, below) for above in range(inputs - 1) for below in (2 * above + 1, 2 * above + 2)
    ]
    leaves = tuple(range(inputs - 1, 2 * inputs - 1))
    # A packet climbs to the lowest common ancestor and descends again, so tree wires have both
    # directions.
    both = (*inner, *((below, above) for above, below in inner))
    return Switching(2 * inputs - 1, leaves, tuple((leaf,) for leaf in leaves), both)


def array(inputs: int) -> Switching:
    """Return the 2-dimensional array, with wires right and down; switch N r + c is at (r, c)."""
    side = range(inputs)
    arcs = tuple(_grid(inputs))
    entries = tuple(inputs * row for row in side)
    exits = tuple((inputs * (inputs - 1) + column,) for column in side)
    return Switching(inputs * inputs, entries, exits, arcs)


def layers(inputs: int) -> Switching:
    """Return the 2-layer array: two arrays, with a wire down from each switch of the first."""
    layer, bottom = inputs * inputs, inputs * (inputs - 1)
    grid = list(_grid(inputs))
    arcs = (
        *grid,
        *((tail + layer, head + layer) for tail, head in grid),
        *((switch, switch + layer) for switch in range(layer)),
    )
    entries = tuple(inputs * row for row in range(inputs))
    exits = tuple((bottom + column, layer + bottom + column) for column in range(inputs))
    return Switching(2 * layer, entries, exits, arcs)


def _grid(inputs: int) -> Iterator[Arc]:
    for switch in range(inputs * inputs):
        if switch % inputs < inputs - 1:
            yield switch, switch + 1
        if switch < inputs * (inputs - 1):
            yield switch, switch + inputs


def butterfly(inputs: int) -> Switching:
    """Return the butterfly F_n over 2^n inputs: a new column before two F_(n-1)."""
    if inputs == 2:
        return _from_columns([[0, 1], [2, 3]], [(0, 2), (0, 3), (1, 2), (1, 3)])
    return _before(butterfly(inputs // 2))


def benes(inputs: int) -> Switching:
    """Return the Benes network B_n over 2^n inputs: two B_(n-1) between two new columns."""
    if inputs == 2:
        return butterfly(2)
    front = _before(benes(inputs // 2))
    last = list(range(front.switches, front.switches + inputs))
    half = inputs // 2
    arcs = [
        (exit, last[place % half + back])
        for place, (exit,) in enumerate(front.outputs)
        for back in (0, half)
    ]
    return _from_columns([*map(list, front.columns), last], [*front.arcs, *arcs])


def _before(part: Switching) -> Switching:
    """Return a network with a new column of input switches before two copies of a network.

    The i-th and the (2^n + i)-th new switch lead to the i-th input switch of each copy.
    """
    half, size = len(part.inputs), part.switches
    new = list(range(2 * size, 2 * size + 2 * half))
    copies = [
        [[place + copy * size for place in column] for column in part.columns] for copy in (0, 1)
    ]
    columns = [new, *(first + second for first, second in zip(*copies, strict=True))]
    arcs = [(tail + copy * size, head + copy * size) for copy in (0, 1) for tail, head in part.arcs]
    arcs += [
        (new[i + back], part.inputs[i] + copy * size)
        for i in range(half)
        for back in (0, half)
        for copy in (0, 1)
    ]
    return _from_columns(columns, arcs)


def _from_columns(columns: list[list[int]], arcs: list[Arc]) -> Switching:
    """Return a network with its inputs at the first column and its outputs at the last."""
    return Switching(
        sum(map(len, columns)),
        tuple(columns[0]),
        tuple((switch,) for switch in columns[-1]),
        tuple(arcs),
        tuple(map(tuple, columns)),
    )


def reasoner(inputs: int) -> Switching:
    """Return the Reasoner-net: a Benes network and a butterfly with common terminals.

    Input switch i leads to the i-th input switch of both networks. The j-th output switches of both
    networks lead to output switch j.
    """
    slow, quick = benes(inputs), butterfly(inputs)
    behind = slow.switches
    first = behind + quick.switches
    last = first + inputs
    arcs = [*slow.arcs, *((tail + behind, head + behind) for tail, head in quick.arcs)]
    for place in range(inputs):
        arcs.append((first + place, slow.inputs[place]))
        arcs.append((first + place, quick.inputs[place] + behind))
        arcs.append((slow.outputs[place][0], last + place))
        arcs.append((quick.outputs[place][0] + behind, last + place))
    return Switching(
        last + inputs,
        tuple(range(first, last)),
        tuple((last + place,) for place in range(inputs)),
        tuple(arcs),
    )


NETWORKS = {
    "tree": tree,
    "array": array,
    "butterfly": butterfly,
    "benes": benes,
    "layers": layers,
    "reasoner": reasoner,
}
"""Functions that make the networks, by their names in the claims."""


def wired(name: str, network: Switching) -> StoredGraph:
    """Return the network as a stored graph: first switches, then input and output terminals."""
    links = {(min(arc), max(arc)) for arc in network.arcs}
    entry = network.switches
    exit = entry + len(network.inputs)
    links |= {(switch, entry + place) for place, switch in enumerate(network.inputs)}
    links |= {
        (switch, exit + place) for place, ends in enumerate(network.outputs) for switch in ends
    }
    nodes = range(exit + len(network.outputs))
    return StoredGraph(name, nodes, sorted(links))
