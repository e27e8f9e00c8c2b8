"""Broadcasts of BSN and GBSN (docs/papers/gbsn, 4)."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from mpinet.compiled import inlined, rule
from mpinet.networks.gbsn.description import (
    BLOCKS,
    LEFT,
    RECORD,
    RECORDS,
    SIZE,
    A,
    block_of,
    description,
    first_of,
    other_end,
    record,
)
from mpinet.networks.gbsn.partial import flipping_port
from mpinet.networks.gbsn.routing import port_towards
from mpinet.networks.gbsn.words import rotated_left
from mpinet.networks.schedule import Schedule, ports_from
from mpinet.networks.wired import Wired

BSN_A, BSN_SHIFT, BSN_BITS, BSN_LEFT, STRIDE = 2, 3, 4, 5, 7
"""Places in a BSN schedule's parameters: a, b, n, the port LEFT, and the number of bits of a
section that one step sets: 1, or a.
"""


class Sectioned(Wired, Protocol):
    """A `BlockShift`, as far as its schedules use it."""

    shift: int
    bits: int
    sections: int


class Blocked(Wired, Protocol):
    """A `GeneralizedBlockShift`, as far as its schedule uses it."""

    shift: int
    m: tuple[int, ...]
    completed: bool


def section_schedule(network: Sectioned, root: int, name: str, stride: int) -> Schedule:
    """Section after section of the word, a right shift after each but the last.

    Parameters
    ----------
    network : BlockShift
        The BSN.
    root : int
        The processor that starts.
    name : str
        The schedule's name.
    stride : int
        Bits that a step sets: 1 (one-port), or a, over all ports of a subsection (all-port).
    """
    phases = []
    for section in range(network.sections):
        width = min(network.shift, network.bits - section * network.shift)
        phases += [(f"section {section}", -(-width // stride)), (f"shift {section}", 1)]
    return Schedule(
        name=name,
        root=root,
        rule=send_section,
        params=np.append(network.params, stride),
        phases=tuple(phases[:-1]),
        send=1 if stride == 1 else None,
    )


@rule
def send_section(node, root, since, step, params):
    """An active node sets the next bits in all ways, or shifts.

    After t shifts and i bits of the section, those nodes are active whose word, shifted back,
    differs from the root's in bits below t b + i only: who was active and its receivers.
    """
    shift, bits, stride = params[BSN_SHIFT], params[BSN_BITS], params[STRIDE]
    rounds = (shift + stride - 1) // stride + 1
    section = (step - 1) // rounds
    start = section * shift
    width = min(shift, bits - start)
    low = (step - 1 - section * rounds) * stride
    # The test needs no memory of who was informed. A node is active exactly if its word can have
    # been made of the root's so far.
    if (rotated_left(node, start, bits) ^ root) >> min(start + low, start + width):
        return -1
    if low >= width:
        right = params[BSN_LEFT] + 1
        # A rotation may keep a word, such as 00..0. The message then is where it should go, and no
        # link leads there.
        moved = rotated_left(node, shift, bits) != node
        return right if moved else -1
    port = flipping_port(1 << low, low // params[BSN_A], params[BSN_A])
    # All patterns of a subsection are consecutive ports. In one all-port step the node sets these
    # bits in all ways.
    return ports_from(port, (1 << min(stride, width - low)) - 1)


def route_schedule(network: Blocked, root: int) -> Schedule:
    """Make the schedule along the routes to the root, over single-bit partial and shift links."""
    # With single-bit partial links a node has few children. With all patterns the tree would be
    # flat, which one-port steps cannot use.
    single = description(network.shift, network.m, (1,) * len(network.m), network.completed)
    params = np.concatenate([network.params, network.params[:2], np.array(single, np.int64)])
    return Schedule("routes", root, send_child, params, ())


@rule
def send_child(node, root, since, step, params):
    """A node serves its children one a step: RIGHT, LEFT, then the highest bit .. bit 0.

    A child is a neighbour whose first hop towards the root leads here.
    """
    single = params[params[RECORDS] + RECORD * params[BLOCKS] :]
    block = block_of(node, single)
    at = record(block, single)
    waiting = step - since
    # A node has at most two shift links beside its partial ones. Later steps have no child left, so
    # that the search is skipped.
    if waiting > single[at + LEFT] + 2:
        return -1
    port = single[at + LEFT] + 2
    while waiting > 0 and port > 0:
        port -= 1
        waiting -= is_child(node, block, port, root, single)
    if waiting > 0:
        return -1
    own = params[record(block, params) + LEFT]
    if port >= single[at + LEFT]:
        return own + port - single[at + LEFT]
    a = params[record(block, params) + A]
    return flipping_port(1 << port, port // a, a)


@inlined
def is_child(node, block, port, root, single):
    """Return 1 if the processor behind a port sends to the root over this port's link, else 0."""
    at = record(block, single)
    place, left = node - first_of(block, single), single[at + LEFT]
    if port < left:
        child, back = place ^ (1 << port), port
        if child >= single[at + SIZE]:
            return 0
        child += first_of(block, single)
    else:
        there, child, side = other_end(block, place, port == left, single)
        if there < 0:
            return 0
        child += first_of(there, single)
        back = single[record(there, single) + LEFT] + side
    # The tree is stored nowhere: a neighbour is a child if its own route to the root begins here.
    # Each node can decide that alone.
    return 1 if child != root and port_towards(child, root, single) == back else 0
