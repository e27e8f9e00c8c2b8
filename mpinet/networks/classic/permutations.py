"""Networks of permutations: star graph and arrangement graph, pancake and bubble-sort graph.

Processors are arrangements of symbols in lexicographic order. An arrangement's rank has digits of
falling radix (n, n-1 and so on). Each digit counts the lower symbols among those still free at that
position. In star graph and arrangement graph a link swaps two positions, and the rules work on the
digits. In the star graph these are position 0 and another one. In the arrangement graph these are
one of the k positions and position k, after the arrangement's end, where the port's symbol is put
first.

In the pancake graph a link is a reversal, in the bubble-sort graph a swap of neighbours. Their
rules work on the symbols, packed into a word of 4 bits each, with the symbol at position 0 lowest.
"""

from __future__ import annotations

from math import factorial, perm

from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.arithmetic import lowest_one
from mpinet.networks.parameters import Limit, whole_number
from mpinet.networks.routing import ARRIVED, longer_routings, shortest_routings
from mpinet.networks.topology import MAX_SIZE, Topology
from mpinet.networks.waysback import same_port

SYMBOLS, LAST, WEIGHTS = 2, 3, 4
"""Places in the rules' parameters: n, the last position, and the weights of the digits up to it."""

MAX_POSITIONS = 20
"""Most positions of an arrangement: 64 bits cannot number arrangements of more positions."""

IN_ORDER = 0xEDCBA9876543210
"""The numbers 0..14 in 4 bits each, the lowest first."""


class SymbolAddresses(Topology):
    """Base of networks whose addresses list the arrangement's symbols in order, from 0."""

    symbols: int
    positions: int

    def _address(self, node: int) -> str:
        """Return the address: the symbols ``2,0,1``."""
        free = list(range(self.symbols))
        taken = []
        for position in range(self.positions):
            weight = perm(self.symbols - position - 1, self.positions - position - 1)
            digit, node = divmod(node, weight)
            taken.append(free.pop(digit))
        return ",".join(map(str, taken))

    def read_address(self, address: str) -> int:
        """Return the rank of the symbols."""
        taken = list(map(int, address.split(",")))
        free = list(range(self.symbols))
        rank = 0
        for symbol in taken:
            rank = rank * len(free) + free.index(symbol)
            free.remove(symbol)
        return rank


@rule
def sort_cycles(node, header, params):
    """Return the port that brings the first symbol home, or merges two wrong cycles.

    If the first symbol is at home, every wrong position leads closer. Otherwise its home leads
    closer, as does every wrong position outside its cycle: merging first or later takes as many
    hops.
    """
    if node == header[0]:
        return ARRIVED
    goals = packed_goals(node, header[0], params)
    wrong = goals ^ (IN_ORDER & ((1 << (4 * params[SYMBOLS])) - 1))
    home = goals & 15
    # The first symbol is at home, but others are wrong. Entering any of their cycles costs one hop.
    if home == 0:
        return lowest_one(wrong) // 4 - 1
    place = home
    while place != 0:
        wrong &= ~(15 << (4 * place))
        place = (goals >> (4 * place)) & 15
    wrong &= ~15
    other = lowest_one(wrong) // 4 if wrong else home
    return min(home, other) - 1


class Permutations(SymbolAddresses):
    """Base of networks of all n! permutations, with n-1 ports."""

    parameters = (whole_number("n", 2, 15),)
    paper = "Akers, Krishnamurthy 1989"

    def __init__(self, n: int, diameter: int | None = None):
        self.symbols = self.positions = n
        stated = {"degree": n - 1} | ({} if diameter is None else {"diameter": diameter})
        params = [n, n - 1, *weights(n, n - 1)]
        super().__init__(f"{n}", size=factorial(n), ports=n - 1, params=params, stated=stated)


class StarGraph(Permutations):
    """Star graph of n! processors (Akers, Krishnamurthy 1989).

    Port i-1 swaps the symbols at the positions 0 and i.
    """

    example = "stargraph:5"
    specification = "papers/sth 8"

    def __init__(self, n: int):
        super().__init__(n, 3 * (n - 1) // 2)

    @rule
    def neighbor(node, port, params):
        """Return the permutation with positions 0 and port+1 swapped."""
        return swapped(node, 0, port + 1, params)

    reverse_port = same_port

    routings = shortest_routings(shortest=sort_cycles)


class Arrangement(SymbolAddresses):
    """Arrangement graph A(n,k) of n!/(n-k)! processors (Day, Tripathi 1992).

    Port i(n-k)+t puts the t-th lowest of the symbols that do not occur at position i.
    """

    parameters = (
        whole_number("n", 2),
        whole_number("k", 1, Limit("n-1", lambda given: given["n"] - 1)),
    )
    example = "arrangement:5,2"
    paper = "Day, Tripathi 1992"
    specification = "papers/sth 8"

    def __init__(self, n: int, k: int):
        self.symbols, self.positions = n, k
        # Factors beyond the 20th only enlarge the number. Computing them for a large n would take
        # minutes before the error.
        if perm(n, min(k, MAX_POSITIONS)) > MAX_SIZE:
            raise TopologyError(f"arrangement: n!/(n-k)! must be < 2^63; n = {n}, k = {k} is more.")
        params = [n, k, *weights(n, k)]
        stated = {"degree": k * (n - k), "diameter": 3 * k // 2}
        super().__init__(
            f"{n},{k}", size=perm(n, k), ports=k * (n - k), params=params, stated=stated
        )

    @rule
    def neighbor(node, port, params):
        """Return the arrangement with the symbol at the port's position replaced by the port's."""
        unused = params[SYMBOLS] - params[LAST]
        position = port // unused
        symbol = port - position * unused
        return swapped(node * unused + symbol, position, params[LAST], params) // unused

    @rule
    def reverse_port(node, port, params):
        """Return the port of this position for the symbol that the hop replaced."""
        unused = params[SYMBOLS] - params[LAST]
        position = port // unused
        symbol = port - position * unused
        dropped = swapped(node * unused + symbol, position, params[LAST], params) % unused
        return position * unused + dropped


def weights(n: int, last: int) -> list[int]:
    """Return the weights of the digits 0..last of arrangements that end at position `last`."""
    return [perm(n - 1 - position, last - position) for position in range(last + 1)]


@inlined
def swapped(rank, low, high, params):
    """Return the rank of the arrangement with the symbols at positions `low` < `high` swapped.

    Symbols are compared as ranks among the symbols that the positions before `low` leave free.
    """
    n, first_weight = params[SYMBOLS], params[WEIGHTS + low]
    # Rank arithmetic replaces the permutation itself. Digits between the two positions change by at
    # most one each.
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
    """Return the symbol at position `high`, as a rank among the symbols free at position `low`.

    `digits` is the rank up to position `high`. Taken from the end, every digit that is not higher
    than the symbol's rank adds one lower symbol.
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
    """Return element `digit` of a packed list, and the list without it."""
    shift = 4 * digit
    return (free >> shift) & 15, (free & ((1 << shift) - 1)) | ((free >> (shift + 4)) << shift)


@inlined
def unranked(node, params):
    """Return the symbols of a permutation, packed, with the symbol at position 0 lowest."""
    free, symbols = IN_ORDER, 0
    for position in range(params[SYMBOLS]):
        digit = node // params[WEIGHTS + position]
        node -= digit * params[WEIGHTS + position]
        symbol, free = taken_out(free, digit)
        symbols |= symbol << (4 * position)
    return symbols


@inlined
def packed_homes(target, params):
    """Return the position of every symbol in a permutation, packed."""
    free, homes = IN_ORDER, 0
    for position in range(params[SYMBOLS]):
        digit = target // params[WEIGHTS + position]
        target -= digit * params[WEIGHTS + position]
        symbol, free = taken_out(free, digit)
        homes |= position << (4 * symbol)
    return homes


@inlined
def packed_goals(node, target, params):
    """Return, for each position, the place of its symbol in the target, packed."""
    # Sorting to the target is sorting to the identity after renaming symbols by their homes. One
    # rule therefore serves all targets.
    homes = packed_homes(target, params)
    free, goals = IN_ORDER, 0
    # This unpacks the node as `unranked` does. One loop saves a second pass over the symbols in a
    # decision at every hop.
    for position in range(params[SYMBOLS]):
        digit = node // params[WEIGHTS + position]
        node -= digit * params[WEIGHTS + position]
        symbol, free = taken_out(free, digit)
        goals |= ((homes >> (4 * symbol)) & 15) << (4 * position)
    return goals


@rule
def flip(node, header, params):
    """Return the reversal that places the last wrong symbol, or first brings it to the front."""
    if node == header[0]:
        return ARRIVED
    goals = packed_goals(node, header[0], params)
    last = params[SYMBOLS] - 1
    # Right positions at the end stay right, because flips move prefixes only. Each
    # symbol therefore needs at most two flips.
    while goals >> (4 * last) & 15 == last:
        last -= 1
    place = 0
    while goals >> (4 * place) & 15 != last:
        place += 1
    return last - 1 if place == 0 else place - 1


@rule
def swap(node, header, params):
    """Return the port that swaps the first two neighbours in wrong order: one inversion less."""
    if node == header[0]:
        return ARRIVED
    goals = packed_goals(node, header[0], params)
    position = 0
    # Each swap of neighbours in wrong order removes one inversion. The number of inversions is the
    # distance, and the route is shortest.
    while goals >> (4 * position) & 15 < goals >> (4 * position + 4) & 15:
        position += 1
    return position


class Pancake(Permutations):
    """Pancake graph of n! processors (Akers, Krishnamurthy 1989).

    Port i reverses the first i+2 symbols.
    """

    example = "pancake:5"

    @rule
    def neighbor(node, port, params):
        """Return the permutation with the first port+2 symbols reversed."""
        symbols = unranked(node, params)
        count = port + 2
        kept = symbols >> (4 * count) << (4 * count)
        for position in range(count):
            kept |= (symbols >> (4 * position) & 15) << (4 * (count - 1 - position))
        return ranked(kept, params)

    reverse_port = same_port

    routings = longer_routings(flips=flip)


class BubbleSort(Permutations):
    """Bubble-sort graph of n! processors (Akers, Krishnamurthy 1989).

    Port i swaps the symbols at the positions i and i+1.
    """

    example = "bubblesort:4"

    def __init__(self, n: int):
        super().__init__(n, n * (n - 1) // 2)

    @rule
    def neighbor(node, port, params):
        """Return the permutation with two neighbouring symbols swapped."""
        symbols = unranked(node, params)
        changed = (symbols >> (4 * port) ^ symbols >> (4 * port + 4)) & 15
        return ranked(symbols ^ changed << (4 * port) ^ changed << (4 * port + 4), params)

    reverse_port = same_port

    routings = shortest_routings(shortest=swap)


@inlined
def ranked(symbols, params):
    """Return the rank of packed symbols, from the number of lower symbols after each of them."""
    n, rank = params[SYMBOLS], 0
    for position in range(n):
        symbol, lower = symbols >> (4 * position) & 15, 0
        for behind in range(position + 1, n):
            lower += (symbols >> (4 * behind) & 15) < symbol
        rank += lower * params[WEIGHTS + position]
    return rank
