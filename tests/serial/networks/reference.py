"""The classic networks once more, in plain Python: the lists of targets of docs/papers.

Nothing here uses mpinet. A network is a list of nodes, each a list of neighbours by port, None
where a port is not wired.
"""

from collections.abc import Callable, Iterable
from itertools import product

import networkx
from serial.networks.defined_here import DEFINED_HERE

Wiring = list[list[int | None]]


def targets(size: int, listed: Callable[[int], Iterable[int]]) -> Wiring:
    """Listed targets modulo size, self-loops and later repetitions dropped (docs/papers/gmn, 9)."""
    wiring: Wiring = []
    for u in range(size):
        kept: list[int | None] = []
        for v in listed(u):
            if v % size != u and v % size not in kept:
                kept.append(v % size)
        wiring.append(kept)
    return wiring


def ring(n: int) -> Wiring:
    return targets(n, lambda u: (u + 1, u - 1))


def complete(n: int) -> Wiring:
    return targets(n, lambda u: (u + 1 + i for i in range(n - 1)))


def hypercube(n: int) -> Wiring:
    return targets(2**n, lambda u: (u ^ 2**i for i in range(n)))


def circulant(n: int, jumps: Iterable[int]) -> Wiring:
    return targets(n, lambda u: (v for j in jumps for v in (u + j, u - j)))


def recursive_circulant(n: int, d: int) -> Wiring:
    count = next(i for i in range(1, 64) if d**i >= n)  # ceil(log_d n)
    return circulant(n, [d**i for i in range(count)])


def chordal_ring(n: int, w: int) -> Wiring:
    return targets(n, lambda u: (u + 1, u - 1, u + w if u % 2 else u - w))


def double_loop(n: int, s: int) -> Wiring:
    return targets(n, lambda u: (u + 1, u - 1, u + s, u - s))


def kautz(d: int, k: int) -> Wiring:
    """Shifts of words that repeat no letter; docs/networks, 3, numbers them."""
    steps = product(range(d + 1), *[range(1, d + 1)] * (k - 1))
    words = [tuple(sum(word[: i + 1]) % (d + 1) for i in range(k)) for word in steps]
    number = {word: u for u, word in enumerate(words)}
    wiring: Wiring = []
    for word in words:
        left = [(*word[1:], (word[-1] + i) % (d + 1)) for i in range(1, d + 1)]
        right = [((word[0] - i) % (d + 1), *word[:-1]) for i in range(1, d + 1)]
        behind: list[int | None] = [number[other] for other in left]
        wiring.append(behind + [None if other in left else number[other] for other in right])
    return wiring


def bits(u: int, n: int) -> str:
    return format(u, f"0{n}b")


def de_bruijn(n: int) -> Wiring:
    return targets(2**n, lambda u: (2 * u, 2 * u + 1, u >> 1, (u >> 1) + 2 ** (n - 1)))


def shuffle_exchange(n: int) -> Wiring:
    def listed(u: int) -> Iterable[int]:
        word = bits(u, n)
        return int(word[1:] + word[0], 2), int(word[-1] + word[:-1], 2), u ^ 1

    return targets(2**n, listed)


def moebius(n: int) -> Wiring:
    other = {"0": "1", "1": "0"}

    def listed(u: int) -> Iterable[int]:
        word = bits(u, n)
        return int(word[1:] + other[word[0]], 2), int(other[word[-1]] + word[:-1], 2), u ^ 1

    return targets(2**n, listed)


def ccc(n: int) -> Wiring:
    def listed(u: int) -> Iterable[int]:
        x, y = u // n, u % n
        return x * n + (y + 1) % n, x * n + (y - 1) % n, (x ^ 2**y) * n + y

    return targets(n * 2**n, listed)


def grid(sides: tuple[int, ...], wrap: bool) -> Wiring:
    """Row-major; per dimension +1 then -1, one port for a wrapped side of two."""
    number = {place: u for u, place in enumerate(product(*map(range, sides)))}
    wiring: Wiring = []
    for place in number:
        ports: list[int | None] = []
        for j, side in enumerate(sides):
            for step in (1,) if wrap and side == 2 else (1, -1):
                moved = place[j] + step
                moved = moved % side if wrap else moved
                ports.append(number.get((*place[:j], moved, *place[j + 1 :])))
        wiring.append(ports)
    return wiring


def mesh(*sides: int) -> Wiring:
    return grid(sides, wrap=False)


def torus(*sides: int) -> Wiring:
    return grid(sides, wrap=True)


def digits(w: int, m: int, count: int) -> list[int]:
    """Base-m digits, least significant first."""
    return [w // m**i % m for i in range(count)]


def fat_tree_links(m: int, h: int) -> list[tuple[int, int]]:
    """The links (lower end, upper end) by docs/papers/hdn, 9, trying all pairs."""
    processors, width = m**h, m ** (h - 1)

    def switch(level: int, w: int) -> int:
        return processors + level * width + w

    links = [(p, switch(0, p // m)) for p in range(processors)]
    for level, w, other in product(range(h - 1), range(width), range(width)):
        mine, its = digits(w, m, h), digits(other, m, h)
        if all(mine[i] == its[i] for i in range(h) if i != level):
            links.append((switch(level, w), switch(level + 1, other)))
    return links


def fat_tree(m: int, h: int) -> Wiring:
    """A processor's port 0 up; a switch's ports down, then up: neighbours ascend with the digit."""
    nodes = m**h + h * m ** (h - 1)
    lower: list[list[int | None]] = [[] for _ in range(nodes)]
    upper: list[list[int | None]] = [[] for _ in range(nodes)]
    for low, high in sorted(fat_tree_links(m, h)):
        upper[low].append(high)
        lower[high].append(low)
    return [low + up for low, up in zip(lower, upper, strict=True)]


def roadrunner(c: int, m: int, h: int) -> Wiring:
    tree = fat_tree(m, h)
    size, width = len(tree), m ** (h - 1)
    top = size - width
    wiring: Wiring = [
        [i * size + v for v in ports if v is not None] for i in range(c) for ports in tree
    ]
    for i, j in product(range(c), range(c)):
        if i != j:
            here = (j - 1) % width if i < j else j % width
            there = i % width if i < j else (i - 1) % width
            wiring[i * size + top + here].append(j * size + top + there)
    return wiring


def cartesian(first: Wiring, second: Wiring) -> Wiring:
    """Product: id = b * N1 + a, first factor's ports first."""
    n1 = len(first)
    ports1, ports2 = (max(map(len, wiring)) for wiring in (first, second))

    def padded(ports: list[int | None], count: int) -> list[int | None]:
        return ports + [None] * (count - len(ports))

    return [
        [None if v is None else b * n1 + v for v in padded(first[a], ports1)]
        + [None if v is None else v * n1 + a for v in padded(second[b], ports2)]
        for b in range(len(second))
        for a in range(n1)
    ]


def graph(wiring: Wiring) -> networkx.Graph:
    """The wiring as an undirected graph."""
    made = networkx.Graph()
    made.add_nodes_from(range(len(wiring)))
    made.add_edges_from((u, v) for u, ports in enumerate(wiring) for v in ports if v is not None)
    return made


def distances(wiring: Wiring) -> dict[int, dict[int, int]]:
    return dict(networkx.all_pairs_shortest_path_length(graph(wiring)))


CLASSICS: dict[str, Wiring] = {
    "ring:3": ring(3),
    "ring:4": ring(4),
    "ring:17": ring(17),
    "complete:2": complete(2),
    "complete:3": complete(3),
    "complete:9": complete(9),
    "hypercube:1": hypercube(1),
    "hypercube:5": hypercube(5),
    "mesh:2": mesh(2),
    "mesh:7": mesh(7),
    "mesh:2x2": mesh(2, 2),
    "mesh:3x4": mesh(3, 4),
    "mesh:3x2x5": mesh(3, 2, 5),
    "torus:2": torus(2),
    "torus:5": torus(5),
    "torus:2x2x2": torus(2, 2, 2),
    "torus:4x4": torus(4, 4),
    "torus:2x3x5": torus(2, 3, 5),
    "torus:5x2x4": torus(5, 2, 4),
    "ccc:3": ccc(3),
    "ccc:4": ccc(4),
    "debruijn:2": de_bruijn(2),
    "debruijn:3": de_bruijn(3),
    "debruijn:6": de_bruijn(6),
    "shuffleexchange:2": shuffle_exchange(2),
    "shuffleexchange:3": shuffle_exchange(3),
    "shuffleexchange:6": shuffle_exchange(6),
    "moebius:3": moebius(3),
    "moebius:4": moebius(4),
    "moebius:6": moebius(6),
    "circulant:2,jumps=1": circulant(2, [1]),
    "circulant:10,jumps=1-5": circulant(10, [1, 5]),
    "circulant:12,jumps=4-3": circulant(12, [4, 3]),
    "circulant:13,jumps=5-2-6": circulant(13, [5, 2, 6]),
    "rcirculant:3,2": recursive_circulant(3, 2),
    "rcirculant:16,2": recursive_circulant(16, 2),
    "rcirculant:16,4": recursive_circulant(16, 4),
    "kautz:2,2": kautz(2, 2),
    "kautz:2,4": kautz(2, 4),
    "kautz:3,3": kautz(3, 3),
    "kautz:5,2": kautz(5, 2),
    "rcirculant:15,2": recursive_circulant(15, 2),
    "rcirculant:7,9": recursive_circulant(7, 9),
    "rcirculant:10,3": recursive_circulant(10, 3),
    "chordalring:6,3": chordal_ring(6, 3),
    "chordalring:16,5": chordal_ring(16, 5),
    "chordalring:22,11": chordal_ring(22, 11),
    "doubleloop:5,2": double_loop(5, 2),
    "doubleloop:12,5": double_loop(12, 5),
    "doubleloop:19,8": double_loop(19, 8),
    "fattree:2,1": fat_tree(2, 1),
    "fattree:3,1": fat_tree(3, 1),
    "fattree:2,3": fat_tree(2, 3),
    "fattree:3,3": fat_tree(3, 3),
    "fattree:4,2": fat_tree(4, 2),
    "karytree:2,1": fat_tree(2, 1),
    "karytree:3,2": fat_tree(3, 2),
    "roadrunner:2,2,1": roadrunner(2, 2, 1),
    "roadrunner:5,2,1": roadrunner(5, 2, 1),
    "roadrunner:3,2,2": roadrunner(3, 2, 2),
    "roadrunner:8,2,2": roadrunner(8, 2, 2),
    "roadrunner:4,2,3": roadrunner(4, 2, 3),
}
"""Topology string -> the network of docs/papers."""

PRODUCTS: dict[str, Wiring] = {
    "ring:5*ring:7": cartesian(ring(5), ring(7)),
    "ring:3*hypercube:2": cartesian(ring(3), hypercube(2)),
    "debruijn:2*mesh:2x3": cartesian(de_bruijn(2), mesh(2, 3)),
    "complete:3*ring:4*hypercube:2": cartesian(cartesian(complete(3), ring(4)), hypercube(2)),
    "hypercube:1*fattree:2,2": cartesian(hypercube(1), fat_tree(2, 2)),
}

EVERYTHING = CLASSICS | DEFINED_HERE | PRODUCTS
