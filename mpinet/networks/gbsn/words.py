"""Cyclic shifts of address words, and the number of shifts between two blocks."""

from mpinet.compiled import inlined


@inlined
def rotated_left(word, shift, bits):
    """Return the word of `bits` bits, rotated by 0..bits positions to the left."""
    return ((word << shift) & ((1 << bits) - 1)) | (word >> (bits - shift))


@inlined
def rotated_right(word, shift, bits):
    """Return the word of `bits` bits, rotated by 0..bits positions to the right."""
    return (word >> shift) | ((word & ((1 << shift) - 1)) << (bits - shift))


@inlined
def bits_to_bring(block, goal, shift, block_bits):
    """Return the length j b of the fewest right shifts, at least one, from a block to another one.

    The block's own bits that remain after the shifts must be the goal's rightmost bits
    (docs/papers/gbsn, 3.3).
    """
    bits = shift
    # Bits that the shifts move to the right place need not be brought. The first overlap
    # found is the longest one.
    while bits < block_bits and block >> bits != goal & ((1 << (block_bits - bits)) - 1):
        bits += shift
    return bits


@inlined
def wanted_bits(goal, bits, shift, block_bits):
    """Return the bits that the first of these shifts has to bring, as the rightmost `shift` bits.

    The rightmost ``bits - block_bits`` of these, if any, are free, and zero here.
    """
    if bits <= block_bits:
        return (goal >> (block_bits - bits)) & ((1 << shift) - 1)
    return (goal << (bits - block_bits)) & ((1 << shift) - 1)
