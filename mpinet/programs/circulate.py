"""Data circulation: each item visits all processors of its subcube of the low dimensions.

Data circulation is a program of ASCEND. Exchange i = 1, .., 2^q - 1 uses the dimension of the
lowest one bit of i. An item thus follows a Gray code through its subcube. Any schedule of exchanges
can run this program.
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
"""Maximum number of dimensions: an item needs one step for each of 2^20 processors."""

ITEM = np.dtype([("origin", np.int64), ("visited", np.int64)])
"""An item: its source processor, and the sum of the labels of the visited processors."""


def circulate(
    machine: Machine,
    dimensions: int | None = None,
    algorithm: str | type[PassSchedule] | None = None,
    seed: int = 0,
) -> CollectiveOutcome:
    """Bring each item to all 2^q elements of its subcube of the low q dimensions (collective).

    With exchanges of one step the program takes the optimal 2^q - 1 steps. On BSN(a,b) the shifts
    to the section of z and back are additional (docs/papers/gbsn, 4). The schedules ``sections``
    and ``unaligned`` of BSN(a,b) differ only in the direction of shifts on a tie.

    Parameters
    ----------
    machine : Machine
        Machine of 2^n processors; runs the steps, enforces the port model and counts.
    dimensions : int, optional
        q, from 1 to n, or to a lower limit if the schedule has fewer elements than processors.
        Default: all.
    algorithm : str or subclass of PassSchedule, optional
        Schedule of the exchanges, as in `ascend.run`.
    seed : int
        Seed of the labels: 62 random bits for every processor.

    Returns
    -------
    CollectiveOutcome
        Phases are the dimensions, each with the steps of all its exchanges. `correct` is True if
        each item has gathered the labels of exactly its subcube.

    Raises
    ------
    UsageError
        The number of processors is not a power of two, `dimensions` is out of range, or the network
        does not support the schedule.

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
    # A processor that acts for several nodes of a guest hands items on to itself without a step.
    least = min(1 << q, -(-machine.topology.hosts >> (schedule.dimensions - q)))
    return CollectiveOutcome(
        schedule.name, spent.steps, spent.messages, phases, Bound(least - 1, "ends"), correct
    )


def require_dimensions(
    topology: Topology, dimensions: int | None, elements: int | None = None
) -> int:
    """Return the requested number q of dimensions, by default all of the network or schedule.

    Raises
    ------
    UsageError
        The number of processors is not a power of two, or `dimensions` is out of range.
    """
    n = require_power_of_two(topology.guest or topology)
    n = n if elements is None else min(n, elements)
    q = n if dimensions is None else dimensions
    most = min(n, MOST_DIMENSIONS)
    if not min(n, 1) <= q <= most:
        raise UsageError(f"Items of {topology.name} circulate in 1..{most} dimensions, not in {q}.")
    return q


def trailing_zeros(i: int) -> int:
    """Return the position of the lowest one bit of i > 0."""
    return (i & -i).bit_length() - 1


def swap(seed: int, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
    """Exchange the two items of a pair, and add the labels of their new processors."""
    new_low, new_high = high.copy(), low.copy()
    new_low["visited"] += _labels(seed, i)
    new_high["visited"] += _labels(seed, i | (1 << j))
    return new_low, new_high


def _labels(seed: int, addresses: Ints) -> Ints:
    flat = addresses.ravel()
    return items(seed, flat, flat).reshape(addresses.shape)


def _complete(seed: int, q: int, index: Ints, state: Array) -> bool:
    """Return whether the items on this rank have visited their complete subcubes."""
    cubes, which = np.unique(index >> q, return_inverse=True)
    totals = [_labels(seed, np.arange(cube << q, (cube + 1) << q)).sum() for cube in cubes.tolist()]
    stayed = state["origin"] >> q == index >> q
    return bool((stayed & (state["visited"] == np.array(totals, np.int64)[which])).all())
