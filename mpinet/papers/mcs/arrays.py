"""The 2-dimensional array (section 10.7), and the array of two layers (problem 10.4)."""

from __future__ import annotations

from collections import Counter

from mpinet.claims import Corrected, Measured, claim, over, section
from mpinet.papers.mcs.congestion import congestion, problems, ways
from mpinet.papers.mcs.measured import (
    diameter,
    largest_switch,
    lengths_differ,
    network,
    sizes,
)

SMALL = over(N=[2, 4])
"""Sizes at which all problems are tried with all routings."""


claim_10_8_table = section(place="10.8, table", grid=sizes(32))

ROWS = (
    claim(
        "MCS-array-example", claimed=8, grid=over(N=[4]), measured=lambda N: diameter("array", N)
    ),
    claim(
        "MCS-array-diameter",
        claimed=lambda N: 2 * N,
        grid=sizes(32),
        measured=lambda N: diameter("array", N),
    ),
    claim(
        "MCS-array-worse-than-tree",
        relation=">",
        claimed=lambda N: diameter("tree", N).value,
        grid=sizes(32),
        measured=lambda N: diameter("array", N),
        fails_where=("N = 2", lambda N: N == 2),
        corrected=Corrected(
            "MCS-array-worse-than-tree-4", relation=">", grid=over(N=[4, 8, 16, 32])
        ),
    ),
    claim_10_8_table(
        "MCS-array-switches",
        claimed=lambda N: N**2,
        measured=lambda N: network("array", N).switches,
    ),
    claim_10_8_table(
        "MCS-array-switch-size",
        claimed=(2, 2),
        measured=lambda N: largest_switch("array", N),
        reading="The table gives the largest switch of each network.",
    ),
    claim(
        "MCS-array-congestion",
        claimed=2,
        grid=SMALL,
        measured=lambda N: congestion("array", N),
        note="All problems with all their routings; the two halves of the proof are rows of "
        "their own, for larger N.",
    ),
    claim(
        "MCS-array-latency",
        relation="all",
        grid=over(N=[2, 4, 8]).quick(lambda N: N <= 4),
        measured=lambda N: not lengths_differ("array", N),
    ),
)


@claim("MCS-array-rightward", relation="<=", claimed=2, grid=sizes(64))
def rightward(N: int) -> Measured:
    """Return the congestion of routing rightward first, over all problems or a sample."""
    worst = Measured(0)
    for problem in problems(N):
        passed: Counter[tuple[int, int]] = Counter()
        for row, column in enumerate(problem):
            passed.update((row, across) for across in range(column + 1))
            passed.update((down, column) for down in range(row + 1, N))
        most = max(passed.values())
        if most > worst.value:
            worst = Measured(most, {"problem": problem})
    return worst


@claim("MCS-array-lower-left", relation="all", grid=over(N=[2, 4, 8]).quick(lambda N: N <= 4))
def lower_left(N: int) -> Measured:
    """Return whether every path of both packets passes the switch in the lower left corner."""
    # The two packets of the proof pass this switch on every possible path.
    corner = N * (N - 1)
    found = ways("array", N)
    walks = (*found[0, 0], *found[N - 1, N - 1])
    return Measured(all(corner in walk for walk in walks), {"switch": corner})


LESS = claim(
    "MCS-array-less-than-tree",
    relation="<=",
    claimed=2,
    grid=over(N=[4, 8, 16, 32, 64]).quick(lambda N: N <= 16),
    measured=rightward.measurement,
    reading="The remaining congestion is 2 for every N, while the tree has N.",
)


LAYERS = (
    claim(
        "MCS-layers-congestion", claimed=1, grid=SMALL, measured=lambda N: congestion("layers", N)
    ),
    claim(
        "MCS-layers-short",
        relation=">",
        claimed=lambda N: congestion("layers", N).value,
        grid=SMALL,
        measured=lambda N: congestion("layers", N, short=True),
    ),
)
