"""Paths of packets, and the congestion of a network: the number of packets through a switch.

A routing problem is a permutation: the packet of each input has its own output. The congestion of a
routing is the largest number of its paths through one switch. The congestion of a problem is the
minimum over its routings, and the congestion of a network is the maximum over all problems.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import count, permutations
from random import Random

import networkx

from mpinet.claims import Measured
from mpinet.claims.remembered import remembered
from mpinet.papers.mcs.wirings import NETWORKS, Switching

Path = tuple[int, ...]
"""Switches of a path, in order."""

Problem = tuple[int, ...]
"""Output of each input's packet."""

Ways = dict[tuple[int, int], list[Path]]
"""All paths from an input to an output, by this pair."""

DRAWN = 200
"""Number of sampled problems if there are too many to try all."""


@remembered
def ways(name: str, inputs: int) -> Ways:
    """Return all paths of a network's packets that pass no switch twice."""
    network: Switching = NETWORKS[name](inputs)
    onward: defaultdict[int, list[int]] = defaultdict(list)
    for tail, head in network.arcs:
        onward[tail].append(head)
    ends: defaultdict[int, list[int]] = defaultdict(list)
    for place, switches in enumerate(network.outputs):
        for switch in switches:
            ends[switch].append(place)
    found: Ways = {(start, end): [] for start in range(inputs) for end in range(inputs)}
    for place, entry in enumerate(network.inputs):
        walks: list[Path] = [(entry,)]
        while walks:
            walk = walks.pop()
            for end in ends[walk[-1]]:
                found[place, end].append(walk)
            # Paths of the 2-layer array are not unique, and congestion is the minimum over all of
            # them.
            walks.extend((*walk, head) for head in onward[walk[-1]] if head not in walk)
    return found


def shortest(found: Ways) -> Ways:
    """Return only the shortest paths between each input and output."""
    return {
        pair: [walk for walk in walks if len(walk) == min(map(len, walks))]
        for pair, walks in found.items()
    }


def problems(inputs: int) -> Iterator[Problem]:
    """Yield all routing problems of up to 4 inputs; else identity, reversal and a random sample."""
    if inputs <= 4:
        yield from permutations(range(inputs))
        return
    order = list(range(inputs))
    yield tuple(order)
    yield tuple(reversed(order))
    draw = Random(inputs)
    for _ in range(DRAWN):
        draw.shuffle(order)
        yield tuple(order)


def least(found: Ways, problem: Problem) -> int:
    """Return the congestion of a problem: the minimum over all choices of its packets' paths."""
    choices = [found[start, end] for start, end in enumerate(problem)]
    return next(most for most in count(1) if _fits(choices, Counter(), most))


def _fits(choices: Sequence[Collection[Path]], passed: Counter[int], most: int) -> bool:
    """Return whether paths can be chosen with at most `most` paths through each switch."""
    if not choices:
        return True
    for walk in choices[0]:
        # Backtracking ends at the first packet that cannot pass, which keeps the search short for
        # eight inputs.
        if all(passed[switch] < most for switch in walk):
            passed.update(walk)
            if _fits(choices[1:], passed, most):
                return True
            passed.subtract(walk)
    return False


def congestion(name: str, inputs: int, short: bool = False) -> Measured:
    """Return the largest congestion of the tried problems, with the first problem that has it.

    Parameters
    ----------
    short : bool
        True if packets take shortest paths only.
    """
    found = shortest(ways(name, inputs)) if short else ways(name, inputs)
    worst = Measured(0)
    for problem in problems(inputs):
        needed = least(found, problem)
        if needed > worst.value:
            worst = Measured(needed, {"problem": problem})
    return worst


@remembered
def unique_congestion(name: str, inputs: int) -> Measured:
    """Return the congestion if paths are unique: the most packets of a problem through a switch.

    This number is the size of a largest matching of the inputs and outputs whose path passes the
    switch.
    """
    through: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for pair, (walk,) in ways(name, inputs).items():
        for switch in walk:
            through[switch].append(pair)
    best = Measured(0)
    for switch, pairs in sorted(through.items()):
        graph = networkx.Graph((("in", start), ("out", end)) for start, end in pairs)
        tops = [node for node in graph if node[0] == "in"]
        # A problem is a permutation: packets through one switch have different inputs and different
        # outputs.
        packets = len(networkx.bipartite.maximum_matching(graph, tops)) // 2
        if packets > best.value:
            best = Measured(packets, {"switch": switch})
    return best


def looped(inputs: int, problem: Problem) -> list[Path]:
    """Route a problem through a Benes network like the proof of Theorem 10.9.1.

    Packets whose inputs or outputs are half the network apart must use different halves. A
    two-colouring of the graph of these constraints assigns a half to each packet.

    Returns
    -------
    list of tuple of int
        Path of each input's packet.

    Raises
    ------
    networkx.NetworkXError
        The graph has no colouring with two colours.
    """
    if inputs == 2:
        return [(start, 2 + end) for start, end in enumerate(problem)]
    half, size = inputs // 2, NETWORKS["benes"](inputs // 2).switches
    colours = networkx.bipartite.color(constraints(problem))
    inner: list[list[int]] = [[-1] * half, [-1] * half]
    for start, end in enumerate(problem):
        inner[colours[start]][start % half] = end % half
    routed = [looped(half, tuple(part)) for part in inner]
    return [
        (
            2 * size + start,
            *(switch + colours[start] * size for switch in routed[colours[start]][start % half]),
            2 * size + inputs + end,
        )
        for start, end in enumerate(problem)
    ]


def constraints(problem: Problem) -> networkx.Graph:
    """Return the graph of pairs of packets that must use different halves of a Benes network."""
    half = len(problem) // 2
    sender = {end: start for start, end in enumerate(problem)}
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(problem)))
    graph.add_edges_from((start, start + half) for start in range(half))
    graph.add_edges_from((sender[end], sender[end + half]) for end in range(half))
    return graph
