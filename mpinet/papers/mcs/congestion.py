"""Ways of packets, and the congestion of a network: how many packets a switch has to pass.

A routing problem is a permutation: the packet of each input has its own output. The congestion of
a routing is the largest number of its paths through one switch; that of a problem is the least one
of all its routings; that of a network the largest one of all problems.
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
"""The switches of a way, in their order."""

Problem = tuple[int, ...]
"""The output of each input's packet."""

Ways = dict[tuple[int, int], list[Path]]
"""All ways from an input to an output, by the two."""

DRAWN = 200
"""Problems that are tried where all would be too many."""


@remembered
def ways(name: str, inputs: int) -> Ways:
    """All ways of a network's packets, which pass no switch twice."""
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
            # The 2-layer array has no unique ways, and congestion is the least over all of them.
            walks.extend((*walk, head) for head in onward[walk[-1]] if head not in walk)
    return found


def shortest(found: Ways) -> Ways:
    """Keep the ways between an input and an output that no other is shorter than."""
    return {
        pair: [walk for walk in walks if len(walk) == min(map(len, walks))]
        for pair, walks in found.items()
    }


def problems(inputs: int) -> Iterator[Problem]:
    """All routing problems of up to 4 inputs; else identity, reversal and some that are drawn."""
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
    """The congestion of a problem: the least that a choice of its packets' ways has."""
    choices = [found[start, end] for start, end in enumerate(problem)]
    return next(most for most in count(1) if _fits(choices, Counter(), most))


def _fits(choices: Sequence[Collection[Path]], passed: Counter[int], most: int) -> bool:
    """Tell if ways can be chosen so that no switch is passed more often than `most` allows."""
    if not choices:
        return True
    for walk in choices[0]:
        # Backtracking ends at the first packet that cannot pass, so trying all routings stays short
        # for eight inputs.
        if all(passed[switch] < most for switch in walk):
            passed.update(walk)
            if _fits(choices[1:], passed, most):
                return True
            passed.subtract(walk)
    return False


def congestion(name: str, inputs: int, short: bool = False) -> Measured:
    """The largest congestion of the problems that are tried, and the first problem that has it.

    Parameters
    ----------
    short : bool
        Whether packets take shortest ways only.
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
    """The congestion where ways are unique: the most packets that one problem sends by one switch.

    These are a largest matching of the inputs and outputs whose way passes the switch.
    """
    through: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for pair, (walk,) in ways(name, inputs).items():
        for switch in walk:
            through[switch].append(pair)
    best = Measured(0)
    for switch, pairs in sorted(through.items()):
        graph = networkx.Graph((("in", start), ("out", end)) for start, end in pairs)
        tops = [node for node in graph if node[0] == "in"]
        # A problem is a permutation: packets through one switch need different inputs and different
        # outputs.
        packets = len(networkx.bipartite.maximum_matching(graph, tops)) // 2
        if packets > best.value:
            best = Measured(packets, {"switch": switch})
    return best


def looped(inputs: int, problem: Problem) -> list[Path]:
    """Route a problem through a Benes network as the proof of Theorem 10.9.1 does.

    Packets whose inputs, or whose outputs, are half the network apart must not share a half; the
    two colours of that graph say which half each packet passes.

    Returns
    -------
    list of tuple of int
        The way of each input's packet.

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
    """The packets that must not pass one half of a Benes network, in pairs."""
    half = len(problem) // 2
    sender = {end: start for start, end in enumerate(problem)}
    graph = networkx.Graph()
    graph.add_nodes_from(range(len(problem)))
    graph.add_edges_from((start, start + half) for start in range(half))
    graph.add_edges_from((sender[end], sender[end + half]) for end in range(half))
    return graph
