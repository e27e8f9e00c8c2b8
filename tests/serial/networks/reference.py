"""The classic networks once more, in plain Python, from their definitions in docs.

Labels are listed in the order of their numbers; what is joined is found by looking at all pairs, or
at every link from both ends. Nothing here uses mpinet. A network is a list of nodes, each a list of
neighbours by port, None where a port is not wired.
"""

from collections.abc import Callable, Iterable
from itertools import permutations, product

import networkx
import numpy as np

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


def path(n: int) -> Wiring:
    """Port 0 leads ahead, port 1 back, and neither beyond an end."""
    return [[u + 1 if u < n - 1 else None, u - 1 if u else None] for u in range(n)]


def star(n: int) -> Wiring:
    graph = networkx.star_graph(n - 1)
    return [sorted(graph[u]) for u in range(n)]


def tree(k: int, h: int) -> Wiring:
    """Words of up to h letters, short ones first; a word is beside itself less its last letter."""
    words = [word for length in range(h + 1) for word in product(range(k), repeat=length)]
    number = {word: u for u, word in enumerate(words)}
    return [
        [number[word[:-1]]] * bool(word)
        + [number[(*word, letter)] for letter in range(k) if len(word) < h]
        for word in words
    ]


def hypercube(n: int) -> Wiring:
    return targets(2**n, lambda u: (u ^ 2**i for i in range(n)))


def circulant(n: int, jumps: Iterable[int]) -> Wiring:
    return targets(n, lambda u: (v for j in jumps for v in (u + j, u - j)))


def recursive_circulant(n: int, d: int) -> Wiring:
    count = next(i for i in range(1, 64) if d**i >= n)  # ceil(log_d n)
    return circulant(n, [d**i for i in range(count)])


def chordal_ring(n: int, w: int) -> Wiring:
    return targets(n, lambda u: (u + 1, u - 1, u + w if u % 2 else u - w))


def generalized_petersen(n: int, k: int) -> Wiring:
    """A ring u_0, .., spokes to v_0, .., and v_i beside v_(i+k); u_i is 2i, v_i is 2i + 1."""
    wiring: Wiring = []
    for i in range(n):
        wiring.append([2 * ((i + 1) % n), 2 * ((i - 1) % n), 2 * i + 1])
        wiring.append([2 * ((i + k) % n) + 1, 2 * ((i - k) % n) + 1, 2 * i])
    return wiring


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


def twisted_torus(*sides: int) -> Wiring:
    """Points of a torus; beyond the end of a side k, k is added to all coordinates of sides 2k."""
    k = min(sides)

    def moved(label, j, step):
        place = [x + step * (i == j) for i, x in enumerate(label)]
        turns = place[j] // sides[j] if sides[j] == k else 0
        return tuple((x + k * turns * (s > k)) % s for x, s in zip(place, sides, strict=True))

    def ports(label):
        return [moved(label, j, step) for j in range(len(sides)) for step in (1, -1)]

    return numbered(list(product(*map(range, sides))), ports)


def cabled(size: int, links: Iterable[tuple[int, int, int]]) -> Wiring:
    """Every node's links in the order of the nodes that they lead to; rows (u, v, how many)."""
    wiring: list[list[int]] = [[] for _ in range(size)]
    for u, v, copies in links:
        wiring[u] += [v] * copies
        wiring[v] += [u] * copies
    return [[*sorted(row)] for row in wiring]


def dgx1() -> Wiring:
    """Two complete quads, i beside i + 4, and a second link along one ring through all GPUs."""
    quads = [(q + i, q + j, 1) for q in (0, 4) for i in range(4) for j in range(i)]
    ring = [0, 1, 3, 2, 6, 7, 5, 4]
    second = [(ring[i - 1], ring[i], 1) for i in range(8)]
    return cabled(8, [*quads, *((i, i + 4, 1) for i in range(4)), *second])


def dgx(boxes: int, nvlinks: int, nics: int, leaves: int) -> Wiring:
    gpus, links = 8 * boxes, []
    for gpu in range(gpus):
        links.append((gpu, gpus + gpu // 8, nvlinks))
        if boxes > 1:
            nic, first_leaf = gpus + boxes + gpu, 2 * gpus + boxes
            links += [(gpu, nic, nics), (nic, first_leaf + gpu % leaves, nics)]
    return cabled(gpus + boxes + (gpus + leaves if boxes > 1 else 0), links)


def mi250(boxes: int) -> Wiring:
    """The two dies of a package have four links; two halves of eight dies, and links between."""
    packages = [(2 * i, 2 * i + 1, 4) for i in range(8)]
    half = [(0, 4, 2), (3, 7, 2), (1, 5, 1), (2, 6, 1), (4, 6, 1), (5, 6, 1), (5, 7, 1)]
    across = [(0, 8, 1), (1, 9, 1), (1, 10, 1), (2, 9, 1), (2, 10, 1), (3, 11, 1)]
    box = [*packages, *half, *((u + 8, v + 8, copies) for u, v, copies in half), *across]
    if boxes == 1:
        return cabled(16, box)
    dies = 16 * boxes
    links = [(b + u, b + v, 25 * copies) for b in range(0, dies, 16) for u, v, copies in box]
    return cabled(dies + 1, [*links, *((die, dies, 8) for die in range(dies))])


def rails(boxes: int, gpus: int, spines: int, nvlinks: int) -> Wiring:
    size, links = boxes * gpus, []
    for gpu in range(size):
        links.append((gpu, size + gpu // gpus, nvlinks))
        links.append((gpu, size + boxes + gpu % gpus, 1))
    first = size + boxes + gpus
    links += [(first - 1 - rail, first + s, 1) for rail in range(gpus) for s in range(spines)]
    return cabled(first + spines, links)


def hamming_mesh(a: int, b: int, x: int, y: int) -> Wiring:
    """Column c and row r have the number r a x + c; the rows' switches come next."""
    width, height, links = a * x, b * y, []
    rows = width * height
    for r, c in product(range(height), range(width)):
        u = r * width + c
        links.append((u, rows + r if c % a == a - 1 else u + 1, 1))
        links += [(u, rows + r, 1)] if c % a == 0 else []
        links.append((u, rows + height + c if r % b == b - 1 else u + width, 1))
        links += [(u, rows + height + c, 1)] if r % b == 0 else []
    return cabled(rows + height + width, links)


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
    "path:2": path(2),
    "path:9": path(9),
    "star:2": star(2),
    "star:3": star(3),
    "star:9": star(9),
    "tree:2,1": tree(2, 1),
    "tree:2,4": tree(2, 4),
    "tree:3,2": tree(3, 2),
    "tree:5,2": tree(5, 2),
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
    "gpetersen:3,1": generalized_petersen(3, 1),
    "gpetersen:5,2": generalized_petersen(5, 2),
    "gpetersen:8,3": generalized_petersen(8, 3),
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
    "twistedtorus:4x2": twisted_torus(4, 2),
    "twistedtorus:3x6": twisted_torus(3, 6),
    "twistedtorus:6x3x3": twisted_torus(6, 3, 3),
    "twistedtorus:4x2x4": twisted_torus(4, 2, 4),
    "hammingmesh:2,2,2,2": hamming_mesh(2, 2, 2, 2),
    "hammingmesh:1,3,3,2": hamming_mesh(1, 3, 3, 2),
    "rail:2,3": rails(2, 3, 0, 1),
    "rail:8,1": rails(8, 1, 0, 1),
    "rail:3,1,2": rails(3, 1, 2, 1),
    "rail:4,2,3": rails(4, 2, 3, 1),
    "rail:2,2,0,5": rails(2, 2, 0, 5),
    "dgx1": dgx1(),
    "dgxa100:1": dgx(1, 12, 1, 2),
    "dgxa100:2": dgx(2, 12, 1, 2),
    "dgxh100:1": dgx(1, 18, 2, 8),
    "dgxh100:3": dgx(3, 18, 2, 8),
    "mi250:1": mi250(1),
    "mi250:2": mi250(2),
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
"""Topology string -> the network that a definition makes."""

PRODUCTS: dict[str, Wiring] = {
    "ring:5*ring:7": cartesian(ring(5), ring(7)),
    "ring:3*hypercube:2": cartesian(ring(3), hypercube(2)),
    "debruijn:2*mesh:2x3": cartesian(de_bruijn(2), mesh(2, 3)),
    "complete:3*ring:4*hypercube:2": cartesian(cartesian(complete(3), ring(4)), hypercube(2)),
    "hypercube:1*fattree:2,2": cartesian(hypercube(1), fat_tree(2, 2)),
}

EVERYTHING = CLASSICS | PRODUCTS
