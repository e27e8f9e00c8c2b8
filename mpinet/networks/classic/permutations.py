"""Star graph and arrangement graph: processors are arrangements of symbols in lexicographic order.

An arrangement's rank in digits of falling radix (n, n-1, ..) says at every position how many of the
symbols that are still free are lower. In both networks a link swaps two positions, and the rules do
it on the digits: in the star graph position 0 and another one; in the arrangement graph one of the
k positions and position k, behind the arrangement's end, where the port's symbol is put first.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, perm

from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.binary import same_port
from mpinet.networks.parameters import Parameter, integer, require_integer, whole_number
from mpinet.networks.routing import ARRIVED, Routing, stateless
from mpinet.networks.topology import MAX_SIZE, Topology

SYMBOLS, LAST, WEIGHTS = 2, 3, 4
"""Places in the rules' parameters: n, the last position, and the weights of the digits up to it."""

MOST_SYMBOLS = 15
"""Largest n of a star graph: its routing packs a permutation into a word of 4-bit symbols."""

MAX_POSITIONS = 20
"""Arrangements of more symbols are more than 64 bits can number, whatever n is."""

IN_ORDER = 0xEDCBA9876543210
"""The numbers 0..14 in 4 bits each, the lowest first."""


class SymbolAddresses(Topology):
    """Base of both networks: an address lists the arrangement's symbols in order, from 0."""

    symbols: int
    positions: int

    def address(self, node: int) -> str:
        """Format an address: the symbols ``2,0,1``."""
        self.require_node(node)
        free = list(range(self.symbols))
        taken = []
        for position in range(self.positions):
            weight = perm(self.symbols - position - 1, self.positions - position - 1)
            digit, node = divmod(node, weight)
            taken.append(free.pop(digit))
        return ",".join(map(str, taken))

    def read_address(self, address: str) -> int:
        """Rank of the symbols."""
        taken = list(map(int, address.split(",")))
        free = list(range(self.symbols))
        rank = 0
        for symbol in taken:
            rank = rank * len(free) + free.index(symbol)
            free.remove(symbol)
        return rank


class StarGraph(SymbolAddresses):
    """Star graph of n! processors (Akers, Krishnamurthy 1989).

    Port i-1 swaps the symbols at the positions 0 and i.
    """

    family = "stargraph"
    parameters = (whole_number("n", 2, 15),)
    example = "stargraph:5"
    paper = "Akers, Krishnamurthy 1989"
    specification = "papers/sth 8"

    def __init__(self, n: int):
        self.symbols = self.positions = self.checked("n", n)
        params = [n, n - 1, *weights(n, n - 1)]
        super().__init__(f"{n}", size=factorial(n), ports=n - 1, params=params)

    @rule
    def neighbor(node, port, params):
        """Swap the positions 0 and port+1."""
        return swapped(node, 0, port + 1, params)

    reverse_port = same_port

    @property
    def stated(self) -> dict[str, int]:
        """Degree n-1, diameter floor(3(n-1)/2)."""
        return {"degree": self.ports, "diameter": 3 * self.ports // 2}

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """The lowest port that leads closer."""
        return {"shortest": lambda: stateless("shortest", sort_cycles, self)}


class Arrangement(SymbolAddresses):
    """Arrangement graph A(n,k) of n!/(n-k)! processors (Day, Tripathi 1992).

    Port i(n-k)+t puts the t-th lowest of the symbols that do not occur at position i.
    """

    family = "arrangement"
    parameters = (whole_number("n", 2), Parameter("k", "1..n-1", integer))
    example = "arrangement:5,2"
    paper = "Day, Tripathi 1992"
    specification = "papers/sth 8"

    def __init__(self, n: int, k: int):
        self.symbols = self.checked("n", n)
        self.positions = require_integer("arrangement", "k", k, 1, n - 1)
        if perm(n, min(k, MAX_POSITIONS)) > MAX_SIZE:
            raise TopologyError(f"arrangement: n!/(n-k)! must be < 2^63; n = {n}, k = {k} is more.")
        params = [n, k, *weights(n, k)]
        super().__init__(f"{n},{k}", size=perm(n, k), ports=k * (n - k), params=params)

    @rule
    def neighbor(node, port, params):
        """Put the symbol behind the end, swap, and drop the end."""
        unused = params[SYMBOLS] - params[LAST]
        position = port // unused
        symbol = port - position * unused
        return swapped(node * unused + symbol, position, params[LAST], params) // unused

    @rule
    def reverse_port(node, port, params):
        """Return the port of this position and of the symbol that the swap put behind the end."""
        unused = params[SYMBOLS] - params[LAST]
        position = port // unused
        symbol = port - position * unused
        dropped = swapped(node * unused + symbol, position, params[LAST], params) % unused
        return position * unused + dropped

    @property
    def stated(self) -> dict[str, int]:
        """Degree k(n-k), diameter floor(3k/2)."""
        return {"degree": self.ports, "diameter": 3 * self.positions // 2}


def weights(n: int, last: int) -> list[int]:
    """Weights of the digits 0..last of arrangements that end at position `last`."""
    return [perm(n - 1 - position, last - position) for position in range(last + 1)]


@inlined
def swapped(rank, low, high, params):
    """Rank of the arrangement with the symbols at the positions `low` < `high` swapped.

    Symbols are compared as ranks among those that the positions before `low` leave free.
    """
    n, first_weight = params[SYMBOLS], params[WEIGHTS + low]
    earlier = rank // first_weight % (n - low)
    later = symbol_from(rank // params[WEIGHTS + high], low, high, n)
    moved = rank + (later - earlier) * first_weight
    rest = rank % first_weight
    below_earlier = earlier
    below_later = later - 1 if earlier < later else later
    for position in range(low + 1, high):
        weight = params[WEIGHTS + position]
        digit = rest // weight
        rest -= digit * weight
        if digit < below_earlier:
            below_earlier -= 1
            moved -= weight
        if digit < below_later:
            below_later -= 1
            moved += weight
    if later < earlier:
        below_earlier -= 1
    return moved + (below_earlier - below_later) * params[WEIGHTS + high]


@inlined
def symbol_from(digits, low, high, n):
    """The symbol at position `high`, as a rank among those free at position `low`.

    `digits` is the rank up to position `high`; taken from behind, every digit that is not higher
    than the symbol's rank stands for one lower symbol more.
    """
    symbol = digits % (n - high)
    digits //= n - high
    for position in range(high - 1, low - 1, -1):
        if symbol >= digits % (n - position):
            symbol += 1
        digits //= n - position
    return symbol


@inlined
def taken_out(free, digit):
    """Number `digit` of a packed list, and the list without it."""
    shift = 4 * digit
    return (free >> shift) & 15, (free & ((1 << shift) - 1)) | ((free >> (shift + 4)) << shift)


@inlined
def packed_homes(target, params):
    """The position of every symbol in a permutation, packed."""
    free, homes = IN_ORDER, 0
    for position in range(params[SYMBOLS]):
        digit = target // params[WEIGHTS + position]
        target -= digit * params[WEIGHTS + position]
        symbol, free = taken_out(free, digit)
        homes |= position << (4 * symbol)
    return homes


@inlined
def packed_goals(node, target, params):
    """Pack, for each position, the place of its symbol in the target."""
    homes = packed_homes(target, params)
    free, goals = IN_ORDER, 0
    for position in range(params[SYMBOLS]):
        digit = node // params[WEIGHTS + position]
        node -= digit * params[WEIGHTS + position]
        symbol, free = taken_out(free, digit)
        goals |= ((homes >> (4 * symbol)) & 15) << (4 * position)
    return goals


@rule
def sort_cycles(node, header, params):
    """Bring the first symbol home, or merge its cycle with another one that is wrong.

    With the first symbol at home every wrong position leads closer. Otherwise its home does, and
    every wrong position outside of its cycle: merging first or later takes as many hops.
    """
    if node == header[0]:
        return ARRIVED
    goals = packed_goals(node, header[0], params)
    wrong = goals ^ (IN_ORDER & ((1 << (4 * params[SYMBOLS])) - 1))
    home = goals & 15
    if home == 0:
        return lowest_one(wrong) // 4 - 1
    place = home
    while place != 0:
        wrong &= ~(15 << (4 * place))
        place = (goals >> (4 * place)) & 15
    wrong &= ~15
    other = lowest_one(wrong) // 4 if wrong else home
    return min(home, other) - 1
