"""The ledger's machinery: the definition of claims, and their verification by measurements.

The papers' claims are in their own rooms, ``papers/<paper>/``; a user's claims are in a user's
file.
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
