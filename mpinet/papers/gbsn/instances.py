"""Introduction: popular networks are instances of the GBSN (section IV: of the BSN)."""

from __future__ import annotations

from mpinet.claims import Measured, claim, over
from mpinet.papers.gbsn.definition import POPULAR
from mpinet.papers.gbsn.grids import name
from mpinet.papers.gbsn.measured import compare, links


@claim(
    "GBSN-S1-gbsn-instances",
    relation="all",
    grid=over("n <= 8", n=range(1, 9), instance=tuple(POPULAR)),
)
def popular_instances(n: int, instance: str) -> Measured | bool:
    """Return whether the links are those of the textbook definition."""
    topology = {
        "hypercube": name(n, (2**n,), (1,)),
        "shuffle-exchange": name(1, (2,) * 2 ** (n - 1), (1,)),
        "complete": name(n, (2**n,), (n,)),
    }[instance]
    return compare(links(topology), POPULAR[instance](n))
