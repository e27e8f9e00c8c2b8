"""Pancake graph and bubble-sort graph: permutations, joined by reversals and by swaps.

Processors are permutations in lexicographic order, as in the star graph; rules work on the symbols,
packed into a word of 4 bits each, the symbol at position 0 lowest.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.classic.permutations import (
    SYMBOLS,
    WEIGHTS,
    Permutations,
    packed_goals,
    unranked,
)
from mpinet.networks.routing import ARRIVED, longer_routings, shortest_routings


@rule
def flip(node, header, params):
    """Reverse up to the last wrong position, once the symbol that belongs there is in front."""
    if node == header[0]:
        return ARRIVED
    goals = packed_goals(node, header[0], params)
    last = params[SYMBOLS] - 1
    # Positions at the end that are right stay right, because flips move prefixes only. So each
    # symbol needs two flips at most.
    while goals >> (4 * last) & 15 == last:
        last -= 1
    place = 0
    while goals >> (4 * place) & 15 != last:
        place += 1
    return last - 1 if place == 0 else place - 1


@rule
def swap(node, header, params):
    """Swap the first two neighbours that belong in the other order: one inversion less."""
    if node == header[0]:
        return ARRIVED
    goals = packed_goals(node, header[0], params)
    position = 0
    # Each swap of neighbours in wrong order removes one inversion. Their number is the distance, so
    # that the way is shortest.
    while goals >> (4 * position) & 15 < goals >> (4 * position + 4) & 15:
        position += 1
    return position


class Pancake(Permutations):
    """Pancake graph of n! processors (Akers, Krishnamurthy 1989).

    Port i reverses the first i+2 symbols.
    """

    family = "pancake"
    example = "pancake:5"

    @rule
    def neighbor(node, port, params):
        """Reverse the first symbols."""
        symbols = unranked(node, params)
        count = port + 2
        kept = symbols >> (4 * count) << (4 * count)
        for position in range(count):
            kept |= (symbols >> (4 * position) & 15) << (4 * (count - 1 - position))
        return ranked(kept, params)

    routings = longer_routings(flips=flip)


class BubbleSort(Permutations):
    """Bubble-sort graph of n! processors (Akers, Krishnamurthy 1989).

    Port i swaps the symbols at the positions i and i+1.
    """

    family = "bubblesort"
    example = "bubblesort:4"

    def __init__(self, n: int):
        super().__init__(n, n * (n - 1) // 2)

    @rule
    def neighbor(node, port, params):
        """Swap two neighbouring symbols."""
        symbols = unranked(node, params)
        changed = (symbols >> (4 * port) ^ symbols >> (4 * port + 4)) & 15
        return ranked(symbols ^ changed << (4 * port) ^ changed << (4 * port + 4), params)

    routings = shortest_routings(shortest=swap)


@inlined
def ranked(symbols, params):
    """The number of packed symbols: how many lower ones stand behind each of them."""
    n, rank = params[SYMBOLS], 0
    for position in range(n):
        symbol, lower = symbols >> (4 * position) & 15, 0
        for behind in range(position + 1, n):
            lower += (symbols >> (4 * behind) & 15) < symbol
        rank += lower * params[WEIGHTS + position]
    return rank
