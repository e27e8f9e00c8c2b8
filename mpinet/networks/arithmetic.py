"""Integer arithmetic that local rules share: bits and digits of processor numbers."""

from mpinet.compiled import inlined


@inlined
def count_ones(word: int) -> int:
    """Number of one bits of a non-negative 64-bit word.

    In these very operations compilers see the one instruction that processors have for it.
    """
    word -= (word >> 1) & 0x5555555555555555
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (int(word) * 0x0101010101010101 >> 56) & 0x7F


@inlined
def lowest_one(word: int) -> int:
    """Position of the lowest one bit of a positive word."""
    return count_ones((word & -word) - 1)


@inlined
def highest_one(word: int) -> int:
    """Position of the highest one bit of a positive word."""
    word |= word >> 1
    word |= word >> 2
    word |= word >> 4
    word |= word >> 8
    word |= word >> 16
    return count_ones(word | (word >> 32)) - 1


@inlined
def ceil_log2(number: int) -> int:
    """Least e with 2^e >= number, for a positive number."""
    exponent = 0
    while (1 << exponent) < number:
        exponent += 1
    return exponent
