"""The networks of docs/networks, 3, from their definitions, without mpinet.

Labels are listed in the order of their numbers; what is joined is found by looking at all pairs, or
at every link from both ends.
"""

from itertools import permutations, product

import numpy as np

Wiring = list[list[int | None]]


def numbered(labels: list, ports) -> Wiring:
    """Each label's neighbours by port, as numbers."""
    number = {label: u for u, label in enumerate(labels)}
    return [[None if v is None else number[v] for v in ports(label)] for label in labels]


def groups(g: int, links: int) -> dict[tuple[int, int], tuple[int, int]]:
    """Both ends (group, link) of every global link: link k leads k + 1 groups ahead."""
    ends = {}
    for group, k in product(range(g), range(links)):
        ahead = (group + k + 1) % g
        (back,) = (other for other in range(links) if (ahead + other + 1) % g == group)
        ends[group, k] = (ahead, back)
    return ends


def dragonfly(p: int, a: int, h: int) -> Wiring:
    g = a * h + 1
    ends = groups(g, a * h)
    hosts = [(G, r, t) for G in range(g) for r in range(a) for t in range(p)]
    routers = [(G, r) for G in range(g) for r in range(a)]

    def ports(label):
        if len(label) == 3:
            return [label[:2]]
        group, r = label
        far = [ends[group, r * h + i] for i in range(h)]
        return [
            *((group, r, t) for t in range(p)),
            *((group, other) for other in range(a) if other != r),
            *((there, k // h) for there, k in far),
        ]

    return numbered(hosts + routers, ports)


def megafly(p: int, s: int, h: int) -> Wiring:
    g = s * h + 1
    ends = groups(g, s * h)
    hosts = [(G, r, t) for G in range(g) for r in range(s) for t in range(p)]
    routers = [(G, r) for G in range(g) for r in range(2 * s)]

    def ports(label):
        if len(label) == 3:
            return [label[:2]]
        group, r = label
        if r < s:
            return [(group, r, t) for t in range(p)] + [(group, s + i) for i in range(s)]
        far = [ends[group, (r - s) * h + i] for i in range(h)]
        return [(group, i) for i in range(s)] + [(there, s + k // h) for there, k in far]

    return numbered(hosts + routers, ports)


def hyperx(*sides: int) -> Wiring:
    places = list(product(*map(range, sides)))

    def ports(place):
        return [
            (*place[:j], other, *place[j + 1 :])
            for j, side in enumerate(sides)
            for other in range(side)
            if other != place[j]
        ]

    return numbered(places, ports)


def slimfly(q: int) -> Wiring:
    """The offsets by the paper's lists of powers of a primitive root."""
    root = next(g for g in range(1, q) if len({g**e % q for e in range(q - 1)}) == q - 1)
    if q % 4 == 1:
        powers = [list(range(0, q - 1, 2)), list(range(1, q - 1, 2))]
    else:
        w = (q + 1) // 4
        powers = [
            [*range(0, 2 * w - 1, 2), *range(2 * w - 1, 4 * w - 2, 2)],
            [*range(1, 2 * w, 2), *range(2 * w, 4 * w - 1, 2)],
        ]
    offsets = [sorted({root**e % q for e in half}) for half in powers]

    def ports(label):
        half, first, last = label
        near = [(half, first, (last + offset) % q) for offset in offsets[half]]
        places = product(range(q), repeat=2)
        if half == 0:
            return near + [(1, m, c) for m, c in places if (m * first + c - last) % q == 0]
        return near + [(0, x, y) for x, y in places if (first * x + last - y) % q == 0]

    return numbered(list(product(range(2), range(q), range(q))), ports)


def polarfly(q: int) -> Wiring:
    points = [(1, a, b) for a, b in product(range(q), repeat=2)]
    points += [(0, 1, c) for c in range(q)] + [(0, 0, 1)]

    def ports(point):
        joined = [v for v in points if sum(x * y for x, y in zip(point, v, strict=True)) % q == 0]
        return [None if v == point else v for v in joined]

    return numbered(points, ports)


def butterfly(n: int) -> Wiring:
    return leveled(n, list(range(n)))


def benes(n: int) -> Wiring:
    return leveled(n, [*range(n), *reversed(range(n))])


def leveled(n: int, free: list[int]) -> Wiring:
    labels = [(i, w) for i in range(len(free) + 1) for w in range(2**n)]

    def ports(label):
        i, w = label
        on = [(i + 1, w), (i + 1, w ^ 2 ** free[i])] if i < len(free) else [None, None]
        back = [(i - 1, w), (i - 1, w ^ 2 ** free[i - 1])] if i else [None, None]
        return on + back

    return numbered(labels, ports)


def exchanged(s: int, t: int) -> Wiring:
    labels = ["".join(word) for word in product("01", repeat=s + t + 1)]
    other = {"0": "1", "1": "0"}

    def flipped(word, place):
        return word[:place] + other[word[place]] + word[place + 1 :]

    def ports(word):
        end = s + t
        near = range(end - 1, s - 1, -1) if word[end] == "1" else range(s - 1, -1, -1)
        found = [flipped(word, end), *(flipped(word, place) for place in near)]
        return found + [None] * (1 + max(s, t) - len(found))

    return numbered(labels, ports)


def pancake(n: int) -> Wiring:
    return numbered(
        list(permutations(range(n))),
        lambda word: [word[:count][::-1] + word[count:] for count in range(2, n + 1)],
    )


def bubble_sort(n: int) -> Wiring:
    def ports(word):
        return [(*word[:i], word[i + 1], word[i], *word[i + 2 :]) for i in range(n - 1)]

    return numbered(list(permutations(range(n))), ports)


def random_regular(nodes: int, degree: int, seed: int) -> Wiring:
    """The draw as docs/networks, 3, tells it, played with lists; it must be connected at once."""
    generator = np.random.Generator(np.random.Philox(seed))
    while True:
        links: set[frozenset[int]] = set()
        ends = [node for node in range(nodes) for _ in range(degree)]
        while ends:
            keys = generator.random(len(ends)).tolist()
            ends = [end for _, _, end in sorted(zip(keys, range(len(ends)), ends, strict=True))]
            left = []
            for u, v in zip(ends[::2], ends[1::2], strict=True):
                if u == v or frozenset((u, v)) in links:
                    left += [u, v]
                links.add(frozenset((u, v)))
            links = {link for link in links if len(link) == 2}
            if len(left) == len(ends):
                break
            ends = left
        near = {u: {v for link in links if u in link for v in link - {u}} for u in range(nodes)}
        wiring = [sorted(near[u]) for u in range(nodes)]
        if not ends and connected(wiring):
            return wiring


def connected(wiring: Wiring) -> bool:
    seen, front = {0}, [0]
    while front:
        front = [v for u in front for v in wiring[u] if v not in seen and not seen.add(v)]
    return len(seen) == len(wiring)


DEFINED_HERE: dict[str, Wiring] = {
    "dragonfly:1,1,1": dragonfly(1, 1, 1),
    "dragonfly:1,2,1": dragonfly(1, 2, 1),
    "dragonfly:2,3,2": dragonfly(2, 3, 2),
    "dragonfly:1,4,1": dragonfly(1, 4, 1),
    "megafly:1,1,1": megafly(1, 1, 1),
    "megafly:2,2,2": megafly(2, 2, 2),
    "megafly:1,3,1": megafly(1, 3, 1),
    "hyperx:2": hyperx(2),
    "hyperx:4x4x3": hyperx(4, 4, 3),
    "hyperx:2x5": hyperx(2, 5),
    "flatbutterfly:2,2": hyperx(2),
    "flatbutterfly:3,4": hyperx(3, 3, 3),
    "slimfly:3": slimfly(3),
    "slimfly:5": slimfly(5),
    "slimfly:7": slimfly(7),
    "slimfly:13": slimfly(13),
    "polarfly:2": polarfly(2),
    "polarfly:3": polarfly(3),
    "polarfly:7": polarfly(7),
    "butterfly:1": butterfly(1),
    "butterfly:3": butterfly(3),
    "benes:1": benes(1),
    "benes:3": benes(3),
    "exchangedcube:1,1": exchanged(1, 1),
    "exchangedcube:2,3": exchanged(2, 3),
    "exchangedcube:3,1": exchanged(3, 1),
    "pancake:2": pancake(2),
    "pancake:4": pancake(4),
    "bubblesort:2": bubble_sort(2),
    "bubblesort:4": bubble_sort(4),
    "randomregular:4,2": random_regular(4, 2, 0),
    "randomregular:16,3": random_regular(16, 3, 0),
    "randomregular:40,5,7": random_regular(40, 5, 7),
}
"""Topology string -> the network of docs/networks, 3."""
