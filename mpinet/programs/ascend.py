"""ASCEND and DESCEND: runs of an operator's passes on a machine by a schedule.

The operator combines the elements of a pair; the schedule brings the elements together. A network
may have its own schedule (`Topology.ascend_schedules`). On any other network of 2^q processors the
exchanges are routed.
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
"""Function from numbers to the input values with these numbers."""

CHUNK = 2**16
"""Number of input values generated at a time for the serial check."""


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
    """Number of elements: 2^q, or a multiple if the schedule has several instances."""
    steps: int
    """Number of steps of the machine."""
    phases: list[Phase]
    """Names and steps of the stages of a single pass, or of the passes if there are several."""
    correct: bool
    """True if all results agree with the serial computation, and no witnessed state was wrong
    (`PassSchedule.astray`).
    """
    index: Ints = field(repr=False)
    """Elements whose results are on this rank: element i of instance s is number s 2^q + i. Shape
    (k,).
    """
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

    For the check every rank with elements computes all input values and results. The check of a
    reduction only needs a share of the values on each rank.

    Parameters
    ----------
    machine : Machine
        Runs the steps, enforces the port model and counts.
    operator : Operator or str
        The operator, or its name in `operators.OPERATORS`.
    kind : str
        ``"ascend"`` or ``"descend"``.
    seed : int
        Seed of the input values; instance s uses seed + s. Ignored if `values` is given.
    algorithm : str or subclass of PassSchedule, optional
        The schedule, or its name (`schedules.find_schedule`). Default: the network's own, otherwise
        ``"routed"``.
    values : callable, optional
        ``values(index)`` returns the input values with numbers `index`, which has shape (k,). The
        function must return the same values on all ranks.

    Returns
    -------
    AscendResult
        Equal on all ranks, except for the local `index` and `values`.

    Raises
    ------
    UsageError
        The number of processors is not a power of two. The operator or the algorithm does not
        exist. The operator lacks the form or reads elements outside its pair. The network does not
        support the schedule.
    ModelViolation
        The schedule exceeds the machine's port model.

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
    """Return the indices of each instance's elements among this rank's elements."""
    if schedule.instances == 1:
        return [slice(None)]
    return [np.flatnonzero(schedule.instance == s) for s in range(schedule.instances)]


def _drawn(inputs: Sequence[Inputs], members: Sequence[Ints | slice], index: Ints) -> Array:
    """Return the input values of these elements, each from its own instance."""
    if len(inputs) == 1:
        return inputs[0](index)
    parts = [of(index[at]) for of, at in zip(inputs, members, strict=True)]
    places = np.concatenate([np.arange(len(index))[at] for at in members])
    return np.concatenate(parts)[np.argsort(places)]


def _checked(operator: Operator, program: Sequence[Pass], q: int) -> Sequence[Pass]:
    """Return the program after checking that it can run on 2^q elements."""
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
    """Return the stages of a single pass, or one phase per pass."""
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
    """Return the number of results that differ from the serial computation."""
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
    """Return the number of wrong results; the tolerance depends on all expected results."""
    if len(results) == 0:
        return 0
    if not np.issubdtype(expected.dtype, np.inexact):
        different = (results != mine).reshape(len(results), -1)
        return int(different.any(axis=1).sum())
    margin = operator.tolerance * np.abs(expected).max()
    near = (np.abs(results - mine) <= margin).reshape(len(results), -1)
    return int((~near.all(axis=1)).sum())
