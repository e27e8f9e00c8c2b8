"""Plans and distances in the completed lens (docs/papers/lens, 6): the two arcs of the circle.

The right arc has the positions that the dot passes on its way right from the source's row to the
target's row. The left arc has all other positions. A plan keeps a longest run of agreeing
positions in an arc of a positions, x positions away from the source. It goes D(x), then in the
opposite direction D'(x + n-a + y), then D(y). Arcs are words of bits: bit 0 is next to the source,
and 1 means that the position agrees.
"""

from mpinet.compiled import inlined
from mpinet.networks.arithmetic import count_ones, lowest_one
from mpinet.networks.lens.labels import CHUNK, CHUNK_DIGITS, INVERSE, LEFT_RADIX, LEVEL, left_power
from mpinet.networks.lens.plans import PATTERN_B, plan_word


@inlined
def agreement(k, value, goal, params):
    """Return the words of agreeing positions, read right and left from row k's dot."""
    n, radix = params[LEVEL], params[LEFT_RADIX]
    rightwards, leftwards = 0, 0
    if radix == 1:
        return 0, 0
    # Digits are taken from the right end of the word, but arcs are read from the source's dot. The
    # offset turns the circle accordingly.
    offset = n - 1 - k
    offset = offset if offset >= 0 else n - 1
    left = n
    while left > 0:
        value_rest, goal_rest = value // params[CHUNK], goal // params[CHUNK]
        # Divisions of large numbers are slow. One division yields a chunk of digits, which are then
        # split by a multiplication each.
        one, other = value - value_rest * params[CHUNK], goal - goal_rest * params[CHUNK]
        value, goal = value_rest, goal_rest
        for _ in range(min(left, params[CHUNK_DIGITS])):
            one_rest, other_rest = fast_division(one, params), fast_division(other, params)
            if one - one_rest * radix == other - other_rest * radix:
                rightwards |= 1 << offset
                leftwards |= 1 << (n - 1 - offset)
            one, other = one_rest, other_rest
            offset = offset - 1 if offset > 0 else n - 1
        left -= params[CHUNK_DIGITS]
    return rightwards, leftwards


@inlined
def fast_division(number, params):
    """Return a number below `CHUNK` divided by R."""
    return (
        number * params[INVERSE] >> 31 if params[CHUNK_DIGITS] > 1 else number // params[LEFT_RADIX]
    )


@inlined
def longest_runs(word):
    """Return the length of a word's longest runs of ones, and the word of their lowest bits."""
    length, starts = 0, 0
    while word:
        starts = word
        # Each iteration shortens all runs by one. The last nonzero word marks the starts of all
        # longest runs.
        word &= word >> 1
        length += 1
    return length, starts


@inlined
def least_plans(word, a, goes_left, anywhere, params):
    """Return an arc's least plan length, the run's length, and the least plans' x as bits.

    An empty run is next to the source in the right arc and at the far end of the left arc, or
    anywhere. With pattern B a plan is one hop shorter if a run to the left precedes a run to the
    right. This is the case for x > 0 in the left arc, and for y > 0 in the right arc.
    """
    n = params[LEVEL]
    if params[LEFT_RADIX] == 1:
        return n - a, a, 1
    run, starts = longest_runs(word & ((1 << a) - 1))
    if run == 0 and anywhere:
        starts = (1 << (a + 1)) - 1
    elif run == 0:
        starts = 1 << a if goes_left else 1
    # Pattern B merges a move left and a move right into one move across. Both runs must exist;
    # the masks test this.
    if params[PATTERN_B]:
        merging = starts & -2 if goes_left else starts & ((1 << (a - run)) - 1)
        if merging:
            return n + a - 2 * run - 1, run, merging
    return n + a - 2 * run, run, starts


@inlined
def circle_distance(rightwards, leftwards, a, params):
    """Return the least number of hops for a right arc of a positions."""
    right_length, _, _ = least_plans(rightwards, a, 0, 0, params)
    left_length, _, _ = least_plans(leftwards, params[LEVEL] - a, 1, 0, params)
    return min(right_length, left_length)


@inlined
def arc_plan(goes_left, x, run, a, row, choice, params):
    """Return the plan for a run that starts after x positions, as word 1 of a header."""
    y = a - x - run
    return plan_word(goes_left, x, x + params[LEVEL] - a + y, y, row, choice, params)


@inlined
def split(processor, params):
    """Return a processor's row k = 1..n and the value of its digits."""
    width = left_power(params[LEVEL], params)
    k = processor // width
    return k + 1, processor - k * width


@inlined
def right_arc(k, row, params):
    """Return the number of positions from row k rightwards to another row."""
    return row - k if row >= k else row - k + params[LEVEL]


@inlined
def nth_one(word, index):
    """Return the position of the one bit of a word with `index` ones below it."""
    for _ in range(index):
        word &= word - 1
    return lowest_one(word)


@inlined
def circle_plan(source, target, draw, choice, header, params):
    """Write the header of one of the least plans, chosen by a random number.

    The number -1 chooses the first plan: plans of the shorter arc come first.
    """
    (k, value), (row, goal) = split(source, params), split(target, params)
    header[0] = goal
    n, a = params[LEVEL], right_arc(k, row, params)
    rightwards, leftwards = agreement(k, value, goal, params)
    right_length, right_run, right_starts = least_plans(rightwards, a, 0, 0, params)
    left_length, left_run, left_starts = least_plans(leftwards, n - a, 1, 0, params)
    rights = count_ones(right_starts) if right_length <= left_length else 0
    lefts = count_ones(left_starts) if left_length <= right_length else 0
    # Plans of both arcs share one numbering. Only arcs of least length have plans, and every
    # number is a shortest plan.
    index = draw % (rights + lefts)
    if draw < 0:
        index = 0 if right_length < left_length or 2 * a < n else rights
    if index < rights:
        x = nth_one(right_starts, index)
        header[1] = arc_plan(0, x, right_run, a, row, choice, params)
    else:
        x = nth_one(left_starts, index - rights)
        header[1] = arc_plan(1, x, left_run, n - a, row, choice, params)


@inlined
def circle_path_counts(k, value, row, goal, params):
    """Return the numbers of shortest paths by arc; a path alternates between processors and busses.

    Every word of moves with a longest run of length b has R^(a-b) paths. These differ in the digits
    of crossings that are not final, and in the bus of a move across. From a row to itself the
    circle may also be read rightwards. This makes new words for runs that do not touch the source's
    dot.

    Returns
    -------
    right, left : int
        Numbers of paths with runs in the right and in the left arc.
    """
    n, a = params[LEVEL], right_arc(k, row, params)
    rightwards, leftwards = agreement(k, value, goal, params)
    right_length, right_run, right_starts = least_plans(rightwards, a, 0, 1, params)
    left_length, left_run, left_starts = least_plans(leftwards, n - a, 1, 1, params)
    right, left = 0, 0
    if right_length <= left_length:
        # From a row to itself the right arc is empty. Its two words go once round, to the right or
        # to the left.
        right = 2 if a == 0 else count_ones(right_starts) * left_power(a - right_run, params)
    if left_length <= right_length:
        words = count_ones(left_starts)
        if a == 0:
            words += count_ones(inner(left_starts, left_run, params))
        left = words * left_power(n - a - left_run, params)
    return right, left


@inlined
def inner(starts, run, params):
    """Return the starts of the circle's runs that do not touch the source's dot."""
    return starts & -2 & ((1 << (params[LEVEL] - run)) - 1)


@inlined
def regular_circle_plan(source, target, draw, choice, header, params):
    """Write the header of a word of moves, chosen by a random number, each path equally likely."""
    (k, value), (row, goal) = split(source, params), split(target, params)
    header[0] = goal
    n, a = params[LEVEL], right_arc(k, row, params)
    right, left = circle_path_counts(k, value, row, goal, params)
    rightwards, leftwards = agreement(k, value, goal, params)
    index = draw % (right + left)
    if index < right and a == 0:
        header[1] = plan_word(index, n, 0, 0, row, choice, params)
        return
    if index < right:
        _, run, starts = least_plans(rightwards, a, 0, 1, params)
        # Every word of moves has equally many paths. Dividing the drawn number by that count draws
        # a word, and the digits are drawn later.
        x = nth_one(starts, index // left_power(a - run, params))
        header[1] = arc_plan(0, x, run, a, row, choice, params)
        return
    _, run, starts = least_plans(leftwards, n - a, 1, 1, params)
    index = (index - right) // left_power(n - a - run, params)
    words = count_ones(starts)
    if index < words:
        header[1] = arc_plan(1, nth_one(starts, index), run, n - a, row, choice, params)
        return
    y = nth_one(inner(starts, run, params), index - words)
    header[1] = arc_plan(0, n - run - y, run, n, row, choice, params)
