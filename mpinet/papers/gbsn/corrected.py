"""Statements of the paper as they hold, each measured where the refuted one was."""

from __future__ import annotations

from mpinet.claims import claim
from mpinet.papers.gbsn import degree
from mpinet.papers.gbsn.grids import SHIFTED
from mpinet.papers.gbsn.measured import most, shift_links

PLACE = "as it holds"

CORRECTED = (
    claim(
        "GBSN-C-two-shift-links",
        place=PLACE,
        corrects="GBSN-S2-two-shift-links",
        statement="each node of BSN(a,b), b < n, has two shift links at most",
        relation="<=",
        claimed=2,
        grid=SHIFTED,
        measured=lambda topology: most(shift_links(topology)),
    ),
    claim(
        "GBSN-C-degree-bsn",
        place=PLACE,
        corrects="GBSN-S3-degree-bsn",
        statement="the largest degree of BSN(a,b), b < n, is (2^a - 1) b/a + 2 at most",
        relation="<=",
        claimed=degree.stated_degree,
        grid=SHIFTED,
        measured=degree.largest_degree,
    ),
)
