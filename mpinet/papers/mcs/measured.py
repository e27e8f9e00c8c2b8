"""Measures of the chapter's networks, and the grids of their sizes."""

from __future__ import annotations

from collections import Counter
from math import log2

from mpinet import measure
from mpinet.claims import Measured, PointGrid, over
from mpinet.claims.remembered import remembered
from mpinet.papers.mcs.congestion import ways
from mpinet.papers.mcs.wirings import NETWORKS, Switching, wired


def sizes(last: int) -> PointGrid:
    """Return the grid of powers of two from 2 on, as the chapter assumes for inputs."""
    return over(N=[2**n for n in range(1, last.bit_length())]).quick(lambda N: N <= 16)


def lg(inputs: int) -> int:
    """Return the logarithm of a power of two."""
    return int(log2(inputs))


def network(name: str, inputs: int) -> Switching:
    """Return a network of the chapter."""
    found: Switching = NETWORKS[name](inputs)
    return found


@remembered
def diameter(name: str, inputs: int) -> Measured:
    """Return the most wires between an input and an output, by floods from all inputs."""
    made = network(name, inputs)
    topology = wired(f"{name} of {inputs} inputs", made)
    first = made.switches
    hops = measure.distance_matrix(topology, range(first, first + inputs))[:, first + inputs :]
    start, end = divmod(int(hops.argmax()), inputs)
    return Measured(int(hops.max()), {"input": start, "output": end})


def switch_sizes(name: str, inputs: int) -> Counter[tuple[int, int]]:
    """Return the number of switches by their numbers of incoming and outgoing wires."""
    made = network(name, inputs)
    # Terminals count as wires: a switch at the bottom of the tree has its parent and its terminal
    # in each direction.
    into = Counter([*(head for _, head in made.arcs), *made.inputs])
    out = Counter(
        [*(tail for tail, _ in made.arcs), *(switch for ends in made.outputs for switch in ends)]
    )
    return Counter((into[switch], out[switch]) for switch in range(made.switches))


def largest_switch(name: str, inputs: int) -> tuple[int, int]:
    """Return the largest numbers of incoming and of outgoing wires of a switch."""
    sizes = switch_sizes(name, inputs)
    return max(into for into, _ in sizes), max(out for _, out in sizes)


def lengths_differ(name: str, inputs: int) -> bool:
    """Return whether two paths between the same input and output have different lengths."""
    return any(len({len(walk) for walk in walks}) > 1 for walks in ways(name, inputs).values())
