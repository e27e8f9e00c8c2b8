"""The settings that the tests share: usual ones and odd ones."""

import random

from serial.gbsn.reference import Gbsn as Reference
from serial.gbsn.reference import bsn, ceil_lg

BSN = [
    (1, 1, 1),
    (1, 1, 2),
    (1, 1, 3),
    (1, 1, 7),
    (1, 2, 4),
    (2, 2, 4),
    (2, 2, 3),
    (1, 3, 5),
    (3, 3, 3),
    (1, 3, 7),
    (3, 3, 7),
    (2, 4, 5),
    (1, 5, 6),
    (2, 4, 8),
    (5, 5, 8),
    (1, 7, 7),
    (3, 6, 8),
]
"""(a, b, n): b dividing n and not, n = b, n = 2b, b < n < 2b, the last section shorter than a."""

GBSN = {
    "gbsn:1,m=4-4-4-2,a=1": Reference(1, [4, 4, 4, 2], 1),
    "gbsn:2,m=4-4-4-3,a=1": Reference(2, [4, 4, 4, 3], 1),
    "gbsn:1,m=2,a=1": Reference(1, [2], 1),
    "gbsn:3,m=8,a=2": Reference(3, [8], 2),
    "gbsn:2,m=13,a=3": Reference(2, [13], 3),
    "gbsn:1,m=2-2-2,a=1": Reference(1, [2, 2, 2], 1),
    "gbsn:3,m=2-3-5-2-7-2-2-4-3,a=1": Reference(3, [2, 3, 5, 2, 7, 2, 2, 4, 3], 1),
    "gbsn:4,m=2-16-3,a=1-4-2": Reference(4, [2, 16, 3], [1, 4, 2]),
    "gbsn:5,m=20-31-3-17-9,a=2-5-1-3-4": Reference(5, [20, 31, 3, 17, 9], [2, 5, 1, 3, 4]),
    "gbsn:2,m=2-2-2-2-9,a=1": Reference(2, [2, 2, 2, 2, 9], 1),
    "gbsn:3,m=5-8-7-8-6-8-8-3-8-8-8-8-4-8-8-8-8,a=2": Reference(
        3, [5, 8, 7, 8, 6, 8, 8, 3, 8, 8, 8, 8, 4, 8, 8, 8, 8], 2
    ),
    "gbsn:6,m=33-64-40,a=5-4-6": Reference(6, [33, 64, 40], [5, 4, 6]),
    "gbsn:6,m=3-64-40-5-17,a=2-4-5-1-3": Reference(6, [3, 64, 40, 5, 17], [2, 4, 5, 1, 3]),
}
"""Canonical string -> the same network of the reference: single blocks, blocks narrower than the
shift, needy blocks, shifts wider than a block address."""


def drawn(seed: int, count: int, most: int) -> list[Reference]:
    """Irregular GBSNs with blocks of up to `most` processors, with all kinds of shift amounts."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        k, top = draw.randint(1, 12), draw.choice([2, 3, 5, most // 2, most])
        m = [draw.choice([2, top, draw.randint(2, top)]) for _ in range(k)]
        widths = [ceil_lg(size) for size in m]
        b = draw.choice([1, max(widths), draw.randint(1, max(widths))])
        a = [draw.choice([1, width, draw.randint(1, width)]) for width in widths]
        found.append(Reference(b, m, a))
    return found


def name(network: Reference) -> str:
    """The canonical string of a network."""
    parts = network.a if len(set(network.a)) > 1 else network.a[:1]
    m, a = ("-".join(map(str, numbers)) for numbers in (network.m, parts))
    return f"gbsn:{network.b},m={m},a={a}"


WIRINGS = {f"bsn:{a},{b},{n}": bsn(a, b, n) for a, b, n in BSN} | {
    text: network.wiring for text, network in GBSN.items()
}
"""Topology string -> wiring."""
