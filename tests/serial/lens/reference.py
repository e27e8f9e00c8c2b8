"""The networks of the lens once more, in plain Python: the sentences of docs/papers/lens on words.

Nothing here uses mpinet. A bus network is a pair of dictionaries: the busses of every processor in
port order, and the members of every bus in member order. Labels are (k, digits).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

Label = tuple[int, tuple[int, ...]]


@dataclass
class Hypergraph:
    """Processors and busses with their numbers."""

    processors: list[Any]
    busses: list[Any]
    busses_of: dict[Any, list[Any]]
    members: dict[Any, list[Any]]

    @cached_property
    def number(self) -> dict[Any, int]:
        return {u: i for i, u in enumerate(self.processors)}

    @cached_property
    def bus_number(self) -> dict[Any, int]:
        return {b: i for i, b in enumerate(self.busses)}

    @cached_property
    def ports(self) -> list[list[tuple[int, int]]]:
        """(bus, neighbour) pairs of every processor: docs/contract, 1."""
        return [
            [
                (self.bus_number[b], self.number[v])
                for b in self.busses_of[u]
                for v in self.members[b]
                if v != u
            ]
            for u in self.processors
        ]

    @cached_property
    def incidences(self) -> list[tuple[int, int]]:
        return sorted(
            (self.number[u], self.bus_number[b]) for u in self.processors for b in self.busses_of[u]
        )

    @cached_property
    def distance(self) -> np.ndarray:
        """All distances, by powers of the adjacency matrix."""
        return distances([[v for _, v in ports] for ports in self.ports])

    @cached_property
    def path_counts(self) -> np.ndarray:
        """Numbers of shortest paths; another bus makes another path."""
        size = len(self.processors)
        steps = np.zeros((size, size))
        for u, ports in enumerate(self.ports):
            for _, v in ports:
                steps[u, v] += 1
        counts = np.eye(size)
        for hops in range(1, int(self.distance.max()) + 1):
            reached = (counts * (self.distance == hops - 1)) @ steps
            counts = np.where(self.distance == hops, reached, counts)
        return counts


def distances(neighbors: list[list[int]]) -> np.ndarray:
    size = len(neighbors)
    adjacent = np.eye(size, dtype=np.float32)
    for u, others in enumerate(neighbors):
        adjacent[u, others] = 1
    reached, result = np.eye(size, dtype=np.float32), np.full((size, size), -1)
    np.fill_diagonal(result, 0)
    hops = 0
    while (result < 0).any():
        hops += 1
        assert hops <= size, "not connected"
        reached = np.minimum(reached @ adjacent, 1)
        result[(reached > 0) & (result < 0)] = hops
    return result


def words(k: int, n: int, R: int, S: int) -> list[tuple[int, ...]]:
    return list(product(*([range(R)] * k + [range(S)] * (n - k))))


def put(word: tuple[int, ...], position: int, digit: int) -> tuple[int, ...]:
    return (*word[: position - 1], digit, *word[position:])


def lens(p: int, q: int, n: int, completed: bool = False) -> Hypergraph:
    """Sections 2 and 3."""
    R, S = p - 1, q - 1
    processors: list[Label] = [(k, d) for k in range(1, n + 1) for d in words(k, n, R, S)]
    busses: list[Label] = [(k, d) for k in range(n) for d in words(k, n, R, S)]
    members: dict[Label, list[Label]] = {}
    for k, d in busses:
        owner = [(k, d)] if k else ([(n, d)] if completed else [])
        members[k, d] = owner + [(k + 1, put(d, k + 1, b)) for b in range(R)]
    busses_of: dict[Label, list[Label]] = {}
    for k, d in processors:
        own = [(k, d)] if k < n else ([(0, d)] if completed else [])
        busses_of[k, d] = own + [(k - 1, put(d, k, c)) for c in range(S)]
    return Hypergraph(processors, busses, busses_of, members)


def recursive_lens(p: int, q: int, n: int) -> set[tuple[str, str]]:
    """The recursive construction of section 3, as incidences of addresses with the dot.

    A bus is known by the set of processors on it; it gets the label that section 3 gives it.
    """
    R, S = p - 1, q - 1
    processors = [f"{b}." for b in range(R)]
    joined = {f".{c}": list(processors) for c in range(S)}
    for _ in range(n - 1):
        old, new_busses, added = processors, {}, []
        for i in range(S):
            for bus, on in joined.items():
                new_busses[bus + str(i)] = [u + str(i) for u in on]
        for u in old:
            if u.endswith("."):
                fresh = [f"{u[:-1]}{b}." for b in range(R)]
                for a in range(S):
                    new_busses[u + str(a)] = [u + str(a), *fresh]
                added += fresh
        processors = [u + str(i) for i in range(S) for u in old] + added
        joined = new_busses
    return {(u, bus) for bus, on in joined.items() for u in on}


def text(label: Label) -> str:
    k, d = label
    written = "".join("0123456789abcdefghijklmnopqrstuvwxyz"[digit] for digit in d)
    return f"{written[:k]}.{written[k:]}"


def value(d: tuple[int, ...], R: int) -> int:
    total = 0
    for digit in d:
        total = total * R + digit
    return total


def partial_lens(p: int, size: int, n: int) -> Hypergraph:
    """Section 9."""
    R, whole = p - 1, lens(p, p, n, completed=True)
    m, r = divmod(size, n)
    ids: dict[Label, int] = {}
    k0 = 0
    if r:
        tail = next(d for d in words(n, n, R, R) if value(d, R) == m)
        k0 = next(i for i, digit in enumerate(tail, 1) if digit)
    for k, d in whole.processors:
        if value(d, R) < m:
            ids[k, d] = n * value(d, R) + k - 1
        elif value(d, R) == m and (k - k0) % n < r:
            ids[k, d] = n * m + (k - k0) % n
    members = {b: [u for u in on if u in ids] for b, on in whole.members.items()}
    kept = [b for b in whole.busses if len(members[b]) >= 2]
    return Hypergraph(
        sorted(ids, key=ids.__getitem__),
        kept,
        {u: [b for b in whole.busses_of[u] if b in members and len(members[b]) >= 2] for u in ids},
        {b: members[b] for b in kept},
    )


def grouped(size: int, busses_of: list[list[frozenset[int]]]) -> Hypergraph:
    """A network of busses that are sets of processors."""
    busses = list(dict.fromkeys(b for here in busses_of for b in here))
    return Hypergraph(
        list(range(size)),
        busses,
        dict(enumerate(busses_of)),
        {b: sorted(b) for b in busses},
    )


def digits(u: int, p: int, n: int) -> list[int]:
    """Least significant first: section 10 numbers them from 0."""
    return [u // p**i % p for i in range(n)]


def number(d: list[int], p: int) -> int:
    return sum(digit * p**i for i, digit in enumerate(d))


def snowflake(p: int, n: int) -> Hypergraph:
    """Section 10."""
    busses_of = []
    for u in range(p**n):
        d = digits(u, p, n)
        here = [frozenset(number([i, *d[1:]], p) for i in range(p))]
        c, j = d[0], 0
        while j < n and d[j] == c:
            j += 1
        if j < n:
            t = (c - d[j]) % p
            here.append(
                frozenset(number([(i + t) % p] * j + [i] + d[j + 1 :], p) for i in range(p))
            )
        busses_of.append(here)
    return grouped(p**n, busses_of)


CONNECTORS = {
    3: [0, 1, 2, 4, 5, 7, 8, 737, 1466, 1469],
    4: [0, 1, 2, 3, 5, 6, 7, 9, 10, 11],
    5: [0, 1, 2, 3, 4, 6, 7, 8, 9],
    6: [0, 1, 2, 3, 4, 5, 7, 8, 9],
}
"""c_1, c_2, .. as section 10 lists them."""


def star(p: int, n: int) -> Hypergraph:
    """Section 10, with the listed connectors."""
    connectors = CONNECTORS.get(p, list(range(p)))
    busses_of = []
    for u in range(p**n):
        d = digits(u, p, n)
        here = [frozenset(number([i, *d[1:]], p) for i in range(p))]
        for m in range(1, n):
            if u % p**m == connectors[m - 1]:
                here.append(frozenset(number([*d[:m], i, *d[m + 1 :]], p) for i in range(p)))
        busses_of.append(here)
    return grouped(p**n, busses_of)


def multistage_lines(kind: str, n: int) -> list[tuple[int, int, int, int]]:
    """(stage, left switch, right switch, line) of section 10, by strings of bits."""

    def without(word: str, bit: int) -> int:
        place = n - 1 - bit
        return int("0" + word[:place] + word[place + 1 :], 2)

    lines = []
    for stage, x in product(range(n - 1), range(2**n)):
        word = format(x, f"0{n}b")
        keep = n - (n - stage)
        left, right = {
            "omega": (int(word[:-1], 2), int((word[1:] + word[0])[:-1], 2)),
            "flip": (int(word[:-1], 2), int((word[-1] + word[:-1])[:-1], 2)),
            "cube": (without(word, stage), without(word, stage + 1)),
            "banyan": (without(word, n - 1 - stage), without(word, n - 2 - stage)),
            "baseline": (
                int(word[:-1], 2),
                int((word[:keep] + word[-1] + word[keep:-1])[:-1], 2),
            ),
        }[kind]
        lines.append((stage, left, right, x))
    return lines
