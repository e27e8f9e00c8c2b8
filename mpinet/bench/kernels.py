"""Kernels of the baselines: each executes only its workload, as fast as one core can.

Each kernel supports one network, stores no message numbers, meters nothing and checks nothing.
``counts`` receives the number of message-hops (1 after a fault) and the number of steps.
"""

import numpy as np

from mpinet.base.arguments import DecideRule, PortRule, StartRule
from mpinet.base.arrays import Bytes, Complexes, Counts, Ints, ShortRows, Table, WordRows
from mpinet.bench.rules import next_uniform
from mpinet.compiled import idiom, inlined, kernel

HOPS, STEPS = 0, 1
"""Indices into ``counts``."""


@kernel
def fix_bits(at: Counts, target: Counts, used: Counts, counts: Ints) -> None:
    """Route messages on a hypercube, lowest bit first; `used` marks the ports used in a step.

    If several messages need a link, the first in the array gets it. The arrays, shape (N,), are
    overwritten.
    """
    zero, live = np.uint32(0), 0
    for m in range(at.size):
        if at[m] != target[m]:
            at[live], target[live] = at[m], target[m]
            live += 1
    while live:
        counts[STEPS] += 1
        used[:] = 0
        kept = 0
        for m in range(live):
            u, t = at[m], target[m]
            difference = np.uint32(u ^ t)
            low = np.uint32(difference & np.uint32(zero - difference))
            # The first message in the array gets the link, as in the emulator, where the lowest
            # number has priority.
            taken = used[u]
            # Written without a branch, because an unpredictable jump per message would cost more
            # than the hop itself.
            go = zero if (taken & low) else low
            used[u] = taken | low
            u = np.uint32(u ^ go)
            counts[HOPS] += np.int64(go != zero)
            at[kept], target[kept] = u, t
            kept += int(u != t)
        live = kept


@kernel
def sweep(
    neighbor_rule: PortRule,
    decide_rule: DecideRule,
    wiring: Ints,
    wayfinding: Ints,
    at: Counts,
    target: Counts,
    used: Counts,
    counts: Ints,
) -> None:
    """Route messages whose header is the target, by a network's rules; otherwise as `fix_bits`.

    Nodes decide again in every step, which is faster than storing the chosen ports.
    """
    neighbor, decide = neighbor_rule.call, decide_rule.call
    header, live = np.empty(1, np.int64), at.size
    while live:
        counts[STEPS] += 1
        used[:] = 0
        kept = 0
        for m in range(live):
            u, t = np.int64(at[m]), target[m]
            header[0] = t
            port = decide(u, header, wayfinding)
            if port < 0:
                continue
            bit = np.uint32(1) << np.uint32(port)
            if used[u] & bit == 0:
                used[u] |= bit
                counts[HOPS] += 1
                u = neighbor(u, port, wiring)
            if u != t:
                at[kept], target[kept] = u, t
                kept += 1
        live = kept


@kernel
def sweep_headers(
    neighbor_rule: PortRule,
    decide_rule: DecideRule,
    wiring: Ints,
    wayfinding: Ints,
    at: Ints,
    port: Bytes,
    words: Table,
    used: Counts,
    counts: Ints,
) -> None:
    """Route messages with any headers (`words`), as `sweep`: each node decides once per message."""
    neighbor, decide = neighbor_rule.call, decide_rule.call
    width, live = words.shape[1], 0
    header = np.empty(width, np.int64)
    for m in range(at.size):
        header[:] = words[m]
        chosen = decide(at[m], header, wayfinding)
        if chosen >= 0:
            at[live], port[live] = at[m], chosen
            words[live] = header
            live += 1
    while live:
        counts[STEPS] += 1
        used[:] = 0
        kept = 0
        for m in range(live):
            u, p = at[m], port[m]
            bit = np.uint32(1) << np.uint32(p)
            if used[u] & bit:
                at[kept], port[kept] = u, p
                for j in range(width):
                    words[kept, j] = words[m, j]
                kept += 1
                continue
            used[u] |= bit
            counts[HOPS] += 1
            v = neighbor(u, np.int64(p), wiring)
            for j in range(width):
                header[j] = words[m, j]
            chosen = decide(v, header, wayfinding)
            if chosen >= 0:
                at[kept], port[kept] = v, chosen
                for j in range(width):
                    words[kept, j] = header[j]
                kept += 1
        live = kept


@kernel
def write_headers(start_rule: StartRule, params: Ints, targets: Ints, words: Table) -> None:
    """Write the header of every message at its source; row i belongs to the message from node i."""
    start = start_rule.call
    header = np.empty(words.shape[1], np.int64)
    for source in range(targets.size):
        header[:] = 0
        start(source, targets[source], header, params)
        words[source] = header


@kernel
def saturate(
    at: Counts,
    target: Counts,
    state: Ints,
    used: Counts,
    side: int,
    dimensions: int,
    steps: int,
    counts: Ints,
) -> None:
    """Keep the messages of a torus in flight: an arrived message draws another target.

    Nodes are coordinates of 8 bits each, the first in the lowest bits; routes go dimension by
    dimension.
    """
    # Nodes are packed coordinates, so the next hop is found without division.
    byte, one, last = np.uint32(255), np.uint32(1), np.uint32(side - 1)
    for _ in range(steps):
        counts[STEPS] += 1
        used[:] = 0
        for m in range(at.size):
            u, t = at[m], target[m]
            difference = np.uint32(u ^ t)
            low = np.uint32(difference & np.uint32(np.uint32(0) - difference))
            dimension = np.uint32(low > np.uint32(0xFF)) + np.uint32(low > np.uint32(0xFFFF))
            shift = np.uint32(np.uint32(dimension) * np.uint32(8))
            a, b = (u >> shift) & byte, (t >> shift) & byte
            ahead = np.int64(b) - np.int64(a)
            if ahead < 0:
                ahead += side
            # Half-way round, both directions are equally long. One direction is fixed to make
            # counts reproducible.
            plus = 2 * ahead <= side
            place = (u & byte) + side * ((u >> np.uint32(8)) & byte)
            place += side * side * ((u >> np.uint32(16)) & byte)
            bit = np.uint32(one << np.uint32(np.uint32(2) * np.uint32(dimension) + np.uint32(plus)))
            if used[place] & bit:
                continue
            used[place] |= bit
            counts[HOPS] += 1
            if plus:
                moved = np.uint32(0) if a == last else np.uint32(a + one)
            else:
                moved = last if a == 0 else np.uint32(a - one)
            u = np.uint32((u & ~np.uint32(byte << shift)) | np.uint32(moved << shift))
            at[m] = u
            while t == u:
                state[m] = next_uniform(state[m])
                t = coordinates(state[m], side, dimensions)
                target[m] = t


@inlined
def coordinates(word, side, dimensions):
    """Return a torus node, 8 bits per coordinate, drawn from 32 random bits."""
    node = np.uint32(0)
    for i in range(dimensions):
        word *= side
        node = np.uint32(node | np.uint32(np.uint32(word >> 32) << np.uint32(8 * i)))
        word &= 0xFFFFFFFF
    return node


@kernel
def inform(informed: Bytes, told: Bytes, dimensions: int) -> int:
    """Broadcast one-port from node 0 of a hypercube, visiting all nodes per step; count sends."""
    messages = 0
    for j in range(dimensions):
        for u in range(informed.size):
            told[u ^ (1 << j)] = informed[u]
        for u in range(informed.size):
            # Bytes and masks replace a queue of informed nodes, so each step reads memory in order.
            new = told[u] & (informed[u] ^ np.uint8(1))
            messages += int(new)
            informed[u] |= new
    return messages


@kernel
def sort_pairs(keys: Ints, q: int) -> None:
    """Sort 2^q keys with Batcher's bitonic sorter, all pairs of a dimension in one pass."""
    for s in range(1, q + 1):
        for j in range(s - 1, -1, -1):
            span = 1 << j
            for begin in range(0, keys.size, 2 * span):
                if (begin >> s) & 1 == 0:
                    for i in range(begin, begin + span):
                        a, b = keys[i], keys[i + span]
                        keys[i], keys[i + span] = min(a, b), max(a, b)
                else:
                    for i in range(begin, begin + span):
                        a, b = keys[i], keys[i + span]
                        keys[i], keys[i + span] = max(a, b), min(a, b)


@kernel
def transform_pairs(x: Complexes, roots: Complexes, q: int) -> None:
    """Compute a discrete Fourier transform by decimation in frequency, with bit-reversed output."""
    for j in range(q - 1, -1, -1):
        span, stride = 1 << j, 1 << (q - 1 - j)
        for begin in range(0, x.size, 2 * span):
            for i in range(span):
                u, v = x[begin + i], x[begin + i + span]
                x[begin + i] = u + v
                x[begin + i + span] = (u - v) * roots[i * stride]


@idiom
def ones(word):
    """Return the number of one bits of an unsigned 64-bit word."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(np.uint64(word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def add_distances(
    neighbors: ShortRows,
    first: int,
    sources: int,
    seen: WordRows,
    fresh: WordRows,
    following: WordRows,
) -> int:
    """Return the sum of distances from the sources `first`.., by flooding one bit per source.

    A word holds at most 64 sources.
    """
    words = seen.shape[1]
    gathered = np.zeros(words, np.uint64)
    seen[:] = 0
    fresh[:] = 0
    for s in range(sources):
        seen[first + s, s >> 6] |= np.uint64(1) << np.uint64(s & 63)
        fresh[first + s, s >> 6] |= np.uint64(1) << np.uint64(s & 63)
    distance = total = 0
    new = 1
    while new:
        new = 0
        distance += 1
        for u in range(neighbors.shape[0]):
            for w in range(words):
                gathered[w] = fresh[neighbors[u, 0], w]
            for p in range(1, neighbors.shape[1]):
                v = neighbors[u, p]
                for w in range(words):
                    gathered[w] |= fresh[v, w]
            for w in range(words):
                bits = gathered[w] & ~seen[u, w]
                following[u, w] = bits
                seen[u, w] |= bits
                new += ones(bits)
        total += distance * new
        fresh, following = following, fresh
    return total
