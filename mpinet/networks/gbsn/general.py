"""The generalized block shift network GBSN: blocks of any sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.arithmetic import ceil_log2
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
    is_there,
    other_end,
    record,
)
from mpinet.networks.gbsn.partial import flipped_bits, flipping_port, partial_ports
from mpinet.networks.gbsn.regular import BlockShift
from mpinet.networks.gbsn.routing import decide, port_towards
from mpinet.networks.gbsn.twoway import two_way_routings
from mpinet.networks.parameters import Parameter, dashed, integer, require_integer
from mpinet.networks.routing import Routing, stateless
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology

ROUTED = "mpinet.programs.schedules.routed:Routed"
"""Module and class of the schedule for any network."""

MAX_GUEST_BITS = 61
"""Longest address of a BSN, in bits."""

MAX_BITS = 62
"""Longest address, in bits."""


def one_or_dashed(text: str) -> int | tuple[int, ...]:
    """Read one whole number, or several joined by ``-``."""
    return dashed(text) if "-" in text else integer(text)


def yes_or_no(text: str) -> bool:
    """Read ``yes`` or ``no``."""
    if text not in ("yes", "no"):
        raise ValueError(f"{text!r} is neither yes nor no")
    return text == "yes"


class GeneralizedBlockShift(Topology):
    """Generalized block shift network with blocks of m_i processors, numbered block after block.

    The paper writes GBSN(a_0..|b|m_0..) for this network.

    Ports of each block: first the partial ports, as in the BSN, for the block's width; then LEFT
    and RIGHT. A port is not wired if the network lacks the other end. Completion links join the
    parts that the paper's construction leaves disconnected, unless ``completed`` is ``no``; then
    tables replace the routing ``gbsn``. Routings: ``gbsn``, stateless; ``twsr``, the two-way shift
    routing of the BSN as printed, which may stop at a missing link; ``twsr-corrected``.
    """

    parameters = (
        Parameter("b", "1..the width of the largest block", integer),
        Parameter("m", "the blocks' sizes, each >= 2, joined by -", dashed),
        Parameter(
            "a", "1..the block's width, for all blocks or per block, joined by -", one_or_dashed
        ),
        Parameter("completed", "yes or no", yes_or_no, default=True),
    )
    example = "gbsn:1,m=4-4-4-2,a=1"
    paper = "GBSN (A generalized topology of block shift networks)"
    specification = "papers/gbsn 2"

    def __init__(self, b: int, m: Sequence[int], a: int | Sequence[int], completed: bool = True):
        self.m = block_sizes(m)
        widths = [ceil_log2(size) for size in self.m]
        # A shift by more than a word's place bits would bring bits that no partial link can set.
        self.shift = require_integer("gbsn", "b", b, 1, max(widths))
        self.a = partial_parameters(a, widths)
        if not isinstance(completed, bool):
            raise TopologyError(f"gbsn: completed must be True or False, not {completed!r}.")
        self.completed = completed
        self.place_bits = max(widths)
        self.bits = ceil_log2(len(self.m)) + self.place_bits
        if self.bits > MAX_BITS:
            raise TopologyError(
                f"gbsn: m needs addresses of {self.bits} bits; at most {MAX_BITS} are possible."
            )
        params = description(b, self.m, self.a, completed)
        left = max(map(partial_ports, widths, self.a))
        super().__init__(
            arguments(b, self.m, self.a, completed),
            size=sum(self.m),
            # A rotation by all bits is the identity. Its two ports would lead from each processor
            # to itself.
            ports=left if b == self.bits else left + 2,
            params=params,
        )

    @rule
    def neighbor(node, port, params):
        """Return the node with a flipped pattern, or behind a shift or completion link."""
        block = block_of(node, params)
        at = record(block, params)
        place = node - first_of(block, params)
        left = params[at + LEFT]
        if port < left:
            other = place ^ flipped_bits(port, params[at + A])
            return node - place + other if other < params[at + SIZE] else -1
        if port > left + 1:
            return -1
        block, place, _ = other_end(block, place, port == left, params)
        return first_of(block, params) + place if block >= 0 else -1

    @rule
    def reverse_port(node, port, params):
        """Return the reverse port: the pattern's own, or LEFT and RIGHT as the links lead."""
        block = block_of(node, params)
        at = record(block, params)
        left = params[at + LEFT]
        if port < left:
            return port
        if port > left + 1:
            return -1
        block, _, back = other_end(block, node - first_of(block, params), port == left, params)
        return params[record(block, params) + LEFT] + back if block >= 0 else -1

    @property
    def stated(self) -> dict[str, int]:
        """Degree: the largest (2^w - 1) b/w + 2 over the widths w (III.A), if whole."""
        # The paper's formula divides by the width without rounding. Fractions show whether its
        # value can be a degree.
        degrees = [Fraction((2**w - 1) * self.shift, w) + 2 for w in map(ceil_log2, self.m)]
        return {"degree": int(max(degrees))} if max(degrees).denominator == 1 else {}

    def clusters(self, position: int) -> list[range]:
        """Return the block of a position as its cluster."""
        block = block_of(position, self.params)
        first = int(first_of(block, self.params))
        return [range(first, first + self.m[block])]

    def _address(self, node: int) -> str:
        """Return the word: the block's bits, then the bits of the place in the block."""
        block = block_of(node, self.params)
        place = node - int(first_of(block, self.params))
        return format((block << self.place_bits) | place, f"0{self.bits}b")

    def read_address(self, address: str) -> int:
        """Return the processor of a word, counted from the first processor of its block."""
        word = int(address, 2)
        block, place = word >> self.place_bits, word & (2**self.place_bits - 1)
        if word < 0 or not is_there(block, place, self.params):
            raise ValueError(f"the network has no word {address}")
        return int(first_of(block, self.params)) + place

    @property
    def routings(self) -> dict[str, Callable[[], Routing]]:
        """Routing `gbsn`, or tables if the network is not completed; two-way shift routing."""
        own = super().routings
        if self.completed:
            own = {"gbsn": lambda: stateless("gbsn", decide, self, shortest=False)}
        return own | two_way_routings(self.params, self.completed)

    @cached_property
    def regular(self) -> BlockShift | None:
        """The BSN with the same numbers and ports, if it exists (docs/papers/gbsn, 2)."""
        blocks, b = len(self.m), self.shift
        # Equal blocks of full size make the words of a BSN, number by number and port by port. Its
        # faster schedules then apply.
        if set(self.m) != {2**b} or len(set(self.a)) > 1 or blocks & (blocks - 1):
            return None
        try:
            return BlockShift(self.a[0], b, self.bits)
        except TopologyError:  # a does not divide b, or the words are too long
            return None

    @property
    def guest(self) -> BlockShift | None:  # type: ignore[override]
        """BSN on all words of the addresses, emulated unless the network is a BSN (section 4.1)."""
        if self.regular or not self.completed or self.bits > MAX_GUEST_BITS:
            return None
        return BlockShift(1, self.shift, self.bits)

    def homes(self) -> Ints:
        """Return the processor of each word: without its top bit where the network lacks it."""
        words = np.arange(1 << self.bits)
        block, place = words >> self.place_bits, words & ((1 << self.place_bits) - 1)
        block -= np.where(block >= len(self.m), 1 << (self.bits - self.place_bits - 1), 0)
        size, first = np.array(self.m)[block], np.cumsum([0, *self.m[:-1]])[block]
        # A block of width w has more than half of the 2^w places.
        width = np.array([ceil_log2(each) for each in self.m])[block]
        place &= (1 << width) - 1
        return first + place - np.where(place >= size, 1 << (width - 1), 0)

    @property
    def ascend_schedules(self) -> Mapping[str, str | type[Any]]:
        """Schedules of the BSN, emulated unless the network is a BSN (section 4)."""
        network = self.regular or self.guest
        own = network.ascend_schedules if network else {}
        # Routed exchanges need no emulation, and stay the default wherever these are possible.
        alone = self.regular is None and self.size & (self.size - 1) == 0
        return {**({"routed": ROUTED} if alone else {}), **own}

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the routing's tree on a completed network, and the BSN's schedules on a BSN."""
        own = {"routes": lambda: route_schedule(self, root)} if self.completed else {}
        return {**own, **self.regular.schedules(root)} if self.regular else own


def block_sizes(m: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes of the blocks; raise `TopologyError` for invalid sizes."""
    if isinstance(m, str) or not isinstance(m, Sequence) or not m:
        raise TopologyError(f"gbsn: m must be the sizes of one or more blocks, not {m!r}.")
    return tuple(require_integer("gbsn", "a block's size in m", size, 2) for size in m)


def partial_parameters(a: int | Sequence[int], widths: Sequence[int]) -> tuple[int, ...]:
    """Return one partial parameter per block; raise `TopologyError` for invalid ones."""
    if isinstance(a, str) or not isinstance(a, Sequence):
        require_integer("gbsn", "a", a, 1, min(widths))
        return (a,) * len(widths)
    if len(a) != len(widths):
        raise TopologyError(
            f"gbsn: a must be one number, or {len(widths)}, one for each block, not {len(a)}."
        )
    return tuple(
        require_integer("gbsn", f"a of block {block}", part, 1, width)
        for block, (part, width) in enumerate(zip(a, widths, strict=True))
    )


def arguments(b: int, m: Sequence[int], a: Sequence[int], completed: bool) -> str:
    """Return the arguments of the canonical topology string."""
    parts = a if len(set(a)) > 1 else a[:1]
    text = f"{b},m={'-'.join(map(str, m))},a={'-'.join(map(str, parts))}"
    return text if completed else f"{text},completed=no"


def route_schedule(network: GeneralizedBlockShift, root: int) -> Schedule:
    """Make the schedule along the routes to the root, over single-bit partial and shift links."""
    # With single-bit partial links a node has few children. With all patterns the tree would be
    # flat, which one-port steps cannot use.
    single = description(network.shift, network.m, (1,) * len(network.m), network.completed)
    params = np.concatenate([network.params, network.params[:2], np.array(single, np.int64)])
    return Schedule("routes", root, send_child, params, ())


@rule
def send_child(node, root, since, step, params):
    """Return the port to a node's next child, one per step: RIGHT, LEFT, then bits downwards.

    A child is a neighbour whose first hop towards the root leads to this node.
    """
    single = params[params[RECORDS] + RECORD * params[BLOCKS] :]
    block = block_of(node, single)
    at = record(block, single)
    waiting = step - since
    # A node has at most two shift links in addition to its partial links. In later steps no child
    # is left, and the search is skipped.
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
    # The tree is not stored: a neighbour is a child if its own route to the root begins with this
    # link. Each node can decide this alone.
    return 1 if child != root and port_towards(child, root, single) == back else 0
