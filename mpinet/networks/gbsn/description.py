"""The machine description of a GBSN, in the form that its rules read: one record per block.

Every processor knows only this description of the network: the number of blocks, the shift amount,
and for each block its first number, size and partial connection.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from mpinet.compiled import inlined, part
from mpinet.networks.arithmetic import ceil_log2
from mpinet.networks.gbsn.partial import partial_ports, subsection_tops
from mpinet.networks.gbsn.words import rotated_left, rotated_right

BLOCKS, SHIFT, BLOCK_BITS, PLACE_BITS, RECORDS, FIRSTS = range(2, 8)
"""Places in the rules' parameters: k, b, c, w, the place of the blocks' records, and the numbers of
the blocks' first processors.
"""

SIZE, WIDTH, A, TOPS, LEFT, NEEDY, RECORD = range(7)
"""Places in a block's record: its m, ceil(lg m) and a; the topmost bits of its subsections; the
port LEFT (RIGHT follows); whether it is needy; and the record's length.
"""


def description(b: int, m: Sequence[int], a: Sequence[int], completed: bool) -> list[int]:
    """Return the rules' parameters without size and ports.

    Parameters
    ----------
    b : int
        The shift amount.
    m, a : sequence of int, shape (k,)
        The blocks' sizes and partial parameters.
    completed : bool
        Whether needy blocks get their completion link.
    """
    needy = needy_blocks(b, m) if completed else [False] * len(m)
    words = [len(m), b, ceil_log2(len(m)), max(map(ceil_log2, m)), FIRSTS + len(m)]
    # Every rule needs the numbers of first processors. Prefix sums give each number in one access.
    words += accumulate(m[:-1], initial=0)
    for size, partial, flag in zip(m, a, needy, strict=True):
        width = ceil_log2(size)
        tops, left = subsection_tops(width, partial), partial_ports(width, partial)
        words += [size, width, partial, tops, left, int(flag)]
    return words


def needy_blocks(b: int, m: Sequence[int]) -> list[bool]:
    """Return, per block, whether its first processor lacks a right shift (docs/papers/gbsn, 2).

    This shift leads from block B to block B >> b. The shift is missing if block B >> b is too
    small, or if the completion link of another needy block occupies the port there.
    """
    place_bits = max(map(ceil_log2, m))
    needy = [False]
    for block in range(1, len(m)):
        upper, rest = block >> b, block % 2**b
        # A completion link takes over the port that this shift would need. The block then has no
        # link upwards, and needs a completion link of its own.
        taken = b >= 2 and rest == 0 and needy[2 * upper]
        needy.append(rest << (place_bits - b) >= m[upper] or taken)
    return needy


@inlined
def record(block, params):
    """Return the index of a block's record in the parameters."""
    return params[RECORDS] + RECORD * block


@inlined
def first_of(block, params):
    """Return the number of a block's first processor."""
    return params[FIRSTS + block]


@inlined
def block_of(node, params):
    """Return the block of a processor, by binary search for its number."""
    block, blocks = 0, params[BLOCKS]
    while blocks > 1:
        # Halving the number of blocks instead of an interval keeps the number of iterations equal
        # for all nodes, which suits compiled loops.
        half = blocks >> 1
        if first_of(block + half, params) <= node:
            block += half
        blocks -= half
    return block


@inlined
def is_needy(block, params):
    """Return whether the block exists and is needy."""
    return block < params[BLOCKS] and params[record(block, params) + NEEDY] != 0


@part
def is_there(block, place, params):
    """Return whether the network contains this word."""
    return block < params[BLOCKS] and place < params[record(block, params) + SIZE]


@part
def right_is_taken(block, place, params):
    """Return whether a completion link occupies the processor's port RIGHT."""
    if place == 0:
        return is_needy(block, params)
    return place == 1 and is_needy(2 * block + 1, params)


@part
def left_is_taken(block, place, params):
    """Return whether a completion link occupies the processor's port LEFT."""
    return place == 0 and is_needy(2 * block, params)


@inlined
def halves(word, params):
    """Return block and place of a word, even if the network lacks them."""
    return word >> params[PLACE_BITS], word & ((1 << params[PLACE_BITS]) - 1)


@part
def right_shift(block, place, params):
    """Return block and place after a right shift."""
    word, bits = (block << params[PLACE_BITS]) | place, params[BLOCK_BITS] + params[PLACE_BITS]
    return halves(rotated_right(word, params[SHIFT], bits), params)


@inlined
def left_shift(block, place, params):
    """Return block and place after a left shift."""
    word, bits = (block << params[PLACE_BITS]) | place, params[BLOCK_BITS] + params[PLACE_BITS]
    return halves(rotated_left(word, params[SHIFT], bits), params)


@inlined
def other_end(block, place, leftwards, params):
    """Return block, place and side of the end behind the port LEFT or RIGHT.

    The side is 0 for LEFT, 1 for RIGHT. The block is -1 if the port is not wired.
    """
    # A completion link replaces the shift of its port, and is tested first.
    if leftwards and left_is_taken(block, place, params):
        return 2 * block, 0, 1
    if not leftwards and right_is_taken(block, place, params):
        if place == 1:
            return 2 * block + 1, 0, 1
        return block >> 1, block & 1, block & 1
    if leftwards:
        other, there = left_shift(block, place, params)
        taken = right_is_taken(other, there, params)
    else:
        other, there = right_shift(block, place, params)
        taken = left_is_taken(other, there, params)
    # A shift needs both its ends. In the third case rotation keeps the word, and the link would be
    # a self-loop.
    if taken or not is_there(other, there, params) or (other == block and there == place):
        return -1, 0, 0
    return other, there, 1 if leftwards else 0
