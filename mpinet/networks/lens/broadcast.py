"""Sweep broadcasts of lens and completed lens (docs/papers/lens, 7).

Busses are named as in `bus_at_place`: the own bus, and the lower busses c. In a step a processor
sends on one bus and listens on one bus. The sweeps are therefore legal in both port models: a
processor accepts one message (ONE), or one message from every bus (ALL).
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.classic.ring import ring_broadcast_steps, ring_send
from mpinet.networks.lens.labels import (
    COMPLETED,
    LEFT_RADIX,
    LEVEL,
    RIGHT_RADIX,
    Labelled,
    first_row,
    label_parts,
    layout,
    left_power,
    next_digit,
    right_power,
)
from mpinet.networks.schedule import Schedule, ports_from

SILENT = -1


def sweep_of(lens: Labelled, root: int) -> Schedule:
    """Return the sweep broadcast from a root."""
    R, S = lens.radices
    n = lens.level
    if not lens.params[COMPLETED]:
        row = int(label_parts(root + int(first_row(lens.params)), lens.params)[0])
        phases = [("left", row - 1), ("across", min(R - 1, 1)), ("right", n - 1)]
        # Each processor serves S lower busses, and R processors share the work per step. A row
        # takes ceil(S/R) steps.
        phases.append(("back", (n - 1) * -(-S // R)))
        return Schedule("sweep", root, send, lens.params, tuple(phases), listen)
    if R == 1:
        phases = [("ring", ring_broadcast_steps(n))]
        return Schedule("sweep", root, send_round, lens.params, tuple(phases))
    phases = [("round", n), ("both ways", n // 2)]
    return Schedule("sweep", root, send_circle, lens.params, tuple(phases), listen_circle)


@inlined
def own_bus(k, params):
    """Return all ports of the own bus of a processor of row k."""
    own, _, _ = layout(k, params)
    return ports_from(0, own)


@inlined
def lower_bus(k, c, params):
    """Return all ports of lower bus c of a processor of row k."""
    own, owners, members = layout(k, params)
    if c < owners:
        return ports_from(own + c * members, members)
    return ports_from(own + owners * members + (c - owners) * (members - 1), members - 1)


@inlined
def digit_at(k, left, right, position, params):
    """Return the digit at a position 1..n of a label."""
    if position <= k:
        return left // left_power(k - position, params) % params[LEFT_RADIX]
    return right // right_power(params[LEVEL] - position, params) % params[RIGHT_RADIX]


@inlined
def on_circle(position, params):
    """Return a row or position, modulo n, as 1..n."""
    return (position - 1) % params[LEVEL] + 1


@rule
def send_round(node, root, since, step, params):
    """Return the port of the broadcast in both directions of a ring (p = 2)."""
    return ring_send((node - root) % params[0], params[0], step)


@rule
def send_circle(node, root, since, step, params):
    """Return the completed lens's ports: right to the root's row, then in both directions."""
    n = params[LEVEL]
    k, left, right = label_parts(node + first_row(params), params)
    start, root_left, _ = label_parts(root + first_row(params), params)
    # First the message goes once round to the root's row, over own busses. Each informed row
    # informs the whole next row.
    if step <= n:
        return own_bus(k, params) if since == step - 1 else SILENT
    ahead, behind = step - n, on_circle(start - (step - n) + 1, params)
    digit = left % params[LEFT_RADIX]
    if step == n + 1:
        following = next_digit(k, left, right, params)
        if k != start:
            return SILENT
        if digit == following:
            return own_bus(k, params)
        # Both neighbours of a row are the same row here, which the first phase has already
        # informed.
        if n == 2:
            return SILENT
        return lower_bus(k, following if digit == root_left % params[LEFT_RADIX] else digit, params)
    if k == on_circle(start + ahead - 1, params) and next_digit(k, left, right, params) == 0:
        return own_bus(k, params)
    return lower_bus(k, digit, params) if k == behind and 2 * ahead < n else SILENT


@rule
def listen_circle(node, root, since, step, params):
    """Return the ports on which a processor listens in a step of the completed lens's sweep.

    These are all ports of the bus on which the processor's sender sends. The result is `SILENT`
    if the step does not inform the processor's row.
    """
    n = params[LEVEL]
    k, left, right = label_parts(node + first_row(params), params)
    start, root_left, root_right = label_parts(root + first_row(params), params)
    if step <= n:
        # A processor that listens everywhere would hear several busses at once. The port model
        # would reject the step.
        if k != on_circle(start + step, params):
            return SILENT
        return lower_bus(k, digit_at(start, root_left, root_right, k, params), params)
    ahead = step - n
    if k == on_circle(start + ahead, params):
        c = digit_at(k, left, right, start, params) if ahead == 1 else 0
        return lower_bus(k, c, params)
    return own_bus(k, params) if k == on_circle(start - ahead, params) else SILENT


@inlined
def stage(step, k, params):
    """Return the step within its phase, and the phase: 0 left, 1 across, 2 right, 3 back."""
    n, across = params[LEVEL], min(params[LEFT_RADIX] - 1, 1)
    if step < k:
        return step, 0
    if step < k + across:
        return step - k + 1, 1
    if step < k + across + n - 1:
        return step - k - across + 1, 2
    return step - k - across - n + 2, 3


@rule
def send(node, root, since, step, params):
    """Return the ports in the uncompleted lens: left to row 1, across its box, right, and back."""
    k, left, right = label_parts(node + first_row(params), params)
    start, _, root_right = label_parts(root + first_row(params), params)
    at, phase = stage(step, start, params)
    if phase < 2:
        row = start + 1 - at if phase == 0 else 1
        # Only the processor informed last moves the message left. Others on its busses have also
        # heard the message, and keep silent.
        return lower_bus(k, 0, params) if k == row and since == step - 1 else SILENT
    if phase == 2:
        in_front = k == at and right == root_right % right_power(params[LEVEL] - k, params)
        return own_bus(k, params) if in_front else SILENT
    row, c = back_to(at, params)
    c += left % params[LEFT_RADIX]
    return lower_bus(k, c, params) if k == row and c < params[RIGHT_RADIX] else SILENT


@rule
def listen(node, root, since, step, params):
    """Return the ports of the bus with this step's sender, for rows that the step informs."""
    n = params[LEVEL]
    k, _, _ = label_parts(node + first_row(params), params)
    start, _, root_right = label_parts(root + first_row(params), params)
    at, phase = stage(step, start, params)
    if phase == 0:
        return own_bus(k, params) if k == start - at else SILENT
    if phase == 1:
        return lower_bus(1, 0, params) if k == 1 else SILENT
    if phase == 2:
        c = root_right // right_power(n - k, params) % params[RIGHT_RADIX]
        return lower_bus(k, c if k > start else 0, params) if k == at + 1 else SILENT
    row, _ = back_to(at, params)
    return own_bus(k, params) if k == row - 1 else SILENT


@inlined
def back_to(at, params):
    """Return the row that sends on the way back, and the first of its lower busses in use."""
    R, S = params[LEFT_RADIX], params[RIGHT_RADIX]
    rounds = (S + R - 1) // R
    return params[LEVEL] - (at - 1) // rounds, (at - 1) % rounds * R
