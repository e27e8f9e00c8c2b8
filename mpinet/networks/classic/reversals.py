"""Pancake graph and bubble-sort graph: permutations, joined by reversals and by swaps.

Processors are permutations in lexicographic order, as in the star graph; rules work on the symbols,
packed into a word of 4 bits each, the symbol at position 0 lowest.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

from mpinet.compiled import inlined, rule
from mpinet.networks.binary import same_port
from mpinet.networks.classic.permutations import (
    IN_ORDER,
    SYMBOLS,
    WEIGHTS,
    SymbolAddresses,
    packed_goals,
    taken_out,
    weights,
)
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, Routing, stateless


class Permutations(SymbolAddresses):
    """Base of both networks: n! processors with n-1 ports."""

    parameters = (whole_number("n", 2, 15),)
    paper = "Akers, Krishnamurthy 1989"
    specification = "networks 3"

    reverse_port = same_port

    def __init__(self, n: int):
        self.checked("n", n)
        self.symbols = self.positions = n
        params = [n, n - 1, *weights(n, n - 1)]
        super().__init__(f"{n}", size=factorial(n), ports=n - 1, params=params)


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

    @property
    def stated(self) -> dict[str, int]:
        """State the degree, n-1."""
        return {"degree": self.ports}

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The last wrong symbol to the front, then to its place: at most 2n-3 hops."""
        return {"flips": lambda: stateless("flips", flip, self, shortest=False)}


class BubbleSort(Permutations):
    """Bubble-sort graph of n! processors (Akers, Krishnamurthy 1989).

    Port i swaps the symbols at the positions i and i+1.
    """

    family = "bubblesort"
    example = "bubblesort:4"

    @rule
    def neighbor(node, port, params):
        """Swap two neighbouring symbols."""
        symbols = unranked(node, params)
        changed = (symbols >> (4 * port) ^ symbols >> (4 * port + 4)) & 15
        return ranked(symbols ^ changed << (4 * port) ^ changed << (4 * port + 4), params)

    @property
    def stated(self) -> dict[str, int]:
        """Degree n-1, diameter n(n-1)/2."""
        return {"degree": self.ports, "diameter": self.symbols * (self.symbols - 1) // 2}

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The first two neighbours that stand in the wrong order."""
        return {"shortest": lambda: stateless("shortest", swap, self)}


@inlined
def unranked(node, params):
    """The symbols of a processor, packed."""
    free, symbols = IN_ORDER, 0
    for position in range(params[SYMBOLS]):
        digit = node // params[WEIGHTS + position]
        node -= digit * params[WEIGHTS + position]
        symbol, free = taken_out(free, digit)
        symbols |= symbol << (4 * position)
    return symbols


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


@rule
def flip(node, header, params):
    """Reverse up to the last wrong position, once the symbol that belongs there is in front."""
    if node == header[0]:
        return ARRIVED
    goals = packed_goals(node, header[0], params)
    last = params[SYMBOLS] - 1
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
    while goals >> (4 * position) & 15 < goals >> (4 * position + 4) & 15:
        position += 1
    return position
