"""Data circulation: each item visits all processors of its subcube of the low dimensions.

A program of ASCEND: exchange i = 1, .., 2^q - 1 is in the dimension of i's lowest one bit, so that
an item goes through its subcube as a Gray code does. Any schedule of exchanges will do.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.errors import UsageError
from mpinet.machine import Machine
from mpinet.networks.topology import Topology
from mpinet.programs.bounds import Bound
from mpinet.programs.collective import CollectiveOutcome, items
from mpinet.programs.operators.operator import ASCEND, Pass
from mpinet.programs.schedules import find_schedule
from mpinet.programs.schedules.schedule import PassSchedule, require_power_of_two

MOST_DIMENSIONS = 20
"""Largest subcubes, 2^20 processors: a step more for each processor that an item visits."""

ITEM = np.dtype([("origin", np.int64), ("visited", np.int64)])
"""An item: the processor it comes from, and the sum of the labels of those that it has visited."""


def circulate(
    machine: Machine,
    dimensions: int | None = None,
    algorithm: str | type[PassSchedule] | None = None,
    seed: int = 0,
) -> CollectiveOutcome:
    """Bring each item to all 2^q elements of its subcube of the low q dimensions (collective).

    With exchanges of one step it takes 2^q - 1 steps, which nothing beats. On BSN(a,b) the shifts
    to the section of z and back come in addition (docs/papers/gbsn, 4); its schedules
    ``sections`` and ``unaligned`` differ only in the way that they take where both are as long.

    Parameters
    ----------
    machine : Machine
        Of 2^n processors; moves, polices and counts.
    dimensions : int, optional
        q, 1..n, or fewer where the schedule has fewer elements than there are processors. Default:
        all.
    algorithm : str or subclass of PassSchedule, optional
        The schedule of the exchanges, as in `ascend.run`.
    seed : int
        Chooses the labels: 62 random bits for every processor.

    Returns
    -------
    CollectiveOutcome
        Its phases are the dimensions, each with the steps of all its exchanges. `correct` tells
        whether each item has gathered the labels of its subcube, and has not left it.

    Raises
    ------
    UsageError
        Not 2^n processors, no such dimensions, or a schedule that the network does not allow.

    Examples
    --------
    >>> found = circulate(Machine("hypercube:3", "one"))
    >>> found.steps, found.phases
    (7, (('dimension 0', 4), ('dimension 1', 2), ('dimension 2', 1)))
    """
    require_dimensions(machine.topology, dimensions)
    schedule = find_schedule(machine.topology, algorithm)(machine)
    q = require_dimensions(machine.topology, dimensions, schedule.dimensions)
    state = np.empty(len(schedule.index), ITEM)
    state["origin"] = schedule.index
    state["visited"] = items(seed, schedule.index, schedule.index)
    turns = [trailing_zeros(i) for i in range(1, 1 << q)]
    exchange = partial(swap, seed)
    program = [Pass(ASCEND, z, z + 1, exchange) for z in turns]
    with machine.spending() as spent:
        stages = schedule.carry_out(program, state)
    lengths: Counter[int] = Counter()
    for z, parts in zip(turns, stages, strict=True):
        lengths[z] += sum(steps for _, steps in parts)
    phases = tuple((f"dimension {z}", lengths[z]) for z in sorted(lengths))
    correct = machine.sum(int(not _complete(seed, q, schedule.index, state)))[0] == 0
    return CollectiveOutcome(
        schedule.name, spent.steps, spent.messages, phases, Bound((1 << q) - 1, "ends"), correct
    )


def require_dimensions(
    topology: Topology, dimensions: int | None, elements: int | None = None
) -> int:
    """The q that is wanted, or all dimensions: the network's, or those of a schedule's `elements`.

    Raises
    ------
    UsageError
        The network has not 2^n processors, or not so many dimensions, or there are too many.
    """
    n = require_power_of_two(topology)
    n = n if elements is None else min(n, elements)
    q = n if dimensions is None else dimensions
    most = min(n, MOST_DIMENSIONS)
    if not min(n, 1) <= q <= most:
        raise UsageError(f"Items of {topology.name} circulate in 1..{most} dimensions, not in {q}.")
    return q


def trailing_zeros(i: int) -> int:
    """The place of the lowest one bit of i > 0."""
    return (i & -i).bit_length() - 1


def swap(seed: int, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
    """The two items of a pair change places, and note the labels of their new ones."""
    new_low, new_high = high.copy(), low.copy()
    new_low["visited"] += _labels(seed, i)
    new_high["visited"] += _labels(seed, i | (1 << j))
    return new_low, new_high


def _labels(seed: int, addresses: Ints) -> Ints:
    flat = addresses.ravel()
    return items(seed, flat, flat).reshape(addresses.shape)


def _complete(seed: int, q: int, index: Ints, state: Array) -> bool:
    """Tell if the items that are here have been everywhere in their subcubes."""
    cubes, which = np.unique(index >> q, return_inverse=True)
    totals = [_labels(seed, np.arange(cube << q, (cube + 1) << q)).sum() for cube in cubes.tolist()]
    stayed = state["origin"] >> q == index >> q
    return bool((stayed & (state["visited"] == np.array(totals, np.int64)[which])).all())
