"""The ledger's machinery: what a claim is, and how claims are judged by measurements.

The papers' claims lie in their rooms, ``papers/<paper>/``; a user's in a file of theirs.
"""

from mpinet.claims.cause import Cause
from mpinet.claims.grid import PointGrid, once, over, points
from mpinet.claims.paper import Paper, PaperTable
from mpinet.claims.statement import (
    BESIDE,
    BEYOND,
    Claim,
    Corrected,
    Measured,
    OutOfReach,
    claim,
    section,
    unsettled,
)

__all__ = [
    "BESIDE",
    "BEYOND",
    "Cause",
    "Claim",
    "Corrected",
    "Measured",
    "OutOfReach",
    "Paper",
    "PaperTable",
    "PointGrid",
    "claim",
    "once",
    "over",
    "points",
    "section",
    "unsettled",
]
