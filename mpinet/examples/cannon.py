"""Matrix multiplication on a torus of P x P processors (Cannon 1969), one-port."""

from math import isqrt


def cannon(node, a, b):
    """Return this processor's element of the product, after 4 (P - 1) steps.

    Parameters
    ----------
    a, b : P x P nested lists
        The matrices; processor P i + j holds row i, column j. Their elements may be blocks.
    """
    side = isqrt(node.size)
    row, column = divmod(node.id, side)
    left, right = (side * row + (column + way) % side for way in (-1, 1))
    above, below = ((row + way) % side * side + column for way in (-1, 1))
    x, y = a[row][column], b[row][column]
    for turn in range(1, side):  # row i of a moves i places left, column j of b moves j places up
        x = yield from shift(node, left, right, x, turn <= row)
        y = yield from shift(node, above, below, y, turn <= column)
    total = x * y if isinstance(x, int | float) else x @ y
    for _ in range(1, side):
        x = yield from shift(node, left, right, x)
        y = yield from shift(node, above, below, y)
        total += x * y if isinstance(x, int | float) else x @ y
    return total


def shift(node, target, source, value, moves=True):
    """Send to a neighbour and receive from the opposite one in a step, or let the step pass."""
    if not moves:
        yield node.idle()
        return value
    yield node.send(node.port_to(target), value)
    return (yield node.receive(node.port_to(source)))
