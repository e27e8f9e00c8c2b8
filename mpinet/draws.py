"""Random draws that depend only on their purpose, never on the rank that draws.

Every draw is a function of (seed, counters): the same for any number of ranks and any mapping.
The arithmetic stays within 32-bit words, and compiled and plain Python agree.

These draws are for traffic, not for statistics. `draw32` walks one cycle of 2^32 words, in which a
seed is a starting point: the streams of two seeds are shifts of one another. `shuffled` gives a
permutation, but permutations are not equally likely. Both functions must not change, because
results depend on them. Statistics should use `uniform_permutation`.
"""

from __future__ import annotations  # evaluating np.random would load it

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import inlined, rule

MASK32 = 0xFFFFFFFF
ROUNDS = 6


@inlined
def mix32(word: int) -> int:
    """Scramble a 32-bit word (Wellons' lowbias32): a bijection."""
    word ^= word >> 16
    word = (word * 0x7FEB352D) & MASK32
    word ^= word >> 15
    word = (word * 0x846CA68B) & MASK32
    return word ^ (word >> 16)


@inlined
def draw32(seed: int, first: int, second: int, stream: int) -> int:
    """Draw 32 random bits for the counters (first, second) of a stream.

    Two seeds below 2^32 give the same words at counters that differ by a constant.
    """
    return thrown(dice(seed, first, stream), second)


@inlined
def dice(seed: int, first: int, stream: int) -> int:
    """Return the word that all draws of one `first` counter share, for `thrown`."""
    word = mix32((seed & MASK32) ^ (stream * 0x1E35A7BD + 0x2545F491) & MASK32)
    word = mix32(word ^ ((seed >> 32) & MASK32))
    word = mix32((word + first) & MASK32)
    return mix32(word ^ ((first >> 32) & MASK32))


@inlined
def thrown(dice: int, second: int) -> int:
    """Return the draw of the `second` counter, from the word of `dice`."""
    word = mix32((dice + second) & MASK32)
    return mix32(word ^ ((second >> 32) & MASK32))


@inlined
def scaled(word: int, count: int) -> int:
    """Scale 32 random bits to an integer 0..count-1."""
    return (word * count) >> 32


def below(probability: float) -> int:
    """Return the bound below which 32 random bits fall with this probability."""
    return int(np.floor(probability * 4294967296.0 + 0.5))


@inlined
def draw(seed: int, first: int, second: int) -> int:
    """Draw 62 random bits for the counters (first, second)."""
    # 30 + 32 bits give a number below 2^62. Compiled code, with signed 64-bit integers,
    # therefore gives the same number as Python.
    high = draw32(seed, first, second, 1)
    return ((high & 0x3FFFFFFF) << 32) | draw32(seed, first, second, 2)


@inlined
def half_width(size: int) -> int:
    """Return the number of bits in each half of a Feistel network whose domain holds 0..size-1."""
    width = 1
    while (1 << (2 * width)) < size:
        width += 1
    return width


@inlined
def shuffled(index: int, size: int, seed: int) -> int:
    """Return the image of `index` under a seeded permutation of 0..size-1 (see `unshuffled`).

    The function walks a Feistel network on the least even number of bits until the value is in
    range. Not all permutations are equally likely: for 4^w numbers (16, 64, 256 and so on) all are
    even ones.
    """
    width = half_width(size)
    mask = (1 << width) - 1
    # Cycle walking: the Feistel network permutes a power of four, and values beyond the size are
    # mapped again.
    while True:
        left, right = index >> width, index & mask
        for turn in range(ROUNDS):
            left, right = right, left ^ (draw32(seed, right, turn, 3) & mask)
        index = (left << width) | right
        if index < size:
            return index


@inlined
def unshuffled(index: int, size: int, seed: int) -> int:
    """Return the index whose image under `shuffled` is the argument: the inverse permutation."""
    width = half_width(size)
    mask = (1 << width) - 1
    while True:
        left, right = index >> width, index & mask
        for turn in range(ROUNDS - 1, -1, -1):
            left, right = right ^ (draw32(seed, left, turn, 3) & mask), left
        index = (left << width) | right
        if index < size:
            return index


@rule
def permuted(node, inverse, params):
    """Apply `shuffled` (port 0) or `unshuffled` (port 1), with params = (size, 2, seed)."""
    if inverse:
        return unshuffled(node, int(params[0]), int(params[2]))
    return shuffled(node, int(params[0]), int(params[2]))


PERMUTATION = 0x7065726D
"""Number of the random stream of permutations."""


def philox(stream: int, seed: int) -> np.random.Philox:
    """Return the generator Philox (4x64, 10 rounds; Salmon et al. 2011) of a stream and a seed.

    Streams and seeds have 64 bits each. Their draws are independent of each other, and the
    same on every machine.
    """
    return np.random.Philox(key=(stream << 64) | (seed % 2**64))


def uniform_permutation(size: int, seed: int) -> Ints:
    """Draw a permutation of 0..size-1, all equally likely: the order of random keys.

    Number i gets the i-th key of the generator (`philox`). Second keys order the rare numbers with
    equal keys.

    Parameters
    ----------
    size : int
        Number of elements; takes 24 bytes for each.
    seed : int
        0..2^64 - 1.

    Returns
    -------
    ndarray of int64, shape (size,)
        The image of each number.
    """
    generator = philox(PERMUTATION, seed)
    keys = generator.random_raw(size)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    # Equal keys have a chance of n^2 / 2^65. Further keys, not numbers, break the tie, which
    # keeps the permutation uniform.
    if (keys[1:] == keys[:-1]).any():
        order = order[np.lexsort((generator.random_raw(size), keys))]
    return order
