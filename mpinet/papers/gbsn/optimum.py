"""Comparison of the steps of broadcasts in BSN(a,b) (docs/papers/gbsn, 4) with the optimum."""

from __future__ import annotations

from mpinet.papers.beaten import beaten
from mpinet.papers.gbsn.collectives import stated_steps
from mpinet.papers.gbsn.grids import regular, words

BESIDE_OPTIMUM = tuple(
    beaten(
        f"GBSN-B-{ports}-port",
        beats="GBSN-X-collectives",
        steps=f"the specification's {formula} in BSN(a,b), p = ceil(n/b)",
        stated=lambda topology, ports=ports: stated_steps(topology)[f"broadcast, {ports}-port"],
        grid=regular("a | b <= n <= 5", 5).quick(lambda topology: words(topology).n <= 4),
        ports=ports,
        cost=lambda topology: 2.0 ** words(topology).n / 4,
    )
    for ports, formula in (("one", "n+p-1"), ("all", "ceil(n/a)+p-1"))
)
