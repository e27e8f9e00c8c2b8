"""The partial connection inside a block: one hop sets one subsection of the bits to any pattern.

Subsections are groups of a bits, from the right. The leftmost subsection is narrower if a does not
divide the block's width. The word `tops` marks the topmost bit of every subsection. One
arithmetic operation can therefore test all subsections.
"""

from mpinet.compiled import inlined
from mpinet.networks.arithmetic import count_ones, lowest_one


def subsection_tops(width: int, a: int) -> int:
    """Return the topmost bits of the subsections of `a` bits of a word of `width` bits."""
    return sum(1 << (min(low + a, width) - 1) for low in range(0, width, a))


def partial_ports(width: int, a: int) -> int:
    """Return the number of partial ports: all nonzero patterns of every subsection."""
    whole, rest = divmod(width, a)
    return whole * (2**a - 1) + 2**rest - 1


@inlined
def flipped_bits(port, a):
    """Return the bits that a partial port flips: its pattern in its subsection."""
    patterns = (1 << a) - 1
    subsection = port // patterns
    return (port - subsection * patterns + 1) << (subsection * a)


@inlined
def flipping_port(difference, subsection, a):
    """Return the port that flips all bits of `difference` in a subsection."""
    patterns = (1 << a) - 1
    return subsection * patterns + ((difference >> (subsection * a)) & patterns) - 1


@inlined
def partial_port(place, goal, a, tops):
    """Return the port from `place` towards another `goal` in the block (docs/papers/gbsn, 3.2).

    The port lowers the lowest subsection that is too large, or else raises the lowest that is too
    small. In this order the block has every place on the route.
    """
    difference = place ^ goal
    # One subtraction compares all subsections at once. Each topmost bit absorbs the borrow of its
    # own subsection only.
    at_least = (goal | tops) - (place & ~tops)
    lowered = ((place & ~goal) | (~difference & ~at_least)) & tops
    # A block of m places lacks the highest words. Lowering first keeps every place on the route
    # below both ends.
    first = lowest_one(lowered if lowered != 0 else difference)
    return flipping_port(difference, first // a, a)


@inlined
def subsections_in(word, tops):
    """Return the number of subsections with ones: the distance, for a difference of places."""
    # A subsection without ones keeps its topmost bit in the difference. A distance therefore costs
    # a few word operations instead of a loop.
    zero_below = tops - (word & ~tops)
    return count_ones(tops & (word | ~zero_below))


@inlined
def least_change(place, fixed, low, high, a):
    """Return the place with bits low..high-1 as in `fixed` that is fewest hops from `place`.

    A hop changes one subsection. A subsection that has to change gets zeros in its other bits,
    so the lowest of several such places is returned.
    """
    field = (1 << high) - (1 << low)
    return settled((place & ~field) | fixed, place, low, high, a)


@inlined
def settled(word, place, low, high, a):
    """Return `word` with zeros next to bits low..high-1 in subsections that change anyway."""
    patterns = (1 << a) - 1
    start = low - low % a
    # A hop sets its whole subsection. Free bits next to the wanted ones then cost nothing, and
    # zeros give the lowest place.
    if ((word ^ place) >> start) & patterns:
        word = word >> low << low | (word & ((1 << start) - 1))
    start = high - high % a
    if start < high and ((word ^ place) >> start) & patterns:
        word &= ~(patterns << start >> high << high)
    return word
