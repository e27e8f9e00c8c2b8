"""Textbook algorithms of collectives, as patterns of messages.

Each algorithm is written once, in the direction of spreading data. A reduction is a reversed
broadcast, and a reduce-scatter is a reversed allgather. The root of a rooted collective is
processor 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.memory import require_memory
from mpinet.errors import UsageError
from mpinet.programs.messages.pattern import Round, TransferRounds, back, round_of

Streams = list[list[Round]]
Butterfly = Callable[[int], list[Ints]]

BYTES_A_BLOCK = 40
"""Bytes of memory per separately listed block while a pattern is built."""


# Trees: streams from processor 0 to all. The vector has one block per tree.


def linear(processors: int) -> Streams:
    """Return a broadcast in which the root sends to every other processor."""
    others = np.arange(1, processors)
    return [[round_of(np.zeros_like(others), others)]]


def chain(processors: int) -> Streams:
    """Return a broadcast along a chain of processors; with segments, a pipeline."""
    return [[round_of(node, node + 1) for node in range(processors - 1)]]


def binomial(processors: int) -> Streams:
    """Return a binomial tree: in every round informed processors send half as far as before."""
    return [_binomial(processors, scatter=False)]


def _binomial(processors: int, scatter: bool) -> list[Round]:
    rounds = []
    far = 1 << max(0, (processors - 1).bit_length() - 1)
    while far and processors > 1:
        senders = np.arange(0, processors - far, 2 * far)
        there = senders + far
        each = round_of(senders, there, there if scatter else 0)
        if scatter:
            each = each._replace(width=np.minimum(far, processors - there))
        rounds.append(each)
        far >>= 1
    return rounds


def bine(processors: int) -> Streams:
    """Return a bine tree: like a binomial tree, with distances 1, -1, 3, -5, 11 and so on."""
    rounds, have = [], np.zeros(1, np.int64)
    for partner in reversed(negabinary(processors)):
        rounds.append(round_of(have, partner[have]))
        have = np.concatenate([have, partner[have]])
    return [rounds]


def double_tree(processors: int) -> Streams:
    """Return two binary trees, for half of the vector each; no inner node is common to both."""
    others = processors - 1
    numbers = np.arange(1, processors)
    # Mirrored or shifted by one, the second tree has the leaves of the first as inner nodes. Each
    # processor then sends half.
    turned = processors - numbers if others % 2 == 0 else numbers % others + 1
    return [
        [each._replace(first=np.full_like(each.first, tree)) for each in _binary(places)]
        for tree, places in enumerate((numbers, turned))
        if processors > 1
    ]


def _binary(places: Ints) -> list[Round]:
    """Return the rounds of a binary tree over the given processors below the root, by depth."""
    most = len(places)
    who = np.zeros(most + 1, np.int64)
    who[places] = np.arange(1, most + 1)
    parent, depth = [0] * (most + 1), [0] * (most + 1)
    for place in range(1, most + 1):
        low = place & -place
        above = (place ^ low) | low << 1
        parent[place] = above if above <= most else place ^ low

    def deep(place: int) -> int:
        if place and not depth[place]:
            depth[place] = deep(parent[place]) + 1
        return depth[place]

    levels: dict[int, list[int]] = {}
    for place in range(1, most + 1):
        levels.setdefault(deep(place), []).append(place)
    return [
        round_of(who[[parent[place] for place in levels[level]]], who[levels[level]])
        for level in sorted(levels)
    ]


# Butterflies: in round k processor r and partners[k][r] exchange.


def doubling(processors: int) -> list[Ints]:
    """Return each round's partners at distances 1, 2, 4 and so on."""
    nodes = np.arange(_power(processors))
    return [nodes ^ 1 << k for k in range(processors.bit_length() - 1)]


def negabinary(processors: int) -> list[Ints]:
    """Return each round's partners: even processors at distances 1, -1, 3, -5 and so on.

    Odd processors have the negative distances.
    """
    nodes = np.arange(_power(processors))
    sign = 1 - 2 * (nodes & 1)
    return [
        (nodes + sign * ((1 - (-2) ** (k + 1)) // 3)) % processors
        for k in range(processors.bit_length() - 1)
    ]


def _power(processors: int) -> int:
    if processors & (processors - 1):
        raise UsageError(f"This algorithm is for a power of two of processors, not {processors}.")
    return processors


def spread(partners: Sequence[Ints], processors: int) -> list[Round]:
    """Return the rounds of an allgather: each processor sends all its blocks to a partner."""
    require_memory(BYTES_A_BLOCK * processors**2, f"An allgather of {processors} processors")
    have = np.arange(processors)[:, None]
    rounds = []
    for partner in partners:
        width = have.shape[1]
        blocks = np.sort(have, axis=1)
        # Adjacent blocks form one range. Other butterflies scatter the blocks, and each block is
        # listed separately.
        if np.all(blocks[:, -1] - blocks[:, 0] == width - 1):
            each = round_of(np.arange(processors), partner, blocks[:, 0], width)
        else:
            owners = np.repeat(np.arange(processors), width)
            each = Round(
                np.arange(processors), partner, owners, blocks.ravel(), np.ones_like(owners)
            )
        rounds.append(each)
        have = np.concatenate([have, have[partner]], axis=1)
    return rounds


def exchanged(partners: Sequence[Ints]) -> list[Round]:
    """Return the rounds of an allreduce in which partners exchange whole vectors."""
    return [round_of(np.arange(len(each)), each)._replace(add=True) for each in partners]


def ring(processors: int, way: int = 1) -> list[Round]:
    """Return the rounds of a ring allgather: each processor forwards the last received block."""
    nodes = np.arange(processors)
    return [
        round_of(nodes, (nodes + way) % processors, (nodes - way * turn) % processors)
        for turn in range(processors - 1)
    ]


def bruck(processors: int) -> list[Round]:
    """Return Bruck's allgather: each processor sends all its blocks back by 1, 2, 4 and so on."""
    nodes, rounds, have = np.arange(processors), [], 1
    while have < processors:
        count = min(have, processors - have)
        rounds.append(round_of(nodes, (nodes - have) % processors, nodes, count))
        have += count
    return rounds


def _folded(processors: int, inner: Callable[[int], tuple[list[Round], int]]) -> TransferRounds:
    """Return an allreduce on the largest power of two of processors, extended to all processors.

    Each extra processor sends its vector to a partner before the allreduce and receives the result
    afterwards.
    """
    power = 1 << (processors.bit_length() - 1)
    rounds, blocks = inner(power)
    extra = np.arange(power, processors)
    if len(extra):
        after = round_of(extra - power, extra, 0, blocks)
        rounds = [after.back(), *rounds, after]
    return TransferRounds(processors, [rounds], blocks)


def _both(rounds: list[Round]) -> list[Round]:
    """Return a reduce-scatter (the reversed rounds), followed by the allgather of the rounds."""
    return back(rounds) + rounds


# Collectives.


def _along(tree: str, way: Callable[[list[Round]], list[Round]] = list) -> Algorithm:
    """Return a collective along a tree: by default a broadcast.

    The way `back` makes a reduction of the broadcast, and `_both` an allreduce.
    """
    streams_of, source = TREES[tree]

    def made(processors: int) -> TransferRounds:
        streams = [way(rounds) for rounds in streams_of(processors)]
        return TransferRounds(processors, streams, max(1, len(streams)))

    return Algorithm(made, source)


def _gathered(rounds: Callable[[int], list[Round]]) -> Callable[[int], TransferRounds]:
    return lambda processors: TransferRounds(processors, [rounds(processors)], processors)


def _scattered(rounds: Callable[[int], list[Round]]) -> Callable[[int], TransferRounds]:
    """Return a reduce-scatter: the allgather with its rounds reversed."""
    return _gathered(lambda processors: back(rounds(processors)))


def _butterflies(partners: Butterfly, way: int = 1) -> Callable[[int], list[Round]]:
    return lambda processors: spread(partners(processors)[::way], processors)


def _scatter_allgather(processors: int) -> list[Round]:
    return _binomial(processors, scatter=True) + ring(processors)


def _ring_allreduce(processors: int) -> list[Round]:
    return back(ring(processors, -1)) + ring(processors)


def _halving_doubling(partners: Butterfly, way: int = 1) -> Callable[[int], TransferRounds]:
    def inner(power: int) -> tuple[list[Round], int]:
        return _both(spread(partners(power)[::way], power)), power

    return lambda processors: _folded(processors, inner)


def _whole(partners: Butterfly) -> Callable[[int], TransferRounds]:
    return lambda processors: _folded(processors, lambda power: (exchanged(partners(power)), 1))


def _linear_alltoall(processors: int) -> TransferRounds:
    nodes, turns = np.arange(processors), np.arange(1, processors)[:, None]
    there = (nodes + turns) % processors
    senders = np.broadcast_to(nodes, there.shape).ravel()
    rounds = [round_of(senders, there.ravel(), (nodes * processors + there).ravel())]
    return TransferRounds(processors, [rounds], processors**2, processors)


def _pairwise_alltoall(processors: int) -> TransferRounds:
    rounds = [round_of(*_shifted(processors, turn)) for turn in range(1, processors)]
    return TransferRounds(processors, [rounds], processors**2, processors)


def _shifted(processors: int, turn: int) -> tuple[Ints, Ints, Ints]:
    """Return senders, receivers and blocks of a shift: each sends to the processor `turn` ahead."""
    nodes = np.arange(processors)
    there = (nodes + turn) % processors
    return nodes, there, nodes * processors + there


def _pairwise_reduce_scatter(processors: int) -> list[Round]:
    ends = (_shifted(processors, turn)[:2] for turn in range(1, processors))
    return [round_of(nodes, there, there)._replace(add=True) for nodes, there in ends]


def _bruck_alltoall(processors: int) -> TransferRounds:
    require_memory(BYTES_A_BLOCK * processors**2, f"An alltoall of {processors} processors")
    nodes, rounds, far = np.arange(processors), [], 1
    while far < processors:
        left = np.flatnonzero(np.arange(processors) & far)
        source = (nodes[:, None] - left % far) % processors
        blocks = source * processors + (source + left) % processors
        owners = np.repeat(nodes, len(left))
        there = (nodes + far) % processors
        rounds.append(Round(nodes, there, owners, blocks.ravel(), np.ones_like(owners)))
        far <<= 1
    return TransferRounds(processors, [rounds], processors**2, processors)


class Algorithm(NamedTuple):
    """A textbook algorithm: the function that makes its pattern, and its source."""

    make: Callable[[int], TransferRounds]
    """Function from a number of processors to the pattern."""
    source: str
    """Publication that describes the algorithm."""


THAKUR = "Thakur, Rabenseifner, Gropp 2005"
TREES: dict[str, tuple[Callable[[int], Streams], str]] = {
    "linear": (linear, "Pjesivac-Grbovic et al. 2007"),
    "chain": (chain, "Pjesivac-Grbovic et al. 2007"),
    "binomial": (binomial, THAKUR),
    "double-tree": (double_tree, "Sanders, Speck, Traeff 2009"),
    "bine": (bine, "De Sensi et al. 2025"),
}

ALGORITHMS: dict[str, dict[str, Algorithm]] = {
    "broadcast": {
        **{name: _along(name) for name in TREES},
        "scatter-allgather": Algorithm(_gathered(_scatter_allgather), "Barnett et al. 1994"),
    },
    "reduce": {name: _along(name, back) for name in TREES},
    "allreduce": {
        "recursive-doubling": Algorithm(_whole(doubling), THAKUR),
        "ring": Algorithm(_gathered(_ring_allreduce), "Patarasuk, Yuan 2009"),
        "rabenseifner": Algorithm(_halving_doubling(doubling), "Rabenseifner 2004"),
        "bine": Algorithm(_halving_doubling(negabinary, -1), "De Sensi et al. 2025"),
        "bine-doubling": Algorithm(_whole(negabinary), "De Sensi et al. 2025"),
        **{name: _along(name, _both) for name in ("binomial", "chain", "double-tree")},
    },
    "allgather": {
        "ring": Algorithm(_gathered(ring), THAKUR),
        "recursive-doubling": Algorithm(_gathered(_butterflies(doubling)), THAKUR),
        "bruck": Algorithm(_gathered(bruck), "Bruck et al. 1997"),
        "bine": Algorithm(_gathered(_butterflies(negabinary, -1)), "De Sensi et al. 2025"),
    },
    "reduce-scatter": {
        "ring": Algorithm(_scattered(lambda count: ring(count, -1)), "Patarasuk, Yuan 2009"),
        "recursive-halving": Algorithm(_scattered(_butterflies(doubling)), THAKUR),
        "pairwise": Algorithm(_gathered(_pairwise_reduce_scatter), THAKUR),
        "bine": Algorithm(_scattered(_butterflies(negabinary, -1)), "De Sensi et al. 2025"),
    },
    "alltoall": {
        "linear": Algorithm(_linear_alltoall, THAKUR),
        "pairwise": Algorithm(_pairwise_alltoall, THAKUR),
        "bruck": Algorithm(_bruck_alltoall, "Bruck et al. 1997"),
    },
}
"""Algorithms of each collective, by name."""
