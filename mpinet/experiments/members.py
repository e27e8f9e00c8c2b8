"""List the members of every family with a given number of processors.

Most families have whole-number parameters and grow with them: these are enumerated. The other
families have explicit rules: grids by their sides, rings with chords by the chords, dual nets by
their bases. For families with endless variants (blocks of a GBSN, jumps of a circulant) the regular
variants are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import inf, isqrt, prod

from mpinet.errors import TopologyError
from mpinet.networks import open as open_topology
from mpinet.networks.catalogue import FAMILIES, family_class
from mpinet.networks.parameters import Parameter, integer
from mpinet.networks.topology import Topology

MOST_FACTORS = 4
"""Largest number of sides of a grid, and of factors of a dual net's base."""

MOST_RANDOM = 8
"""Largest degree of a random regular network, which is drawn as a whole."""


def members(family: str, low: int, high: int) -> Iterator[Topology]:
    """Yield the networks of a family with `low` to `high` processors.

    Parameters
    ----------
    family : str
        A name in the catalogue.
    low, high : int
        Smallest and largest number of processors.
    """
    known: set[str] = set()
    found: Iterator[Topology] = iter(())
    parameters = family_class(family).parameters
    if family in LISTED:
        found = filter(None, (_opened(f"{family}:{text}") for text in LISTED[family](low, high)))
    elif all(parameter.read is integer for parameter in parameters):
        found = _counted_up(family, parameters, high)
    for network in found:
        if low <= network.hosts <= high and network.name not in known:
            known.add(network.name)
            yield network


def _opened(name: str) -> Topology | None:
    try:
        return open_topology(name)
    except TopologyError:
        return None


def _counted_up(
    family: str, parameters: tuple[Parameter, ...], high: int, given: tuple[int, ...] = ()
) -> Iterator[Topology]:
    """Yield the networks whose first parameters are given, enumerating the rest."""
    if len(given) == len(parameters):
        network = _opened(f"{family}:{','.join(map(str, given))}" if given else family)
        if network is not None:
            yield network
        return
    last = parameters[len(given)].least or 0
    value = last
    while value <= min(2 * last + 2, high):  # allows gaps: odd numbers, powers of two
        smallest = inf
        for network in _counted_up(family, parameters, high, (*given, value)):
            smallest = min(smallest, network.hosts)
            if network.hosts > high:
                break
            yield network
        if smallest < inf:
            last = value
        # Families grow with each parameter: if the smallest member is too large, all later members
        # are.
        if inf > smallest > high:
            return
        value += 1


def _sizes(low: int, high: int) -> Iterator[str]:
    return map(str, range(max(low, 1), high + 1))


def _by_size(
    others: Callable[[int], Iterable[int]], least: int = 0, text: str = "{size},{other}"
) -> Callable[[int, int], Iterator[str]]:
    """Return a lister of networks given by a size of at least `least` and a second number."""

    def listed(low: int, high: int) -> Iterator[str]:
        for size in range(max(low, least), high + 1):
            yield from (text.format(size=size, other=other) for other in others(size))

    return listed


def _loops(low: int, high: int) -> Iterator[str]:
    """Yield the parameters of networks G(m,N)."""
    for m in range(3, 21):
        yield from (f"{m},{size}" for size in range(-(-low // (2 * m)) * 2 * m, high + 1, 2 * m))


def _factors(number: int, most: int, least: int = 2) -> Iterator[tuple[int, ...]]:
    """Yield the factorizations of a number into ascending factors."""
    if number >= least:
        yield (number,)
    if most == 1:
        return
    for first in range(least, isqrt(number) + 1):
        if number % first == 0:
            yield from ((first, *rest) for rest in _factors(number // first, most - 1, first))


def _sides(low: int, high: int) -> Iterator[str]:
    for size in range(max(low, 2), high + 1):
        yield from ("x".join(map(str, sides)) for sides in _factors(size, MOST_FACTORS))


def _twisted(low: int, high: int) -> Iterator[str]:
    """Yield the sides of twisted tori with two and three sides, the longest side first."""
    for k in range(2, high + 1):
        if 2 * k * k > high:
            return
        for sides in ((2 * k, k), (2 * k, k, k), (2 * k, 2 * k, k)):
            if low <= prod(sides) <= high:
                yield "x".join(map(str, sides))


def _rails(low: int, high: int) -> Iterator[str]:
    """Yield parameters of rails without and with one spine (more spines keep the same size)."""
    for boxes in range(2, high + 1):
        for gpus in range(max(1, -(-low // boxes)), high // boxes + 1):
            yield from (f"{boxes},{gpus}", f"{boxes},{gpus},1")


def _shifts(low: int, high: int) -> Iterator[str]:
    """Yield the parameters a,b,n of block shift networks."""
    for n in range(1, high.bit_length()):
        for b in range(1, n + 1):
            yield from (f"{a},{b},{n}" for a in range(1, b + 1) if b % a == 0)


def _equal_blocks(low: int, high: int) -> Iterator[str]:
    """Yield the parameters of generalized block shift networks with equal blocks."""
    for size in range(max(low, 4), high + 1):
        for block in (m for m in range(2, size) if size % m == 0):
            width = (block - 1).bit_length()
            for b in range(1, min(width, 3) + 1):
                blocks = "-".join([str(block)] * (size // block))
                yield from (f"{b},m={blocks},a={a}" for a in range(1, width + 1))


def _dual_nets(low: int, high: int) -> Iterator[str]:
    """Yield parameters of hierarchical dual nets of 1 or 2 levels over rings, complete graphs."""
    for base in range(2, high):
        if 2 * base > high:
            return
        for sides in _factors(base, MOST_FACTORS - 1):
            for kinds in _kinds(sides):
                yield from _levels(kinds, sides, high)


def _kinds(sides: tuple[int, ...]) -> Iterator[str]:
    """Yield the bases with factors of these sizes: all rings, or all complete graphs."""
    yield "x".join(map(str, sides))
    if any(side > 3 for side in sides):
        yield "x".join(f"K{side}" for side in sides)


def _levels(base: str, sides: tuple[int, ...], high: int) -> Iterator[str]:
    """Yield dual nets with one and two levels of super-nodes and at most `high` processors."""
    subsets = _super_nodes(sides)
    size = prod(sides)
    for first, of in subsets.items():
        once = 2 * size * (size // of)
        if once <= high:
            yield f"{base},super={first}"
            for second, part in subsets.items():
                if 2 * once * (once // part) <= high:
                    yield f"{base},super={first}/{second}"


def _super_nodes(sides: tuple[int, ...]) -> dict[str, int]:
    """Return the sizes of super-nodes by their notation."""
    found = {"-": 1}
    for mask in range(1, 2 ** len(sides)):
        chosen = [at for at in range(len(sides)) if mask >> at & 1]
        found[".".join(map(str, chosen))] = prod(sides[at] for at in chosen)
    return found


def _recursive(low: int, high: int) -> Iterator[str]:
    """Yield the parameters of recursive dual nets over a ring or a complete graph."""
    for base in range(2, isqrt(high) + 1):
        yield from (f"{kind}{base},{k}" for kind in ("C", "K") for k in (1, 2))


def _lenses(low: int, high: int) -> Iterator[str]:
    """Yield the parameters p,q,n of lenses with two or more rows; one row would be a bus."""
    for n in range(2, high.bit_length() + 1):
        for p in range(2, high + 2):
            if (p - 1) ** n > high:
                break
            for q in range(2, high + 2):
                if (p - 1) * (q - 1) ** (n - 1) > high:
                    break
                yield f"{p},{q},{n}"


def _stages(low: int, high: int) -> Iterator[str]:
    from mpinet.networks.lens.multistage import KINDS

    return (f"{kind},{n}" for kind in KINDS for n in range(1, high.bit_length() + 1))


def _scalable(low: int, high: int) -> Iterator[str]:
    for m in range(2, high // 16 + 1):
        for n in range(1, high.bit_length()):
            if 8 * m << n <= high:
                yield from (f"{m},{n},{kind}" for kind in ("tq", "cq", "hkv", "q"))


def _odd_primes(low: int, high: int) -> Iterator[str]:
    """Yield the odd primes q of Slim Flies, which have 2 q^2 processors."""
    return (str(q) for q in range(3, isqrt(high // 2) + 1, 2) if all(q % d for d in range(3, q, 2)))


def _degrees(size: int) -> Iterator[int]:
    """Yield the degrees of random regular networks with `size` nodes."""
    # The degrees of a graph add up to twice its links, so odd sums have no graph.
    return (d for d in range(2, min(MOST_RANDOM, size - 1) + 1) if size * d % 2 == 0)


LISTED: dict[str, Callable[[int, int], Iterator[str]]] = {
    "ring": _sizes,
    "complete": _sizes,
    "path": _sizes,
    "star": _sizes,
    "gmnany": _sizes,
    "chordalring": _by_size(lambda size: range(3, size // 2 + 1, 2) if size % 2 == 0 else ()),
    "doubleloop": _by_size(lambda size: range(2, (size - 1) // 2 + 1)),
    # Recursive circulants with two jumps are already listed as double loops.
    "rcirculant": _by_size(lambda size: range(2, isqrt(size) + 1)),
    "gmn": _loops,
    "mesh": _sides,
    "torus": _sides,
    "hyperx": _sides,
    "twistedtorus": _twisted,
    "rail": _rails,
    "slimfly": _odd_primes,
    # Different seeds give networks of the same kind, so one seed each is enough.
    "randomregular": _by_size(_degrees, 4),
    "bsn": _shifts,
    "gbsn": _equal_blocks,
    "hdn": _dual_nets,
    "rdn": _recursive,
    "lens": _lenses,
    "plens": _by_size(lambda size: range(3, 9), 2, "{other},{size}"),
    "multistage": _stages,
    "sth": _scalable,
}
"""Functions that list the parameters of families without simple enumeration."""


def listed_families() -> list[str]:
    """Return the families whose members can be searched."""
    return [
        family
        for family in FAMILIES
        if family in LISTED or all(p.read is integer for p in family_class(family).parameters)
    ]
