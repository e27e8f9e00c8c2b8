"""The choice between the dense step and the step by lanes, and the dense state of a run."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.blame import is_own
from mpinet.base.memory import require_memory
from mpinet.base.native.tiers import PLAIN, tier
from mpinet.base.records import lined, longer
from mpinet.errors import TooLarge
from mpinet.machine.traffic import dense
from mpinet.machine.traffic.dense import ARRIVED_BIT, W_BITS, Shape, W
from mpinet.machine.traffic.layout import NONE
from mpinet.machine.traffic.plain import is_plain
from mpinet.machine.traffic.tables import Tables
from mpinet.networks.classic import grid, hypercube, ring
from mpinet.networks.routing import target_only

# Measured with vectors of 32 and of 64 bytes. The dense step takes a time per node whether flits
# move or not, in proportion to the bytes of the node's rows.
MOVES_PER_BYTE = 0.0008
"""Moves per node and step, for each byte of a node's rows, from which on a run becomes dense."""

STAYS = 0.75
"""Part of this number below which a dense run returns to the step by lanes."""

LEAST_WORK = 1 << 17
"""Least number of nodes times remaining steps for a change: smaller runs end before it pays."""

FIRST_LOOK = 32
"""Steps of the first call by lanes; each further call is twice as long, until the run is dense."""

LONGER = 8
"""Factor of the steps in a call of the dense step: a step takes less time."""

MOST_VCS, MOST_BUFFER, MOST_FLITS = 8, 16, 1 << 15
MOST_PAIRS = 1 << 22
"""Largest number of pairs of nodes in a table of routes."""

IN_ORDER = {
    grid.decide_mesh, grid.decide_torus, grid.decide_torus_by_parity, hypercube.fix_lowest_bit,
    ring.decide, ring.decide_by_parity,
}  # fmt: skip
"""Rules of routings by dimension order: the first coordinate that differs decides."""

BY_TARGET = ("none", "dateline")
"""Class rules that depend on node and target alone."""

ON_RINGS = {grid.Torus, ring.Ring}
"""Networks whose class rule `wrap` keeps the class from a port to the port of the same number."""


def shape_of(run: Tables) -> Shape | None:
    """Return the shape of the dense step for a run; None if this run needs the step by lanes."""
    rules, topology, routing, classes = run._rules, run.machine.topology, run.routing, run.classes
    generation = run.generation
    users = is_own(routing.decide.function) or is_own(classes.rule.function)
    if (
        run.machine.transport.size > 1 or not topology.links or not run.limited or run.detailed
        or routing.adaptive or not is_plain(rules) or rules.delay > 1 or run.faults
        or run.failing is not None or users or routing.start is not target_only
        or not routing.stateless or generation.program is not None
    ):  # fmt: skip
        return None
    in_order = routing.decide in IN_ORDER
    straight = classes.name == "wrap" and type(topology) in ON_RINGS
    if not (straight or classes.count == 1 or (classes.name in BY_TARGET and in_order)):
        return None
    shape = Shape(
        int(rules.ports), int(rules.vcs), classes.count, int(rules.buffer), bool(rules.flits > 1),
        straight, not in_order,
    )  # fmt: skip
    small = in_order or topology.size**2 <= MOST_PAIRS
    fits = shape.vcs <= MOST_VCS and shape.buffer <= MOST_BUFFER and rules.flits <= MOST_FLITS
    return shape if small and fits and shape.word_bits else None


class DenseForm:
    """The dense state of a run, made when the run becomes dense for the first time.

    Parameters
    ----------
    run : Tables
        A run without steps.
    shape : Shape
        The variant of the kernels.
    """

    active = False
    """True while the dense state is the state of the run."""
    state: Any = None
    """The dense state (`dense.Dense`); None until the run becomes dense."""

    def __init__(self, run: Tables, shape: Shape):
        self.shape, self.size = shape, dense.constants(shape)
        row_bytes = (self.size["TILE"] + self.size["WORK"]) // W * shape.word_bits // 8
        self.enter, self.least = MOVES_PER_BYTE * row_bytes, LEAST_WORK
        self.leave = STAYS * self.enter
        self._run = run
        self._look = FIRST_LOOK
        self._seen = (0, 0)
        # Plain Python is fast where it visits few lanes, so plain runs stay sparse.
        self._possible = tier() != PLAIN

    @cached_property
    def kernels(self) -> list[Any]:
        """The kernels `advance_dense`, `take_over` and `hand_back` of the shape."""
        return dense.bound(self.shape)

    def steps(self, steps: int) -> int:
        """Return the steps of the next call, given the steps of a long call by lanes."""
        return steps * LONGER if self.active else min(steps, self._look)

    def advance(self, steps: int) -> bool:
        """Make up to `steps` steps; return False if the step by lanes has to make them."""
        run = self._run
        if not self.active and not self._pays():
            self._look *= 2
            return False
        if not self.active:
            self._begin()
        if len(self.state.goals) < len(run._state.messages):
            goals = longer(self.state.goals, len(run._state.messages))
            self.state = self.state._replace(goals=goals)
        before = run.steps
        self.kernels[0](
            run._routes, run._rules, run._sources, run._state, run.books, self.state,
            run.ledger.record, steps,
        )  # fmt: skip
        made = run.steps - before
        # Fewer steps: the sources close, which the step by lanes has to do, or nothing moved.
        if (made < steps and run.ledger.free >= run._room) or self._density() < self.leave:
            self.end()
        return made > 0

    def _density(self) -> float:
        """Return the moves per node and step since the last call."""
        run, (steps, moves) = self._run, self._seen
        self._seen = run.steps, run.ledger.moves
        nodes = len(run._nodes) * max(1, run.steps - steps)
        return float(run.ledger.moves - moves) / max(1, nodes)

    def _pays(self) -> bool:
        """Return whether the dense step would be faster from now on, and is ready."""
        run = self._run
        rest = max(0, int(run._rules.window_end) - run.steps) * len(run._nodes)
        if self._density() < self.enter or not self._possible:
            return False
        if self.least and (rest < self.least or not self._is_ready):
            return False
        try:
            require_memory(self.bytes, "The dense step")
        except TooLarge:
            self._possible = False
        self._possible = self._possible and self._routes is not None
        return self._possible

    @property
    def bytes(self) -> int:
        """Bytes of the dense state, about."""
        size, ports = self.size, W * (self.shape.ports + 1)
        word, ring = self.shape.word_bits // 8, size["WIDTH"] << size["PLACE_BITS"]
        each = size["TILE"] * word + ports * (4 * word + 12 + 4 * ring) + 8 * W
        return len(self._run._nodes) // W * each + 8 * len(self._run._state.messages)

    @property
    def _is_ready(self) -> bool:
        """True if the native code of all dense kernels is ready; otherwise it is requested."""
        # A list: all missing kernels are requested at once.
        return all([each.is_ready for each in (*self.kernels, dense.find_ways)])

    def put_down(self) -> None:
        """Write the state into the run's state by lanes, which a checkpoint reads."""
        if self.active:
            self.kernels[2](self._run._rules, self._run._state, self.state)

    def end(self) -> None:
        """Return to the step by lanes."""
        self.put_down()
        self.active, self._look = False, FIRST_LOOK

    def _begin(self) -> None:
        """Write the run's state in the dense form."""
        if self.state is None:
            self.state = self._made()
        for rows in (self.state.words, self.state.work):
            rows[:] = 0
        goals = dense.Goal.array(len(self._run._state.messages))
        self.state = self.state._replace(goals=goals)
        self.kernels[1](self._run._rules, self._run._state, self.state)
        self.active = True

    def _made(self) -> Any:
        """Allocate the dense state."""
        size, run, ports = self.size, self._run, self.shape.ports
        tiles = -(-len(run._nodes) // W)
        kind = np.dtype(f"u{self.shape.word_bits // 8}")
        many = tiles * (ports + 1) * W
        assert self._routes is not None
        spots, ways, fields = self._routes
        # A port without a link leads to the row of ports behind the last one, which stays zero.
        ends = np.arange(many).reshape(tiles, ports + 1, W)
        ends[:, :ports] = ends[:, ports:]
        links = run._links.reshape(-1, ports)
        slots, port = np.nonzero(links["owner"] != NONE)
        far = links[slots, port]
        back = far["lane"] // int(run._rules.vcs) % (ports + 1)
        to = far["slot"].astype(np.int64)
        ends[slots >> W_BITS, port, slots & W - 1] = (
            (to >> W_BITS) * (ports + 1) + back << W_BITS
        ) + (to & W - 1)
        there = np.zeros((tiles, ports + 1, W), np.uint32)
        there[slots >> W_BITS, port, slots & W - 1] = spots[run._nodes["number"][to]]
        group = {16: dense.Dense, 32: dense.Dense32, 64: dense.Dense64}[self.shape.word_bits]
        return group(
            words=lined(tiles * size["TILE"], kind),
            work=lined(size["WORK"], kind),
            links=lined(2 * many, kind),
            codes=lined(2 * many, kind),
            ends=ends.ravel().astype(np.uint32),
            rings=((ends >> W_BITS) * (size["WIDTH"] << size["PLACE_BITS"]) * W + ends % W)
            .ravel()
            .astype(np.uint32),
            there=there.ravel(),
            dice=np.zeros(tiles * W, np.uint32),
            spots=spots,
            ring=lined(many * size["WIDTH"] << size["PLACE_BITS"], np.int32),
            goals=dense.Goal.array(0),
            ways=ways,
            fields=fields,
        )

    @cached_property
    def _routes(self) -> tuple[Any, Any, Ints] | None:
        """Packed places by node, the table of routes, and its fields; None if a rule is invalid."""
        topology = self._run.machine.topology
        every = np.arange(topology.size)
        if self.shape.by_pair:
            nodes, targets = np.repeat(every, topology.size), np.tile(every, topology.size)
            spots, fields = every, np.array([topology.size], np.int64)
        else:
            spots, fields = np.zeros_like(every), np.zeros(ARRIVED_BIT + 1, np.int64)
            pairs: list[Ints] = []
            shift = base = 0
            for stride, side in topology.coordinates:
                width = (side - 1).bit_length()
                spots |= every // stride % side << shift
                fields[shift : shift + width] = base << 16 | width << 8 | shift
                here, there = np.divmod(np.arange(1 << 2 * width), 1 << width)
                pairs.append(np.minimum([here, there], side - 1) * stride)
                shift, base = shift + width, base + (1 << 2 * width)
            # The last entry is for messages at their targets: node 0 is its own target.
            nodes, targets = np.concatenate([*pairs, np.zeros((2, 1), np.int64)], axis=1)
            fields[-1] = base << 16
        ways = np.zeros(len(nodes), np.uint8)
        wrong = dense.find_ways(
            self._run._routes, self.shape.ports, self.shape.classes, self.size["OUT_BITS"],
            np.ascontiguousarray(nodes), np.ascontiguousarray(targets), ways,
        )  # fmt: skip
        return None if wrong else (spots.astype(np.uint32), ways, fields)
