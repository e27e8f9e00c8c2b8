"""Cyclic shifts of address words, and the number of shifts between two blocks."""

from mpinet.compiled import inlined


@inlined
def rotated_left(word, shift, bits):
    """The word of `bits` bits, rotated by 0..bits positions to the left."""
    return ((word << shift) & ((1 << bits) - 1)) | (word >> (bits - shift))


@inlined
def rotated_right(word, shift, bits):
    """The word of `bits` bits, rotated by 0..bits positions to the right."""
    return (word >> shift) | ((word & ((1 << shift) - 1)) << (bits - shift))


@inlined
def bits_to_bring(block, goal, shift, block_bits):
    """Bits by which the fewest right shifts, at least one, turn a block into another one: j b.

    What the shifts leave of the block's own bits must be the goal's rightmost ones
    (docs/papers/gbsn, 3.3).
    """
    bits = shift
    # Bits that already stand where the shifts bring them need not be brought. The first overlap
    # found is the longest one.
    while bits < block_bits and block >> bits != goal & ((1 << (block_bits - bits)) - 1):
        bits += shift
    return bits


@inlined
def wanted_bits(goal, bits, shift, block_bits):
    """The bits that the first of these shifts has to bring, as the rightmost `shift` ones.

    The rightmost ``bits - block_bits`` of them, if any, are free, and zero here.
    """
    if bits <= block_bits:
        return (goal >> (block_bits - bits)) & ((1 << shift) - 1)
    return (goal << (bits - block_bits)) & ((1 << shift) - 1)
