"""Statements that the text leaves too vague to be tested."""

from __future__ import annotations

from mpinet.claims import unsettled

UNTESTED = (
    unsettled(
        "GBSN-T1-rows",
        place="Table I",
        statement="numbers of nodes and node degrees of various networks",
        reason="the table's body is missing in the text",
    ),
    unsettled(
        "GBSN-S3-operations",
        place="III.C",
        statement="the BSN's methods of communication and data movement apply to the GBSN with "
        "bounded slowdown",
        reason="the paper gives neither procedures nor counts",
    ),
    unsettled(
        "GBSN-S4-deadlock",
        place="IV",
        statement="virtual channels avoid deadlock",
        reason="the paper does not say which channels a message takes",
    ),
    unsettled(
        "GBSN-S4-three-steps",
        place="IV",
        statement="the GBSN routes in three of the time steps that the BSN needs",
        reason="the paper does not say what is counted, and against what",
    ),
)
