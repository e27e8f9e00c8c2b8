"""The networks of docs/papers/sth once more, in plain Python.

Nothing here uses mpinet. A network is a list of nodes, each a list of neighbours by port, None
where a port is not wired.
"""

from itertools import permutations

import numpy as np

Wiring = list[list[int | None]]


def bit(u: int, i: int) -> int:
    return (u >> i) & 1


# Section 3


def lst(m: int) -> Wiring:
    return [[(u + jump) % (8 * m) for jump in (-4, 4, 1, -1)] for u in range(8 * m)]


def q(n: int) -> Wiring:
    return [[u ^ 2**p for p in range(n)] for u in range(2**n)]


def tq(n: int) -> Wiring:
    """The hypercube whose links 0-1, 2-3 are replaced by 0-3, 1-2."""
    wiring = q(n)
    for u in range(4):
        wiring[u][0] = 3 - u
    return wiring


def cq(n: int) -> Wiring:
    def port(u: int, p: int) -> int:
        v = u ^ 2**p
        for i in range(p // 2):
            v ^= bit(u, 2 * i) * 2 ** (2 * i + 1)
        return v

    return [[port(u, p) for p in range(n)] for u in range(2**n)]


def hkv(n: int) -> Wiring:
    def port(u: int, p: int) -> int:
        if p % 2 == 1 and sum(bit(u, i) for i in range(p)) % 2 == 0:
            return u ^ 2**p ^ 2 ** (p + 1)
        return u ^ 2**p

    return [[port(u, p) for p in range(n)] for u in range(2**n)]


CUBES = {"tq": tq, "cq": cq, "hkv": hkv, "q": q}


def cartesian(first: Wiring, second: Wiring) -> Wiring:
    """id = b * N1 + a, first factor's ports first (section 2)."""
    n1 = len(first)
    return [
        [None if v is None else b * n1 + v for v in first[a]]
        + [None if v is None else v * n1 + a for v in second[b]]
        for b in range(len(second))
        for a in range(n1)
    ]


def sth(m: int, n: int, kind: str = "tq") -> Wiring:
    return cartesian(lst(m), CUBES[kind](n))


def dlh(m: int, n: int) -> Wiring:
    def ports(r: int, loop: int, x: int) -> list[tuple[int, int, int]]:
        ring = [((r + 1) % (2 * m), loop, x), ((r - 1) % (2 * m), loop, x)]
        return [*ring, (r, 1 - loop, x), *((r, loop, x ^ 2**p) for p in range(n))]

    places = [(r, loop, x) for x in range(2**n) for loop in (0, 1) for r in range(2 * m)]
    number = {place: u for u, place in enumerate(places)}
    return [[number[there] for there in ports(*place)] for place in places]


def hexcell_places(d: int) -> list[tuple[int, int, int]]:
    """(level, sextant, position) of every node."""
    return [(x, s, p) for x in range(1, d + 1) for s in range(6) for p in range(2 * x - 1)]


def hexcell_plane(d: int) -> list[tuple[int, int, int]]:
    plane = []
    for level, s, p in hexcell_places(d):
        up, down = -(-p // 2), p // 2
        if s % 2 == 0:
            x, y, z = level, 1 - level + up, -down
        else:
            x, y, z = level - up, 1 + down, 1 - level
        for _ in range(s // 2):
            x, y, z = z, x, y
        plane.append((x, y, z))
    return plane


def hexcell(d: int) -> Wiring:
    places = hexcell_places(d)
    number = {place: u for u, place in enumerate(places)}
    rings: dict[int, list[int]] = {}
    for u, (x, _, _) in enumerate(places):
        rings.setdefault(x, []).append(u)
    wiring: Wiring = []
    for u, (x, s, p) in enumerate(places):
        ring = rings[x]
        at = ring.index(u)
        there = (x + 1, s, p + 1) if p % 2 == 0 else (x - 1, s, p - 1)
        wiring.append([ring[(at + 1) % len(ring)], ring[at - 1], number.get(there)])
    return wiring


# Section 8


def foldedcube(n: int) -> Wiring:
    return [[*ports, u ^ (2**n - 1)] for u, ports in enumerate(q(n))]


def hhc(k: int) -> Wiring:
    def ports(cube: int, place: int) -> list[tuple[int, int]]:
        inside = [(cube, place ^ 2**p) for p in range(k)]
        return [*inside, (cube ^ 2**place, place)]

    return [
        [x * 2**k + y for x, y in ports(cube, place)]
        for cube in range(2**2**k)
        for place in range(2**k)
    ]


def stargraph(n: int) -> Wiring:
    everyone = list(permutations(range(n)))
    number = {symbols: u for u, symbols in enumerate(everyone)}

    def swap(symbols: tuple[int, ...], i: int) -> tuple[int, ...]:
        return (symbols[i], *symbols[1:i], symbols[0], *symbols[i + 1 :])

    return [[number[swap(symbols, i)] for i in range(1, n)] for symbols in everyone]


def arrangement(n: int, k: int) -> Wiring:
    everyone = list(permutations(range(n), k))
    number = {symbols: u for u, symbols in enumerate(everyone)}
    return [
        [
            number[(*symbols[:i], new, *symbols[i + 1 :])]
            for i in range(k)
            for new in sorted(set(range(n)) - set(symbols))
        ]
        for symbols in everyone
    ]


def petersen() -> Wiring:
    outer = [[(i + 1) % 5, (i - 1) % 5, i + 5] for i in range(5)]
    return [*outer, *([5 + (i + 2) % 5, 5 + (i - 2) % 5, i] for i in range(5))]


def fpq(n: int, k: int) -> Wiring:
    wiring = petersen()
    for _ in range(k - 1):
        wiring = cartesian(wiring, petersen())
    return cartesian(wiring, q(n))


def hp(n: int) -> Wiring:
    return fpq(n - 3, 1)


def fp(k: int) -> Wiring:
    return fpq(0, k)


def starcube(n: int, m: int) -> Wiring:
    return cartesian(stargraph(n), q(m))


def arrstar(s: int, n: int, k: int) -> Wiring:
    return cartesian(stargraph(s), arrangement(n, k))


def hypermesh(r: int, c: int, n: int) -> Wiring:
    number = {(i, j): i * c + j for i in range(r) for j in range(c)}
    mesh = [
        [number.get(there) for there in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))]
        for i, j in number
    ]
    return cartesian(mesh, q(n))


def bh(h: int, k: int, s: int) -> Wiring:
    bits = s.bit_length() - 1

    def with_digit(x: int, place: int, value: int) -> int:
        digits = [x // s**i % s for i in range(k)]
        digits[place] = value
        return sum(digit * s**i for i, digit in enumerate(digits))

    def ports(level: int, x: int) -> list[int | None]:
        nowhere: list[int | None] = [None] * s
        cube = [level * s**k + (x ^ 2**p) for p in range(k * bits)]
        up = [(level + 1) * s**k + with_digit(x, level, t) for t in range(s) if level < h - 1]
        down = [(level - 1) * s**k + with_digit(x, level - 1, t) for t in range(s) if level]
        return [*cube, *(up or nowhere), *(down or nowhere)]

    return [ports(level, x) for level in range(h) for x in range(s**k)]


FAMILIES = {
    "lst": lst,
    "tq": tq,
    "cq": cq,
    "hkv": hkv,
    "sth": sth,
    "dlh": dlh,
    "hexcell": hexcell,
    "foldedcube": foldedcube,
    "hhc": hhc,
    "stargraph": stargraph,
    "arrangement": arrangement,
    "petersen": petersen,
    "hp": hp,
    "fp": fp,
    "fpq": fpq,
    "starcube": starcube,
    "arrstar": arrstar,
    "hypermesh": hypermesh,
    "bh": bh,
}


def wired(name: str) -> Wiring:
    """The network of a topology string."""
    family, _, arguments = name.partition(":")
    values = [int(text) if text.isdigit() else text for text in arguments.split(",") if text]
    return FAMILIES[family](*values)


def table(wiring: Wiring) -> np.ndarray:
    """The wiring as an array, -1 where a port is not wired."""
    return np.array([[-1 if v is None else v for v in ports] for ports in wiring], np.int64)


def distances(wiring: Wiring) -> np.ndarray:
    """Hops between all pairs, by growing all balls at once."""
    size = len(wiring)
    adjacent = np.zeros((size, size), np.float32)
    for u, ports in enumerate(wiring):
        for v in ports:
            if v is not None:
                adjacent[u, v] = 1
    result = np.full((size, size), -1, np.int64)
    ball, hops = np.eye(size, dtype=np.float32), 0
    while (result < 0).any():
        result[(result < 0) & (ball > 0)] = hops
        ball = ((ball @ adjacent + ball) > 0).astype(np.float32)
        hops += 1
        assert hops <= size, "not connected"
    return result


# Section 4


def lst_distance(c: int, d: int, size: int) -> int:
    t = min((d - c) % size, (c - d) % size)
    return t // 4 + min(t % 4, 5 - t % 4)


def tq_distance(u: int, v: int) -> int:
    low, h = (u ^ v) & 3, ((u ^ v) >> 2).bit_count()
    if low == 3:
        return h + 1 if (u >> 2) & (v >> 2) == 0 else h + 2
    if low == 1:
        return h + 2 if u < 4 and v < 4 else h + 1
    return h + (low == 2)


def cq_distance(u: int, v: int, n: int) -> int:
    pairs = [((u >> 2 * i) & 3, (v >> 2 * i) & 3) for i in range((n - 1) // 2, -1, -1)]
    while pairs and pairs[0][0] == pairs[0][1]:
        del pairs[0]
    if not pairs:
        return 0
    total = 2 if pairs[0][0] ^ pairs[0][1] == 3 else 1
    for a, b in pairs[1:]:
        wanted = 2 if a & 1 and total % 2 else 0
        total += a ^ b != wanted
    return total


def hkv_distance(u: int, v: int, n: int) -> int:
    total = toggled = bit(u ^ v, 0)
    for j in range(1, (n - 1) // 2 + 1):
        change = (bit(u ^ v, 2 * j), bit(u ^ v, 2 * j - 1))
        parity = sum(bit(u, i) for i in range(2 * j - 1)) % 2
        if change == (0, 0):
            continue
        if toggled or change == (1, 0):
            total, toggled = total + 1, 1
        elif change == (0, 1):
            total, toggled = total + (1 if parity else 2), 1
        elif parity:
            total, toggled = total + 2, 1
        else:
            total += 1
    return total


# Section 5


def four_candidates(x: int, y: int, size: int) -> tuple[list[int], list[tuple[int, ...]]]:
    """Procedure 5.1 with its lists; also R1..R4 after each round."""
    if x == y:
        return [x], []
    r = [(x - 4) % size, (x + 4) % size, (x + 1) % size, (x - 1) % size]
    walks = [[x, there] for there in r]
    rounds = [tuple(r)]
    while y not in r:
        h = y - r[0]
        r[0] += -4 if h >= 4 else 1 if h > 0 else -1
        if r[0] < 0:
            r[0] += size
        h = y - r[1]
        r[1] += 4 if h >= 4 else 1 if h > 0 else -1
        if r[1] >= size:
            r[1] -= size
        r[2] = (r[2] + 1) % size
        r[3] = (r[3] - 1) % size
        rounds.append(tuple(r))
        for walk, there in zip(walks, r, strict=True):
            walk.append(there)
    chosen = [walk for walk, there in zip(walks, r, strict=True) if there == y][-1]
    return chosen, rounds


def lst_optimal(c: int, d: int, size: int) -> list[int]:
    """Rule 5.2."""
    nodes = [c]
    while c != d:
        delta = (d - c) % size
        if 2 * delta <= size:
            c = (c + (4 if delta >= 3 else 1)) % size
        else:
            c = (c - (4 if size - delta >= 3 else 1)) % size
        nodes.append(c)
    return nodes


def dimension_port(kind: str, c: int, d: int) -> int:
    """Rule `dimension` of 5.3."""
    highest = (c ^ d).bit_length() - 1
    if kind == "tq" and highest < 2 and c < 4:
        return 0 if c ^ d == 3 else 1
    if kind == "hkv" and highest > 0:
        j = (highest + 1) // 2
        return 2 * j - 1 if bit(c ^ d, 2 * j - 1) else 2 * j
    return highest
