"""Comparison of the steps of the lenses' sweeps (docs/papers/lens, 7) with the optimum."""

from __future__ import annotations

from mpinet.papers.beaten import beaten
from mpinet.papers.grids import numbers, of
from mpinet.papers.lens.collectives import lens_rows, lens_sweep_steps, sweep_steps
from mpinet.papers.lens.grids import circles, lenses
from mpinet.papers.measured import size_of

BESIDE_OPTIMUM = (
    beaten(
        "LENS-B-completed",
        beats="LENS-X-broadcast-completed",
        steps="the completed lens's sweep, floor(3n/2), or ceil(n/2) if p=2",
        stated=of(lambda p, n: sweep_steps(p, n)[0]),
        grid=circles(
            "completed lenses, p 2..6, N<=64",
            [*((2, n) for n in range(2, 9)), (3, 2), (3, 3), (3, 4), (4, 2), (5, 2), (6, 2)],
        ),
        cost=lambda topology: 100 * size_of(topology),
        fails_where=("p = 3 and n = 4", of(lambda p, n: (p, n) == (3, 4))),
    ),
    beaten(
        "LENS-B-lens",
        beats="LENS-X-broadcast-lens",
        steps="the uncompleted lens's sweep may take from its slowest row",
        stated=lambda topology: lens_sweep_steps(topology, numbers(topology)[2])["steps"],
        grid=lenses(
            "eleven lenses",
            sorted({numbers(str(point["topology"])) for point in lens_rows()}),
        ),
        ports="all",
        cost=lambda topology: 100 * size_of(topology),
        fails_where=("n > 1", of(lambda p, q, n: n > 1)),
    ),
)
