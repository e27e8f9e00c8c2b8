"""The stateless routing of a GBSN by a shift plan, or by a tree plan (3.3).

A shift plan leaves a block by an exit: a place whose right shift leads closer (docs/papers/gbsn,
3.3). Bits low..b-1 of an exit are wanted bits. The bits above are free, as are the bits below,
which exist only if the shift brings more bits than needed.

A shift fits if the network has both its ends. This sets two limits: one for the bits above, one for
the bits below. If one place fits, every place with smaller free bits fits as well. A fitting shift
is open if no completion link takes one of its ports. Only the place with all free bits zero can be
taken: any other place does not lead to a place 0. It leads to block 0 only if block 0 is very
large, and then no block needs the port RIGHT of place 1.

The nearest exit is therefore found without a search of all exits. The rule takes the place's own
free bits. It clears subsections from the top, above and below the wanted bits, as far as needed.
"""

from mpinet.compiled import inlined, part, rule
from mpinet.networks.gbsn.description import (
    BLOCK_BITS,
    LEFT,
    PLACE_BITS,
    SHIFT,
    TOPS,
    WIDTH,
    A,
    block_of,
    first_of,
    is_needy,
    is_there,
    left_is_taken,
    record,
    right_is_taken,
    right_shift,
)
from mpinet.networks.gbsn.partial import least_change, partial_port, settled, subsections_in
from mpinet.networks.gbsn.words import bits_to_bring, wanted_bits
from mpinet.networks.routing import ARRIVED

NONE = -1

MOST_SUBSECTIONS = 64
"""Most subsections: one per bit of a word."""


@part
def fits(block, place, params):
    """Return whether the network contains both a word and its right shift."""
    if not is_there(block, place, params):
        return False
    other, there = right_shift(block, place, params)
    return is_there(other, there, params)


@part
def is_open(block, place, params):
    """Return whether no completion link occupies either port of this right shift."""
    other, there = right_shift(block, place, params)
    return not right_is_taken(block, place, params) and not left_is_taken(other, there, params)


@inlined
def leads_on(block, goal, bits, params):
    """Return whether right shifts by `bits` bits in all lead from a block to block `goal`.

    `bits` is less than the length of a block's address. The shifts then determine the blocks on the
    way.
    """
    shift, block_bits = params[SHIFT], params[BLOCK_BITS]
    while block != goal:
        wanted = wanted_bits(goal, bits, shift, block_bits)
        if not fits(block, wanted, params):
            return False
        if not is_open(block, wanted, params) and not fits(block, wanted + (1 << shift), params):
            return False
        # Each shift brings its wanted bits to the left end of the block's address. Missing blocks
        # on the way exclude the plan.
        block = (wanted << (block_bits - shift)) | (block >> shift)
        bits -= shift
    return True


@inlined
def nearer(place, one, other, tops):
    """Return the exit with fewer subsections to change, the lower on a tie.

    The result is `NONE` only if both exits are `NONE`.
    """
    if one == NONE or other == NONE:
        return max(one, other)
    far, farther = subsections_in(place ^ one, tops), subsections_in(place ^ other, tops)
    # Every node must resolve ties in the same way. The lower number needs no memory.
    if far == farther:
        return min(one, other)
    return one if far < farther else other


@inlined
def nearest_exit(block, place, goal, bits, params):
    """Return the exit of a block for block `goal` that is nearest to a place, or `NONE`.

    `bits` is the length of all remaining shifts (see `bits_to_bring`). If the first shift is not
    the last and brings more bits than needed, its free bits determine the next block. Additional
    bits of an exit never reduce its distance or its number.
    """
    shift, block_bits = params[SHIFT], params[BLOCK_BITS]
    wanted = wanted_bits(goal, bits, shift, block_bits)
    free = max(bits - block_bits, 0)
    # In most networks the place that changes fewest subsections already is an exit. The search
    # below is for irregular blocks.
    home = least_change(place, wanted, free, shift, params[record(block, params) + A])
    if fits(block, home, params) and is_open(block, home, params):
        other, _ = right_shift(block, home, params)
        if leads_on(other, goal, bits - shift, params):
            return home
    # The first shift is also the last one. Its free bits choose no intermediate block, and one
    # search suffices.
    if shift >= block_bits:
        return nearest_fit(block, place, wanted, free, params)
    tops, brought = params[record(block, params) + TOPS], (1 << shift) - 1
    best, fewest = NONE, MOST_SUBSECTIONS
    for low in range(1 << free):
        rightmost = wanted | low
        far = subsections_in((place ^ rightmost) & brought, tops)
        # More bits only add to the distance and to the number. This bound excludes whole
        # families of exits at once.
        if far > fewest or (far == fewest and rightmost > best):
            continue
        other = (rightmost << (block_bits - shift)) | (block >> shift)
        if leads_on(other, goal, bits - shift, params):
            found = nearest_fit(block, place, rightmost, 0, params)
            best = nearer(place, best, found, tops)
            fewest = MOST_SUBSECTIONS if best == NONE else subsections_in(place ^ best, tops)
    return best


@inlined
def nearest_fit(block, place, wanted, free, params):
    """Return the nearest place with the wanted bits free..b-1 and an existing, open right shift."""
    if not fits(block, wanted, params):
        return NONE
    home = least_change(place, wanted, free, params[SHIFT], params[record(block, params) + A])
    best = nearest_open(block, place, home, free, params)
    if is_open(block, wanted, params):
        return best
    return beside(block, place, best, wanted, free, params)


@inlined
def nearest_open(block, place, home, free, params):
    """Return the nearest open fit made from `home` by clearing subsections from the top.

    One limit moves up the free bits above the wanted ones, another down the free bits below them.
    """
    at = record(block, params)
    shift, a, width, tops = params[SHIFT], params[at + A], params[at + WIDTH], params[at + TOPS]
    best = NONE
    above, below = shift, free
    while True:
        kept = ((1 << above) - (1 << free)) | ((1 << below) - 1)
        # Clearing a subsection from the top lowers the place. If a place fits, all places with
        # smaller free bits fit as well, and only two limits move.
        found = settled(home & kept, place, free, shift, a)
        if fits(block, found, params):
            if is_open(block, found, params):
                best = nearer(place, best, found, tops)
            if above >= width:
                return best
            above = min(above + a - above % a, width)
        else:
            if below == 0:
                return best
            below -= 1 + (below - 1) % a


@inlined
def beside(block, place, best, wanted, free, params):
    """Return the nearest of `best` and the fits with one free bit set."""
    at = record(block, params)
    shift, a, tops = params[SHIFT], params[at + A], params[at + TOPS]
    # A completion link can take only the place without free bits. The nearest alternative
    # then sets one free bit, the least of some subsection.
    for bit in range(0, params[at + WIDTH], a):
        other = wanted | (1 << bit)
        if (bit < free or bit >= shift) and fits(block, other, params):
            best = nearer(place, best, other, tops)
    other = wanted | (1 << shift)
    return nearer(place, best, other, tops) if fits(block, other, params) else best


@rule
def decide(node, header, params):
    """Return the port to the target inside its block, else to and through the block's exit."""
    return port_towards(node, header[0], params)


@inlined
def port_towards(node, target, params):
    """Return the port of the first hop from a node to the target, or `ARRIVED`."""
    if node == target:
        return ARRIVED
    block, goal = block_of(node, params), block_of(target, params)
    at = record(block, params)
    place, left = node - first_of(block, params), params[at + LEFT]
    if block == goal:
        return partial_port(
            place, target - first_of(block, params), params[at + A], params[at + TOPS]
        )
    bits = bits_to_bring(block, goal, params[SHIFT], params[BLOCK_BITS])
    way_out, port = nearest_exit(block, place, goal, bits, params), left + 1
    # The shift plan lacks a block or a place somewhere. In a completed network the tree of up-links
    # reaches every block, by more hops.
    if way_out == NONE:
        way_out, side = tree_exit(block, goal, params)
        port = left + side
    if place == way_out:
        return port
    return partial_port(place, way_out, params[at + A], params[at + TOPS])


@inlined
def tree_exit(block, goal, params):
    """Return the place of the link towards block `goal` in the block tree, and its side.

    The side is 0 for LEFT, 1 for RIGHT. In the tree every block except 0 has one up-link, at the
    port RIGHT of its first place. The up-link leads to block B >> 1 if B is needy, else to block B
    >> b.
    """
    shift = params[SHIFT]
    child, above = goal, goal
    # Blocks above have lower numbers. Climbing from the goal meets this block exactly if the goal
    # is below it.
    while above > block:
        child = above
        above = child >> 1 if is_needy(child, params) else child >> shift
    if above < block:
        return 0, 1
    if is_needy(child, params):
        return child & 1, child & 1
    return (child & ((1 << shift) - 1)) << (params[PLACE_BITS] - shift), 0
