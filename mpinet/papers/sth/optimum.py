"""Comparison of broadcast steps in LST, cubes and STH (docs/papers/sth, 6) with the optimum."""

from __future__ import annotations

from mpinet.papers.beaten import beaten
from mpinet.papers.grids import networks, of
from mpinet.papers.measured import size_of
from mpinet.papers.sth.grids import CUBES, VALID, family, sth

BESIDE_OPTIMUM = (
    beaten(
        "STH-B-lst",
        beats="STH-X-lst-broadcast",
        steps="the one along the chords of LST(m), m+2",
        stated=of(lambda m: m + 2),
        grid=family("lst", range(2, 17)),
    ),
    beaten(
        "STH-B-cube",
        beats="STH-X-cube-broadcast",
        steps="the one over the dimensions of a cube (every kind), n",
        stated=of(lambda n: n),
        grid=CUBES,
    ),
    beaten(
        "STH-B-sth",
        beats="STH-X-sth-broadcast",
        steps="the one in two phases in STH(m,n), m+n+2",
        stated=of(lambda m, n: m + n + 2),
        grid=networks(
            "(2,2), (3,2), (2,3), every kind",
            [
                sth(m, n, kind)
                for m, n in ((2, 2), (3, 2), (2, 3))
                for kind in VALID
                if n in VALID[kind]
            ],
        ),
        cost=size_of,
    ),
)
