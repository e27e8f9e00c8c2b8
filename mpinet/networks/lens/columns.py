"""Rows and columns of the partial lens, counted among its kept members."""

from mpinet.compiled import inlined
from mpinet.networks.lens.labels import LEFT_RADIX, LEVEL, ROWS, left_power, right_row


@inlined
def tail_at(params):
    """Return the index of the parameters m, r, k0 and the rows' first busses."""
    return ROWS + 3 * params[LEVEL] + 3


@inlined
def left_row(k, params):
    """Return the row on the left of row k."""
    return k - 1 if k > 1 else params[LEVEL]


@inlined
def digit_at(d, place, params):
    """Return the digit at a place 1..n of a column's word."""
    return d // left_power(params[LEVEL] - place, params) % params[LEFT_RADIX]


@inlined
def with_digit(d, place, digit, params):
    """Return the column with the digit at a place replaced."""
    weight = left_power(params[LEVEL] - place, params)
    return d + (digit - d // weight % params[LEFT_RADIX]) * weight


@inlined
def in_tail(k, params):
    """Return whether the tail has a processor in row k."""
    at = tail_at(params)
    return (k - params[at + 2] + params[LEVEL]) % params[LEVEL] < params[at + 1]


@inlined
def row_and_column(node, params):
    """Return the row k = 1..n and the column d of a processor."""
    n, at = params[LEVEL], tail_at(params)
    d = node // n
    if d < params[at]:
        return node - d * n + 1, d
    return (node - n * params[at] + params[at + 2] - 1) % n + 1, params[at]


@inlined
def number(k, d, params):
    """Return the number of the processor in row k of column d, -1 = not kept."""
    n, at = params[LEVEL], tail_at(params)
    if d < params[at]:
        return n * d + k - 1
    if d == params[at] and in_tail(k, params):
        return n * d + (k - params[at + 2] + n) % n
    return -1


@inlined
def kept_members(k, d, place, params):
    """Count the kept processors of row k that agree with (k, d) except for the digit at `place`."""
    m = params[tail_at(params)]
    weight = left_power(params[LEVEL] - place, params)
    # Kept members of a bus are always the first ones. A count describes them, and no list is
    # needed.
    if d + (params[LEFT_RADIX] - 1) * weight < m:
        return params[LEFT_RADIX]
    base = d - d // weight % params[LEFT_RADIX] * weight
    if base > m:
        return 0
    count = (m - base + weight - 1) // weight
    if count >= params[LEFT_RADIX]:
        return params[LEFT_RADIX]
    return count + 1 if base + count * weight == m and in_tail(k, params) else count


@inlined
def layout(k, d, params):
    """Count the kept processors right of this one, owners of lower busses, and members of a box."""
    row = right_row(k, params)
    return (
        kept_members(row, d, row, params),
        kept_members(left_row(k, params), d, k, params),
        kept_members(k, d, k, params),
    )


@inlined
def bus_number(row, d, params):
    """Return the number of kept busses before the label (row, d): its bus number if kept."""
    before = params[tail_at(params) + 3 + row]
    return before if d == 0 else before + kept_before(row, d, params)


@inlined
def kept_before(row, d, params):
    """Return the number of kept busses among (row, 0) .. (row, d-1).

    All busses up to column m - 1 are kept. Later busses have no owner, and are kept if they have
    two members. This depends on their digits after place row + 1. Such busses extend up to the end
    of the block of columns that agree with m in the digits before that place.
    """
    n, at = params[LEVEL], tail_at(params)
    m = params[at]
    # Whole columns keep all their busses. Only the blocks around the tail need careful counting.
    if d <= m:
        return d
    weight = left_power(n - row - 1, params)
    base = m // (weight * params[LEFT_RADIX]) * weight * params[LEFT_RADIX]
    own = (m - base) // weight
    next_in_tail = 1 if in_tail(row + 1, params) else 0
    owner_in_tail = 1 if in_tail(row if row > 0 else n, params) else 0
    kept = m + (1 if own + next_in_tail + owner_in_tail >= 2 else 0)
    if own == 0:
        return kept
    bound = weight if own > 1 else m - base - weight + next_in_tail
    end = min(d - base, weight * params[LEFT_RADIX])
    kept += end // weight * bound + min(end % weight, bound)
    start = m - base + 1
    return kept - start // weight * bound - min(start % weight, bound)


@inlined
def bus_row_and_column(bus, params):
    """Return the row and the column of a kept bus, by bisection over `bus_number`."""
    n, at = params[LEVEL], tail_at(params)
    row = n - 1
    while bus < params[at + 3 + row]:
        row -= 1
    low, high = 0, left_power(n, params) - 1
    while low < high:
        # Bus numbers ascend with the column, but with gaps. Bisection inverts the count without a
        # table.
        middle = (low + high + 1) // 2
        if bus_number(row, middle, params) <= bus:
            low = middle
        else:
            high = middle - 1
    return row, low
