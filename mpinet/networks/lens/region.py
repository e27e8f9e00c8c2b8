"""Plans and distances in the uncompleted lens (docs/papers/lens, 5): the region of difference.

The region is the smallest interval of positions lo..hi with every position in which the two
addresses differ, and every position between their dots. The dots are in the region or at its
borders. Let the region have k positions, i of them left of the source's dot and j left of the
target's. A plan is then R(k-i) L(k) R(j) or L(i) R(k) L(k-j).
"""

from mpinet.compiled import inlined
from mpinet.networks.lens.labels import (
    LEVEL,
    RIGHT_RADIX,
    first_row,
    label_parts,
    left_power,
    right_power,
)
from mpinet.networks.lens.plans import (
    AS_TARGET,
    NO_WAY,
    PATTERN_B,
    plan_word,
)


@inlined
def first_difference(one, other, places, params):
    """Return the first position in which two words of radix-R digits differ, places + 1 if none."""
    if one == other:
        return places + 1
    position = 1
    while one // left_power(places - position, params) == other // left_power(
        places - position, params
    ):
        position += 1
    return position


@inlined
def last_difference(one, other, places, params):
    """Return the last position in which two words of radix-S digits differ, else `places`."""
    if one == other:
        return places
    position = params[LEVEL]
    difference = one - other if one > other else other - one
    while difference % params[RIGHT_RADIX] == 0:
        difference //= params[RIGHT_RADIX]
        position -= 1
    return position


@inlined
def region(k, left, right, row, above, below, params):
    """Return (lo, hi) of the region between two different processors (k, left, right)."""
    near, far = min(k, row), max(k, row)
    one, other = left // left_power(k - near, params), above // left_power(row - near, params)
    # The region must hold both dots. If nothing differs left of the nearer one, the region begins
    # right after that dot.
    lo = min(first_difference(one, other, near, params), near + 1)
    power = right_power(params[LEVEL] - far, params)
    hi = max(last_difference(right % power, below % power, far, params), far)
    return lo, hi


@inlined
def region_distance(k, left, right, row, above, below, params):
    """Return the least hops with pattern B: 2k - |i-j|, one less if neither i nor j is 0."""
    if k == row and left == above and right == below:
        return 0
    lo, hi = region(k, left, right, row, above, below, params)
    # Pattern B saves a hop if the walk turns from left to right inside the region. Without a run to
    # the left the walk has no such turn.
    saved = 1 if min(k, row) >= lo else 0
    return 2 * (hi - lo + 1) - abs(k - row) - saved


@inlined
def region_plan(source, target, right_first, choice, header, params):
    """Write the header of the shorter plan; `right_first` decides a tie."""
    k, left, right = label_parts(source + first_row(params), params)
    row, above, below = label_parts(target + first_row(params), params)
    header[0] = above * right_power(params[LEVEL] - row, params) + below
    if source == target:
        header[1] = plan_word(0, 0, 0, 0, row, AS_TARGET, params)
        return
    lo, hi = region(k, left, right, row, above, below, params)
    # Pattern A cannot rewrite the first digit, because the dot never passes the left end of a
    # processor's word. Only a move across can.
    if lo == 1 and not params[PATTERN_B]:
        header[1] = plan_word(0, 0, 0, 0, row, NO_WAY, params)
        return
    size, i, j = hi - lo + 1, k - lo + 1, row - lo + 1
    if j < i or (j == i and right_first):
        header[1] = plan_word(0, size - i, size, j, row, choice, params)
    else:
        header[1] = plan_word(1, i, size, size - j, row, choice, params)
