"""Integer arithmetic that local rules share: bits and digits of processor numbers."""

from mpinet.compiled import idiom, inlined


@idiom
def count_ones(word: int) -> int:
    """Return the number of one bits of a non-negative 64-bit word.

    Compilers recognize exactly this sequence of operations and emit one machine instruction.
    """
    word -= (word >> 1) & 0x5555555555555555
    word = (word & 0x3333333333333333) + ((word >> 2) & 0x3333333333333333)
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0F
    # In native code the product wraps around at 64 bits. The mask gives the same number with
    # Python's integers, which do not wrap.
    return (int(word) * 0x0101010101010101 >> 56) & 0x7F


@inlined
def lowest_one(word: int) -> int:
    """Return the position of the lowest one bit of a positive word."""
    return count_ones((word & -word) - 1)


@inlined
def highest_one(word: int) -> int:
    """Return the position of the highest one bit of a positive word."""
    # Copying the highest one into all lower places makes a mask. Its number of ones is the position
    # plus one, without a loop or a table.
    word |= word >> 1
    word |= word >> 2
    word |= word >> 4
    word |= word >> 8
    word |= word >> 16
    return count_ones(word | (word >> 32)) - 1


FACTOR_BITS = 31
"""Most bits of a dividend that an inverse divides exactly; of larger dividends it uses the
highest.
"""

SHIFT_BITS = 6


def inverse(divisor: int, largest: int) -> int:
    """Return the packed factor and shifts by which `quotient` replaces a division.

    Dividends are at most `largest`, which is below 2^62 and not below the divisor.

    The result packs a factor, the right shift of its product, and the right shift of the dividend.
    For 2^c >= divisor the factor ceil(2^(31 + c) / divisor) makes all quotients of 31-bit dividends
    exact (Granlund and Montgomery, Division by invariant integers using multiplication, theorem
    4.2). For larger dividends the quotient may be too small, never too large, and is corrected.
    """
    after = (divisor - 1).bit_length()
    # A power of two needs a shift alone. The factor 1 keeps the same code for all divisors, and
    # kernels have no branch.
    if divisor == 1 << after:
        return (1 << SHIFT_BITS | after) << SHIFT_BITS
    before = max(0, largest.bit_length() - FACTOR_BITS)
    whole, rest = divmod(1 << FACTOR_BITS + after, divisor)
    # Rounding up makes quotients of 31 bits exact. If bits were cut off before, rounding up could
    # give a quotient that is too large. The loop in `quotient` cannot correct such a quotient.
    factor = whole + (rest > 0 and before == 0)
    return (factor << SHIFT_BITS | FACTOR_BITS + after - before) << SHIFT_BITS | before


@inlined
def quotient(number: int, divisor: int, inverse: int) -> int:
    """Return a non-negative number divided by a divisor with a known `inverse`: twice as fast."""
    shift = (1 << SHIFT_BITS) - 1
    before, after = inverse & shift, inverse >> SHIFT_BITS & shift
    whole = (number >> before) * (inverse >> 2 * SHIFT_BITS) >> after
    # Numbers of at most 31 bits need no iteration. Larger ones lose low bits before the product,
    # and the quotient may be too small.
    while number - whole * divisor >= divisor:
        whole += 1
    return whole


@inlined
def ceil_log2(number: int) -> int:
    """Return the least e with 2^e >= number, for a positive number."""
    exponent = 0
    while (1 << exponent) < number:
        exponent += 1
    return exponent
