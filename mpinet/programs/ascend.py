"""ASCEND and DESCEND: an operator's passes, carried out on a machine by a schedule.

The operator says what becomes of a pair of elements; the schedule brings the two of a pair
together. A network may have a schedule of its own (`OWN_SCHEDULES`); on any other network of 2^q
processors the exchanges are routed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mpinet.compiled import kernel
from mpinet.errors import RoutingError, UsageError
from mpinet.machine import Machine
from mpinet.machine.plan import Plan
from mpinet.machine.router import Router
from mpinet.programs.operators import open_operator
from mpinet.programs.operators.operator import ASCEND, KINDS, Array, Numbers, Operator, Pass

Watch = Callable[[int], None]
Phase = tuple[str, int]

CHUNK = 2**16
"""Input values that are generated at a time for the serial check."""

PIECE = 2**14
"""Most pairs that an operator is given at once: their temporaries stay in the cache."""

SHORT = (2, 4)
"""Runs of these lengths are gathered: NumPy is slow at rows that short."""


@dataclass(frozen=True, eq=False)
class AscendResult:
    """What an operator came to.

    Attributes
    ----------
    operator, kind, algorithm : str
        Names of the operator, its form and the schedule.
    elements : int
        Number of elements.
    steps : int
        Steps of the machine.
    phases : list of (str, int)
        Names and steps of the stages of the only pass, or of the passes where there are several.
    correct : bool
        Whether all results agree with the serial computation.
    index : ndarray of int64, shape (k,)
        The elements whose results this rank has.
    values : ndarray, shape (k, ..)
        Their results.
    """

    operator: str
    kind: str
    algorithm: str
    elements: int
    steps: int
    phases: list[Phase]
    correct: bool
    index: Numbers = field(repr=False)
    values: Array = field(repr=False)


def run(
    machine: Machine,
    operator: Operator | str,
    kind: str = ASCEND,
    seed: int = 0,
    algorithm: str | type[PassSchedule] | None = None,
    values: Callable[[Numbers], Array] | None = None,
    watch: Watch | None = None,
) -> AscendResult:
    """Run an operator on a machine and compare with the serial computation (collective).

    The check needs all input values and results on every rank that has elements.

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    operator : Operator or str
        The operator, or its name in `operators.OPERATORS`.
    kind : str
        ``"ascend"`` or ``"descend"``.
    seed : int
        For the input values, unless `values` gives them.
    algorithm : str or subclass of PassSchedule, optional
        The schedule, or its name in `SCHEDULES`. Default: the network's own, else ``"routed"``.
    values : callable, optional
        ``values(index)``: the input values of these numbers; index has shape (k,). It must give
        the same on all ranks.
    watch : callable, optional
        Called with the number of steps from time to time.

    Returns
    -------
    AscendResult
        The same on all ranks, but for the local `index` and `values`.

    Raises
    ------
    UsageError
        Not 2^q processors, an unknown operator or algorithm, an operator without that form, or a
        schedule that the network does not allow.
    ModelViolation
        The machine's port model forbids the schedule.
    """
    operator = open_operator(operator) if isinstance(operator, str) else operator
    schedule = find_schedule(machine, algorithm)(machine)
    q, index = schedule.dimensions, schedule.index
    program = _checked(operator, operator.passes(kind, q), q)
    inputs = values or partial(operator.draw, seed, q)
    state = operator.prepare(inputs(operator.reads(kind, q, index)))
    before = machine.steps
    stages = schedule.carry_out(program, state, watch)
    results = operator.finish(state)
    wrong = _count_wrong(operator, kind, q, inputs, index, results)
    return AscendResult(
        operator=operator.name,
        kind=kind,
        algorithm=schedule.name,
        elements=1 << q,
        steps=machine.steps - before,
        phases=_phases(program, stages),
        correct=machine.sum(wrong)[0] == 0,
        index=index,
        values=results,
    )


def find_schedule(
    machine: Machine, algorithm: str | type[PassSchedule] | None
) -> type[PassSchedule]:
    """The schedule of this name; the network's own one, or ``"routed"``, if none is named.

    Raises
    ------
    UsageError
        There is no schedule of this name.
    """
    if algorithm is None:
        algorithm = OWN_SCHEDULES.get(machine.topology.family, Routed.name)
    if not isinstance(algorithm, str):
        return algorithm
    if algorithm not in SCHEDULES:
        raise UsageError(
            f"There is no ASCEND algorithm {algorithm!r}: give one of {', '.join(SCHEDULES)}."
        )
    return SCHEDULES[algorithm]


class PassSchedule(ABC):
    """How a network carries out passes: which elements are where, and how pairs meet.

    Parameters
    ----------
    machine : Machine
        What it runs on.

    Attributes
    ----------
    name : str
        The name for ``--algorithm``.
    dimensions : int
        q: there are 2^q elements.
    index : ndarray of int64, shape (k,)
        The elements at home on this rank: row k of a state array is element ``index[k]``. Between
        passes every element is at home.
    """

    name: ClassVar[str]
    dimensions: int
    index: Numbers

    def __init__(self, machine: Machine):
        self.machine = machine

    def carry_out(
        self, program: Sequence[Pass], state: Array, watch: Watch | None = None
    ) -> list[list[Phase]]:
        """Carry out a program in place (collective).

        Parameters
        ----------
        program : sequence of Pass
            One pass after the other.
        state : ndarray, shape (k,)
            States of the elements at home here.
        watch : callable, optional
            Called with the number of steps from time to time.

        Returns
        -------
        list of list of (str, int)
            For every pass the names and steps of its stages.
        """
        return [self.carry_out_pass(sweep, state, watch) for sweep in program]

    @abstractmethod
    def carry_out_pass(self, sweep: Pass, state: Array, watch: Watch | None) -> list[Phase]:
        """Carry out one pass in place (collective): names and steps of its stages."""


class Dimensionwise(PassSchedule):
    """One element a processor, at the processor of its number, and one dimension after the other.

    Parameters
    ----------
    machine : Machine
        Has 2^q processors.

    Raises
    ------
    UsageError
        It has not.
    """

    def __init__(self, machine: Machine):
        super().__init__(machine)
        topology = machine.topology
        self.size = topology.hosts
        self.dimensions = self.size.bit_length() - 1
        if self.size != 1 << self.dimensions:
            raise UsageError(
                f"ASCEND and DESCEND need 2^q processors, and {topology.name} has {self.size}."
            )
        hosted = machine.nodes < self.size
        self.index = machine.nodes if hosted.all() else machine.nodes[hosted]
        self._rows = np.where(hosted, np.cumsum(hosted) - 1, -1)
        self._uses: Counter[int] = Counter()
        self._pairs: dict[int, Pairs] = {}

    @abstractmethod
    def partners(self, j: int, state: Array) -> Array:
        """The states of the elements ``index XOR 2^j``, brought here over the machine's links."""

    def carry_out(
        self, program: Sequence[Pass], state: Array, watch: Watch | None = None
    ) -> list[list[Phase]]:
        """As in `PassSchedule`; keeps what a dimension needs for as long as the program does."""
        self._uses = Counter(j for sweep in program for j in sweep.dimensions)
        return super().carry_out(program, state, watch)

    def carry_out_pass(self, sweep: Pass, state: Array, watch: Watch | None) -> list[Phase]:
        """Exchange and operate in every dimension of the pass."""
        stages = []
        for j in sweep.dimensions:
            before = self.machine.steps
            received = self.partners(j, state)
            if j not in self._pairs:
                self._pairs[j] = Pairs(j, self.index, self.rows)
            self._pairs[j].operate(sweep.oper, state, received)
            self._uses[j] -= 1
            if self._uses[j] == 0:
                self.forget(j)
            stages.append((f"dimension {j}", self.machine.steps - before))
            if watch is not None:
                watch(self.machine.steps)
        return stages

    def forget(self, j: int) -> None:
        """Give up what was prepared for a dimension that is not needed again."""
        del self._pairs[j]

    def rows(self, elements: Numbers) -> Numbers:
        """The rows of these elements in a state array; -1 for those that are not here."""
        slots = self.machine.slots(elements)
        here = (slots >= 0) & (slots < len(self._rows))
        rows = np.full(len(slots), -1)
        rows[here] = self._rows[slots[here]]
        return rows


class Exchange(Dimensionwise):
    """The direct exchange, where processors i and i XOR 2^j are neighbours: a step a dimension.

    Of the hypercube (gmn specification, 7.3), and of all networks that contain it.
    """

    name = "exchange"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self._plans: dict[int, tuple[Plan, Numbers | None]] = {}

    def partners(self, j: int, state: Array) -> Array:
        """One step over the links of dimension j."""
        if j not in self._plans:
            self._plans[j] = self._plan(j)
        plan, rows = self._plans[j]
        received = plan(state)
        if rows is None:
            return received
        in_order = np.empty_like(received)
        in_order[rows] = received
        return in_order

    def forget(self, j: int) -> None:
        """Give up the plan, too."""
        super().forget(j)
        del self._plans[j]

    def _plan(self, j: int) -> tuple[Plan, Numbers | None]:
        """The step over dimension j, and the rows of what it brings (None = in order)."""
        topology = self.machine.topology
        ports = np.empty_like(self.index)
        stray = find_ports(topology.neighbor.native, topology.params, self.index, j, ports)
        if stray >= 0:
            node = int(self.index[stray])
            sentence = (
                f"{topology.name} has no link between {node} and {node ^ (1 << j)}, which the "
                f"algorithm {self.name} needs in dimension {j}; {Routed.name} goes without."
            )
            self.machine.transport.fail(UsageError(sentence))
        plan = self.machine.plan(self.index, ports)
        ordered = np.array_equal(plan.nodes, self.index)
        return plan, None if ordered else self.rows(plan.nodes)


class Routed(Dimensionwise):
    """Exchanges on any network: every state travels to the partner by the network's routing.

    The steps of a dimension are those until the last state has arrived, under the machine's port
    model.
    """

    name = "routed"

    def __init__(self, machine: Machine):
        super().__init__(machine)
        self._routing = machine.topology.routing()
        self._order = np.argsort(self.index)

    def partners(self, j: int, state: Array) -> Array:
        """A message from every processor i to i XOR 2^j."""
        words = as_words(state)
        router = Router(self.machine, self._routing, payload_words=words.shape[1], keep=True)
        sources = self.index[self._order]
        router.inject(sources, sources ^ (1 << j), sources, self.size, words[self._order])
        router.run()
        lost = router.totals["undeliverable"]
        if lost:
            raise RoutingError(
                f"Routing {self._routing.name} on {self.machine.topology.name} could not deliver "
                f"{lost} of {self.size} messages in dimension {j}."
            )
        ended = router.delivered
        received = np.empty_like(state)
        received[self.rows(ended.nodes)] = from_words(ended.payload, state.dtype)
        return received


SCHEDULES: dict[str, type[PassSchedule]] = {
    schedule.name: schedule for schedule in (Exchange, Routed)
}
"""The schedules by name."""

OWN_SCHEDULES = {"hypercube": Exchange.name, "complete": Exchange.name}
"""The families with a schedule of their own: family name -> schedule name."""


class Pairs:
    """The pairs of one dimension that have an element on this rank.

    Both processors of a pair know both states after the exchange, and both work out the same; a
    rank that hosts both does so once for the two.

    Parameters
    ----------
    j : int
        The dimension.
    index : ndarray of int64, shape (k,)
        The elements on this rank.
    rows : callable
        ``rows(elements)``: their rows in a state array; -1 for those on other ranks.
    """

    def __init__(self, j: int, index: Numbers, rows: Callable[[Numbers], Numbers]):
        self.j = j
        self._index = index
        self._run = _in_runs(index, j)
        if not self._run:
            upper = (index >> j) & 1 == 1
            partners = rows(index ^ (1 << j))
            here = partners >= 0
            both = np.flatnonzero(~upper & here)
            self._both = list(zip(_pieces(both), _pieces(partners[both]), strict=True))
            self._lone_low = _pieces(np.flatnonzero(~upper & ~here))
            self._lone_high = _pieces(np.flatnonzero(upper & ~here))

    def operate(self, oper: Callable[..., Any], state: Array, received: Array) -> None:
        """Replace the states by what the operator makes of the pairs.

        Parameters
        ----------
        oper : callable
            As `Operator.oper`.
        state : ndarray, shape (k,)
            The elements' states; changed in place.
        received : ndarray, shape (k,)
            Their partners' states.
        """
        if self._run:
            self._operate_in_place(oper, state, received)
            return
        j, index = self.j, self._index
        for at, other in self._both:
            state[at], state[other] = oper(j, index[at], state[at], received[at])
        for at in self._lone_low:
            state[at] = oper(j, index[at], state[at], received[at])[0]
        for at in self._lone_high:
            state[at] = oper(j, index[at] ^ (1 << j), received[at], state[at])[1]

    def _operate_in_place(self, oper: Callable[..., Any], state: Array, received: Array) -> None:
        """The same where the lower elements stand in runs of 2^j, and the upper ones behind."""
        shape = (-1, 2, 1 << self.j)
        low, high = state.reshape(shape).swapaxes(0, 1)
        i, heard = self._index.reshape(shape)[:, 0], received.reshape(shape)[:, 0]
        columns = min(PIECE, 1 << self.j)
        rows = PIECE // columns
        for row in range(0, len(i), rows):
            for column in range(0, 1 << self.j, columns):
                at = slice(row, row + rows), slice(column, column + columns)
                new_low, new_high = oper(self.j, i[at], low[at], heard[at])
                high[at] = new_high  # first: it may be a view of `low`
                low[at] = new_low


def _in_runs(index: Numbers, j: int) -> bool:
    """Whether the elements are consecutive and form whole pairs of runs of 2^j."""
    if len(index) == 0 or 1 << j in SHORT:
        return False
    whole = index[0] % (2 << j) == 0 and len(index) % (2 << j) == 0
    return bool(whole and (np.diff(index) == 1).all())


def _pieces(rows: Numbers) -> list[Any]:
    """What selects these rows, a piece at a time: a slice where they are consecutive."""
    pieces = [rows[begin : begin + PIECE] for begin in range(0, len(rows), PIECE)]
    return [
        slice(piece[0], piece[-1] + 1) if (np.diff(piece) == 1).all() else piece for piece in pieces
    ]


def as_words(state: Array) -> Numbers:
    """States as rows of 64-bit words, filled up with zeros; shape (k, words)."""
    width = state.dtype.itemsize
    words = np.zeros((len(state), -(-width // 8)), np.int64)
    texts = np.ascontiguousarray(state).view(np.uint8).reshape(len(state), width)
    words.view(np.uint8)[:, :width] = texts
    return words


def from_words(words: Numbers, dtype: np.dtype[Any]) -> Array:
    """The states that `as_words` made words of."""
    texts = np.ascontiguousarray(words).view(np.uint8)[:, : dtype.itemsize]
    return np.ascontiguousarray(texts).view(dtype).reshape(len(words))


def _checked(operator: Operator, program: Sequence[Pass], q: int) -> Sequence[Pass]:
    """The program, if it can be carried out on 2^q elements."""
    if np.dtype(operator.dtype).hasobject:
        raise UsageError(
            f"The operator {operator.name} works on Python objects; elements need a fixed-size "
            "type of NumPy."
        )
    for sweep in program:
        if sweep.kind not in KINDS or not 0 <= sweep.low <= sweep.high <= q:
            raise UsageError(
                f"The operator {operator.name} asks for a pass ({sweep.kind!r}, {sweep.low}, "
                f"{sweep.high}): a pass is 'ascend' or 'descend' over a range within 0..{q}."
            )
    return program


def _phases(program: Sequence[Pass], stages: list[list[Phase]]) -> list[Phase]:
    """The stages of the only pass, or the passes."""
    if len(program) == 1:
        return stages[0]
    steps = [sum(steps for _, steps in parts) for parts in stages]
    return [(sweep.name, total) for sweep, total in zip(program, steps, strict=True)]


def _count_wrong(
    operator: Operator,
    kind: str,
    q: int,
    inputs: Callable[[Numbers], Array],
    index: Numbers,
    results: Array,
) -> int:
    """How many of these results differ from the serial computation."""
    if len(index) == 0:
        return 0
    numbers = range(0, 1 << q, CHUNK)
    parts = [inputs(np.arange(begin, min(begin + CHUNK, 1 << q))) for begin in numbers]
    expected = np.asarray(operator.expected(np.concatenate(parts)))
    if expected.shape[:1] != (1 << q,) or expected.shape[1:] != results.shape[1:]:
        raise UsageError(
            f"The operator {operator.name} expects results of shape {expected.shape}, but gives "
            f"{1 << q} of shape {results.shape[1:]}."
        )
    mine = expected[operator.holds(kind, q, index)]
    if not np.issubdtype(expected.dtype, np.inexact):
        different = (results != mine).reshape(len(index), -1)
        return int(different.any(axis=1).sum())
    margin = operator.tolerance * np.abs(expected).max()
    near = (np.abs(results - mine) <= margin).reshape(len(index), -1)
    return int((~near.all(axis=1)).sum())


@kernel("int64(port_rule, int64[::1], int64[::1], int64, int64[::1])")
def find_ports(neighbor_rule, params, nodes, j, ports):
    """Write each node's port to its neighbour in dimension j; the first that has none, or -1.

    Port j is tried first.
    """
    neighbor = neighbor_rule.call
    for k in range(nodes.size):
        partner = nodes[k] ^ (1 << j)
        ports[k] = -1
        for turn in range(params[1]):
            port = (j + turn) % params[1]
            if neighbor(nodes[k], port, params) == partner:
                ports[k] = port
                break
        if ports[k] < 0:
            return k
    return -1
