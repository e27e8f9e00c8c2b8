"""ASCEND and DESCEND on G(m,N), N = 2^q (section 6), run on the machine."""

from __future__ import annotations

from collections.abc import Callable
from math import log2
from typing import Any

import numpy as np

from mpinet.base.arrays import Array, Ints
from mpinet.claims import Claim, Measured, over, section
from mpinet.claims.remembered import remembered
from mpinet.machine.machine import Machine
from mpinet.networks import open as open_topology
from mpinet.papers.gmn import cycles
from mpinet.papers.gmn.grids import parameters, size_of
from mpinet.programs import ascend
from mpinet.programs.operators import Operator, open_operator
from mpinet.programs.operators.operator import ASCEND, KINDS
from mpinet.programs.schedules.gmn import Loops
from mpinet.programs.schedules.pipeline import HELD

MODULUS = 65537
"""Modulus of the test operator's arithmetic."""


class Tangle(Operator):
    """Operator whose result changes if any pair, dimension or order of elements is wrong."""

    name = "tangle"

    def __init__(self, kind: str = ASCEND):
        self.kind = kind

    def oper(self, j: int, i: Ints, low: Array, high: Array) -> tuple[Array, Array]:
        """Return two linear forms modulo 65537 that depend on the pair and the dimension."""
        # The forms depend on the pair and the dimension, so an element that meets a wrong partner
        # changes the result.
        return (3 * low + 5 * high + i * j) % MODULUS, (7 * low - high * i + j + 1) % MODULUS

    def expected(self, values: Array) -> Array:
        """Return the serial result, dimension by dimension, by ASCEND's or DESCEND's definition."""
        state = np.array(values, np.int64)
        dimensions = range(len(state).bit_length() - 1)
        for j in dimensions if self.kind == ASCEND else reversed(dimensions):
            pairs = state.reshape(-1, 2, 1 << j)
            i = np.arange(len(state)).reshape(-1, 2, 1 << j)[:, 0]
            low, high = pairs[:, 0].copy(), pairs[:, 1].copy()
            pairs[:, 0] = (3 * low + 5 * high + i * j) % MODULUS
            pairs[:, 1] = (7 * low - high * i + j + 1) % MODULUS
        return state


@remembered(most=16)
def run(topology: str, kind: str) -> tuple[bool, dict[str, int], int]:
    """Run a pass over all dimensions; return correctness, steps by phase, iterations."""
    turns = []

    class CountedSchedule(Loops):
        """The emulator's schedule with a count of the iterations of step 2."""

        def circulate(self, turn: int, kind: str, registers: Array) -> None:
            """Count the iteration and execute it."""
            turns.append(turn)
            super().circulate(turn, kind, registers)

    result = ascend.run(Machine(topology), Tangle(kind), kind, algorithm=CountedSchedule)
    return result.correct, dict(result.phases), len(turns)


def both_kinds(topology: str, read: Callable[[Any], int]) -> Measured | int:
    """Return the value that `read` takes from the ASCEND pass; both values if DESCEND differs."""
    # The paper states one number for both kinds, so a difference between the two kinds is already a
    # witness.
    up, down = (read(run(topology, kind)) for kind in KINDS)
    return up if up == down else Measured(down, {"ascend": up, "descend": down})


def all_units(found: tuple[bool, dict[str, int], int]) -> int:
    """Return the steps of a pass."""
    return sum(found[1].values())


claim_6 = section(place="6")

correct = claim_6(
    "GMN-A-correct",
    corrects="GMN-A-print-bit",
    claimed={"ascend": True, "descend": True},
    grid=cycles.HOSTS,
    cost=size_of,
    measured=lambda topology: {kind: run(topology, kind)[0] for kind in KINDS},
)


@claim_6(
    "GMN-A-iter",
    claimed=lambda topology: {"iterations": 2 * (parameters(topology)[0] + 1), "at home": True},
    grid=cycles.HOSTS,
    cost=size_of,
)
def iterations(topology: str) -> dict[str, Any]:
    """Return the iterations of a pass, and whether as many shifts return all elements home."""
    count = both_kinds(topology, lambda found: found[2])
    if isinstance(count, Measured):
        return {"iterations": count.value, "at home": False}
    seen = cycles.shifted(topology, count)
    return {"iterations": count, "at home": bool(np.array_equal(seen[0][HELD], seen[-1][HELD]))}


units = section(place="6", grid=cycles.HOSTS, cost=size_of)
"""Function that makes a row on the units of a pass."""

UNITS = (
    units(
        "GMN-A-step2",
        statement="step 2 takes 4m + 2 units, all ports in use",
        claimed=lambda topology: 4 * parameters(topology)[0] + 2,
        measured=lambda topology: both_kinds(topology, lambda found: found[1]["step 2"]),
    ),
    units(
        "GMN-A-step1",
        statement="step 1 takes a time linear in m: m - 1 units",
        claimed=lambda topology: parameters(topology)[0] - 1,
        measured=lambda topology: both_kinds(topology, lambda found: found[1]["step 1"]),
    ),
    units(
        "GMN-A-total",
        statement="a pass takes 5m + 1 units",
        claimed=lambda topology: 5 * parameters(topology)[0] + 1,
        measured=lambda topology: both_kinds(topology, all_units),
    ),
    units(
        "GMN-A-olog",
        statement="a pass takes O(log N) units: at most 10 log2 N, as 2m < 4 log2 N",
        relation="<=",
        claimed=lambda topology: 10 * log2(size_of(topology)),
        measured=lambda topology: max(all_units(run(topology, kind)) for kind in KINDS),
    ),
)

MACHINES = (
    *(f"hypercube:{q}" for q in range(2, 9)),
    *(f"rcirculant:{2**q},2" for q in range(2, 9)),
    *(f"ring:{2**q}" for q in range(2, 9)),
    *(f"shuffleexchange:{q}" for q in range(2, 9)),
    *(f"debruijn:{q}" for q in range(2, 9)),
    "ccc:4",
    *(point["topology"] for point in cycles.POWERS if size_of(**point) <= 256),
)
"""Machines of up to 256 processors with their own ASCEND."""


def algorithm_claim(operator: str) -> Claim:
    """Return the claim that an algorithm runs as ASCEND or DESCEND."""
    chosen = "shift:5" if operator == "shift" else operator
    kinds = open_operator(operator).kinds
    return claim_6(
        f"GMN-A-alg-{operator}",
        statement=f"{operator} runs as ASCEND or DESCEND and gives the serial result on the "
        "hypercube, the recursive circulant, the ring, the shuffle-exchange, the de Bruijn graph, "
        "the CCC and G(m,N)",
        claimed=dict.fromkeys(kinds, True),
        grid=over("q <= 8", topology=MACHINES).quick(
            lambda topology: open_topology(topology).size in (32, 64, 256)
        ),
        measured=lambda topology: {
            kind: ascend.run(Machine(topology), chosen, kind, seed=1).correct for kind in kinds
        },
    )


OPERATORS = "shift bitonic-merge odd-even-merge fft shuffle transpose bitonic-sort"

ALGORITHMS = [algorithm_claim(operator) for operator in OPERATORS.split()]
