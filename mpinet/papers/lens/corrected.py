"""Statements of the report as they hold, each measured where the refuted one was."""

from __future__ import annotations

from mpinet.claims import claim
from mpinet.papers.grids import of, pairs_of
from mpinet.papers.lens import background, circle, conclusions, multistage, routing
from mpinet.papers.lens.background import OURS
from mpinet.papers.lens.measured import distances_a
from mpinet.papers.lens.pairs import largest

PLACE = "as it holds"

CORRECTED = (
    claim(
        "LENS-C-star-outermost-bus",
        place=PLACE,
        corrects="LENS-S2-star-outermost-bus",
        statement="the star's outermost busses are used with probability (p-1)(2N-p)/N^2, about "
        "2(p-1)/N",
        tolerance=1e-12,
        claimed=of(lambda p, n: (p - 1) * (2 * p**n - p) / p ** (2 * n)),
        grid=background.outermost_bus.grid,
        note=OURS,
        measured=background.outermost_bus.measurement,
    ),
    claim(
        "LENS-C-diameter-A",
        place=PLACE,
        corrects="LENS-S4-diameter-2n",
        statement="the largest distance by pattern A of processors that it joins is 2n-2, p>=3",
        claimed=of(lambda p, q, n: 2 * n - 2),
        grid=routing.diameter_a.grid,
        cost=pairs_of,
        measured=lambda topology: largest(topology, distances_a(topology)),
    ),
    claim(
        "LENS-C-box-lines",
        place=PLACE,
        corrects="LENS-S7-box-lines",
        statement="in the lens an exchange group has p-1 lines one way and q-1 the other (outer "
        "rows left out)",
        claimed=of(lambda p, q, n: [sorted((p - 1, q - 1))]),
        grid=multistage.BOX_LINE_COUNTS.grid,
        measured=multistage.BOX_LINE_COUNTS.measurement,
    ),
    claim(
        "LENS-C-worst-case-A",
        place=PLACE,
        corrects="LENS-S5-worst-case-A",
        statement="the largest distance by pattern A is floor(3n/2) if p>=3, floor(n/2) if p=2",
        claimed=of(lambda p, n: 3 * n // 2 if p >= 3 else n // 2),
        grid=circle.DIAMETER_A.grid,
        cost=pairs_of,
        measured=circle.DIAMETER_A.measurement,
    ),
    claim(
        "LENS-C-fixed-neighbours",
        place=PLACE,
        corrects="LENS-S8-fixed-neighbours",
        statement="in the completed lens the number of neighbours does not depend on n, n>=3",
        claimed=1,
        grid=conclusions.neighbour_numbers.grid,
        measured=lambda p: conclusions.neighbour_numbers.measurement(p, first=3),
    ),
)
