"""Walks through a lens that follow the dot hop by hop over existing busses.

A *word* lists the dot's moves: 1 to the right, -1 to the left. Each move crosses a position and
writes the target's digit there. If the position is crossed again later, any digit may be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np

from mpinet.base.arrays import Ints, Matrix
from mpinet.claims import Measured
from mpinet.claims.remembered import remembered
from mpinet.compiled import Mapped
from mpinet.networks.catalogue import open_topology
from mpinet.networks.lens.busses import BusNetwork
from mpinet.networks.shortest import neighbor_table
from mpinet.papers.lens.measured import distances_a
from mpinet.papers.lens.pairs import ends
from mpinet.papers.lens.words import digits, dots
from mpinet.papers.measured import size_of

Word = tuple[int, ...]
Path = tuple[tuple[int, int], ...]
"""Sequence of busses and the processors reached by them."""

RIGHT, LEFT = 1, -1
ASTRAY = -2
"""Length of a walk that does not end at its target."""


@dataclass(frozen=True, eq=False)
class LensNeighbors:
    """Neighbours and busses of each processor; -1 for none."""

    right: Matrix
    """Processor one place to the right, by the digit that the crossing writes. Type: ndarray of
    int64, shape (N, R).
    """
    left: Matrix
    """Processor one place to the left, by the digit that the crossing writes. Type: ndarray of
    int64, shape (N, S).
    """
    own: Ints
    """Bus to the right. Shape (N,)."""
    lower: Matrix
    """Busses to the left. Type: ndarray of int64, shape (N, S)."""


@remembered
def moves(topology: str) -> LensNeighbors:
    """Return the hops of pattern A, from the emulator's busses and their ordered members."""
    network = open_topology(topology)
    assert isinstance(network, BusNetwork)
    nodes = np.arange(network.size)[:, np.newaxis]
    bus_at = Mapped(type(network).bus_at, network.params, network.size, network.places)
    member_at = Mapped(type(network).member_at, network.params, network.busses, network.seats)
    at = bus_at(nodes, np.arange(network.places))
    seats = member_at(np.maximum(at, 0)[:, :, np.newaxis], np.arange(network.seats))
    # Rules take no negative numbers, so `member_at` was called with bus 0 for a missing bus.
    seats[at < 0] = -1
    return LensNeighbors(seats[:, 0, 1:], seats[:, 1:, 0], at[:, 0], at[:, 1:])


def run_words(direction: int, a: Matrix, x: Matrix, b: Matrix, n: int) -> Matrix:
    """Return the moves to a run B, around the circle to B's other end, and on to the target.

    B has b agreeing digits and starts after x positions of an arc of a positions (section 5).
    The moves cross all of the circle except B.

    Parameters
    ----------
    direction : int
        Direction of the arcs.
    a, x, b : ndarray of int64, shape (k,)
        Values of each pair.

    Returns
    -------
    ndarray of int64, shape (k, longest)
        Moves, with 0 after the end of a word.
    """
    y = a - x - b
    back = x + n - a + y
    times = np.arange(int((x + back + y).max(initial=0)))
    first, second = x[:, np.newaxis], (x + back)[:, np.newaxis]
    words = np.where((times >= first) & (times < second), -direction, direction)
    return np.where(times < second + y[:, np.newaxis], words, 0)


def walk(topology: str, sources: Ints, targets: Ints, words: Matrix) -> Ints:
    """Return hops of walks; `ASTRAY` for walks that do not end at their target; shape (k,).

    Parameters
    ----------
    sources, targets : ndarray of int64, shape (k,)
        The pairs.
    words : ndarray of int64, shape (k, longest)
        A word for each pair, ended by 0.
    """
    table, dot, digit = moves(topology), dots(topology), digits(topology)
    n = digit.shape[1]
    here, hops = sources.copy(), np.zeros(len(sources), np.int64)
    for step in words.T:
        going = np.flatnonzero((step != 0) & (here >= 0))
        at, goal = here[going], targets[going]
        rightwards = step[going] == RIGHT
        place = np.where(rightwards, dot[at] % n, dot[at] - 1)
        written = digit[goal, place]
        here[going] = np.where(rightwards, table.right[at, written], table.left[at, written])
        hops[going] += 1
    return np.where(here == targets, hops, ASTRAY)


def crossings(word: Iterable[int], dot: int, n: int) -> list[int]:
    """Return the positions of the circle that the dot crosses."""
    crossed = []
    for step in word:
        crossed.append(dot % n if step == RIGHT else (dot - 1) % n)
        dot += step
    return crossed


def paths_along(topology: str, word: Word, source: int, target: int) -> Iterator[Path]:
    """Yield all paths of a word, with any digit at crossings before a position's last one."""
    table, dot, digit = moves(topology), dots(topology), digits(topology)
    n = digit.shape[1]
    crossed = crossings(word, int(dot[source]), n)
    final = [place not in crossed[i + 1 :] for i, place in enumerate(crossed)]

    def onward(at: int, i: int) -> Iterator[Path]:
        if i == len(word):
            if at == target:
                yield ()
            return
        behind = table.right[at] if word[i] == RIGHT else table.left[at]
        choice = [int(digit[target, crossed[i]])] if final[i] else range(len(behind))
        for written in choice:
            if written < len(behind) and behind[written] >= 0:
                bus = table.own[at] if word[i] == RIGHT else table.lower[at, written]
                for rest in onward(int(behind[written]), i + 1):
                    yield ((int(bus), int(behind[written])), *rest)

    return onward(source, 0)


def joined(words: Iterable[Word], topology: str, source: int, target: int) -> set[Path]:
    """Return the paths of some words."""
    return {path for word in words for path in paths_along(topology, word, source, target)}


@remembered
def hops_a(topology: str) -> tuple[Ints, Ints, Ints]:
    """Return the hops of pattern A by ports: processor, bus, processor."""
    network, dot = open_topology(topology), dots(topology)
    table = neighbor_table(network)
    nodes, ports = np.nonzero(table >= 0)
    others = table[nodes, ports]
    apart = dot[nodes] != dot[others]
    nodes, ports, others = nodes[apart], ports[apart], others[apart]
    return nodes, network.channel(nodes, ports), others


def shortest_paths(topology: str, source: int) -> dict[int, set[Path]]:
    """Return all shortest pattern-A paths from a processor by target, with lengths by floods."""
    hops = distances_a(topology)[source]
    found: dict[int, set[Path]] = {source: {()}}
    nodes, busses, others = hops_a(topology)
    closer = (hops[nodes] >= 0) & (hops[others] == hops[nodes] + 1)
    order = np.argsort(hops[nodes[closer]], kind="stable")
    links = np.stack([nodes, busses, others], axis=1)[closer][order].tolist()
    for _, level in groupby(links, key=lambda link: hops[link[0]]):
        for node, bus, other in level:
            paths = {(*path, (bus, other)) for path in found[node]}
            found.setdefault(other, set()).update(paths)
    return found


@remembered(most=8)
def all_shortest(topology: str) -> dict[tuple[int, int], set[Path]]:
    """Return all shortest pattern-A paths of all connected pairs."""
    return {
        (source, target): paths
        for source in range(size_of(topology))
        for target, paths in sorted(shortest_paths(topology, source).items())
    }


def give_all_shortest(topology: str, words: Callable[[int, int], Iterable[Word]]) -> Measured:
    """Return whether the words of each pair give exactly its shortest paths."""
    for (source, target), paths in all_shortest(topology).items():
        given = joined(words(source, target), topology, source, target)
        if given != paths:
            counts = {"paths": len(paths), "given": len(given)}
            return Measured(False, ends(topology, source, target) | counts)
    return Measured(True)


def word_of(topology: str, source: int, path: Path) -> Word:
    """Return the word of a path in an uncompleted lens."""
    dot = dots(topology)
    places = [dot[source], *(dot[node] for _, node in path)]
    return tuple(int(b - a) for a, b in pairwise(places))


def most_turns(topology: str) -> Matrix:
    """Return the most left-to-right turns on shortest pattern-A paths of each pair (N, N)."""
    hops, dot = distances_a(topology), dots(topology)
    nodes, _, others = hops_a(topology)
    rightwards = dot[others] > dot[nodes]
    size, never = len(hops), -9
    after_left, after_right = np.full((size, size), never), np.full((size, size), never)
    np.fill_diagonal(after_right, 0)
    for length in range(int(hops.max(initial=0))):
        step = (hops[:, nodes] == length) & (hops[:, others] == length + 1)
        source, link = np.nonzero(step)
        node, other = nodes[link], others[link]
        left, right = after_left[source, node], after_right[source, node]
        turned = np.maximum(left + 1, right)
        go = rightwards[link]
        np.maximum.at(after_right, (source[go], other[go]), turned[go])
        np.maximum.at(after_left, (source[~go], other[~go]), np.maximum(left, right)[~go])
    return np.maximum(np.maximum(after_left, after_right), 0)
