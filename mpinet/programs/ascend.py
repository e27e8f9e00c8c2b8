"""ASCEND and DESCEND: an operator's passes, carried out on a machine by a schedule.

The operator says what becomes of a pair of elements; the schedule brings the two of a pair
together. A network may have a schedule of its own (`Topology.ascend_schedules`); on any other
network of 2^q processors the exchanges are routed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.base.blame import blaming
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.programs.operators import open_operator
from mpinet.programs.operators.operator import ASCEND, KINDS, Operator, Pass
from mpinet.programs.operators.probe import require_pairwise
from mpinet.programs.operators.reduction import Reduction
from mpinet.programs.schedules import find_schedule
from mpinet.programs.schedules.schedule import PassSchedule, Phase

Inputs = Callable[[Ints], Array]
"""Function that gives the input values of these numbers."""

CHUNK = 2**16
"""Input values that are generated at a time for the serial check."""


@dataclass(frozen=True, eq=False)
class AscendResult:
    """Result of an operator of ASCEND or DESCEND."""

    operator: str
    """Name of the operator."""
    kind: str
    """Form of the operator: ``"ascend"`` or ``"descend"``."""
    algorithm: str
    """Name of the schedule."""
    elements: int
    """Number of elements: 2^q, or a multiple of it where the schedule has several instances."""
    steps: int
    """Steps of the machine."""
    phases: list[Phase]
    """Names and steps of the stages of a single pass, or of the passes if there are several."""
    correct: bool
    """True if all results agree with the serial computation, and no witnessed state was wrong
    (`PassSchedule.astray`)."""
    index: Ints = field(repr=False)
    """Elements whose results are on this rank: element i of instance s is number s 2^q + i. Shape
    (k,)."""
    values: Array = field(repr=False)
    """Results of these elements. Shape (k, ..)."""


def run(
    machine: Machine,
    operator: Operator | str,
    kind: str = ASCEND,
    seed: int = 0,
    algorithm: str | type[PassSchedule] | None = None,
    values: Inputs | None = None,
) -> AscendResult:
    """Run an operator on a machine and compare with the serial computation (collective).

    The check needs all input values and results on every rank that has elements; of a reduction,
    only a share of the values.

    Parameters
    ----------
    machine : Machine
        Moves, polices and counts.
    operator : Operator or str
        The operator, or its name in `operators.OPERATORS`.
    kind : str
        ``"ascend"`` or ``"descend"``.
    seed : int
        For the input values, unless `values` gives them; instance s has those of seed + s.
    algorithm : str or subclass of PassSchedule, optional
        The schedule, or its name (`schedules.find_schedule`). Default: the network's own, else
        ``"routed"``.
    values : callable, optional
        ``values(index)``: the input values of these numbers; index has shape (k,). It must give
        the same on all ranks.

    Returns
    -------
    AscendResult
        The same on all ranks, but for the local `index` and `values`.

    Raises
    ------
    UsageError
        Not 2^q processors, an unknown operator or algorithm, an operator without that form or
        that looks beyond its pair, or a schedule that the network does not allow.
    ModelViolation
        The machine's port model forbids the schedule.

    Examples
    --------
    >>> found = run(Machine("hypercube:4"), "sum")
    >>> found.algorithm, found.steps, found.correct
    ('exchange', 4, True)
    """
    made = open_operator(operator) if isinstance(operator, str) else operator

    def inputs_of(instance: int, q: int) -> Inputs:
        if values is None:
            return lambda some: made.draw(seed + instance, q, some)
        return lambda some: values(some + (instance << q))

    with blaming(type(made), f"The operator {made.name}"):
        schedule = find_schedule(machine.topology, algorithm)(machine)
        q, index = schedule.dimensions, schedule.index
        program = _checked(made, made.passes(kind, q), q)
        inputs = [inputs_of(number, q) for number in range(schedule.instances)]

        def tried(some: Ints) -> Array:
            return made.prepare(inputs[0](made.reads(kind, q, some)))

        require_pairwise(made.name, program, q, tried)
        members = _members(schedule)
        state = made.prepare(_drawn(inputs, members, made.reads(kind, q, index)))
        before = machine.steps
        stages = schedule.carry_out(program, state)
        results = made.finish(state)
        wrong = sum(
            _count_wrong(machine, made, kind, q, of, index[at], results[at])
            for of, at in zip(inputs, members, strict=True)
        )
        return AscendResult(
            operator=made.name,
            kind=kind,
            algorithm=schedule.name,
            elements=schedule.instances << q,
            steps=machine.steps - before,
            phases=_phases(program, stages),
            correct=machine.sum(wrong + schedule.astray)[0] == 0,
            index=index + (schedule.instance << q),
            values=results,
        )


def _members(schedule: PassSchedule) -> list[Ints | slice]:
    """The places of each instance's elements among those at home here."""
    if schedule.instances == 1:
        return [slice(None)]
    return [np.flatnonzero(schedule.instance == s) for s in range(schedule.instances)]


def _drawn(inputs: Sequence[Inputs], members: Sequence[Ints | slice], index: Ints) -> Array:
    """The input values of these elements, each from its own instance."""
    if len(inputs) == 1:
        return inputs[0](index)
    parts = [of(index[at]) for of, at in zip(inputs, members, strict=True)]
    places = np.concatenate([np.arange(len(index))[at] for at in members])
    return np.concatenate(parts)[np.argsort(places)]


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
    machine: Machine,
    operator: Operator,
    kind: str,
    q: int,
    inputs: Inputs,
    index: Ints,
    results: Array,
) -> int:
    """Count the results that differ from the serial computation."""
    if isinstance(operator, Reduction):
        everywhere = np.broadcast_to(_reduced(machine, operator, q, inputs), len(results))
        return _count_different(operator, results, everywhere, everywhere)
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
    return _count_different(operator, results, mine, expected)


def _reduced(machine: Machine, operator: Reduction, q: int, inputs: Inputs) -> Array:
    """Reduce all input values, each rank its share of them (collective)."""
    ranks, rank = machine.transport.size, machine.transport.rank
    ends = [(number << q) // ranks for number in range(ranks + 1)]
    begins = range(ends[rank], ends[rank + 1], CHUNK)
    parts = [
        operator.reduced(inputs(np.arange(begin, min(begin + CHUNK, ends[rank + 1]))))
        for begin in begins
    ]
    shares = np.zeros(ranks, operator.dtype)
    if parts:
        shares[rank] = operator.reduced(np.array(parts))
    return operator.reduced(machine.transport.sum(shares)[np.diff(ends) > 0])


def _count_different(operator: Operator, results: Array, mine: Array, expected: Array) -> int:
    """Count the results that are not what they should be, or near it among all expected ones."""
    if len(results) == 0:
        return 0
    if not np.issubdtype(expected.dtype, np.inexact):
        different = (results != mine).reshape(len(results), -1)
        return int(different.any(axis=1).sum())
    margin = operator.tolerance * np.abs(expected).max()
    near = (np.abs(results - mine) <= margin).reshape(len(results), -1)
    return int((~near.all(axis=1)).sum())
