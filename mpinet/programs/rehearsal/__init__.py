"""Rehearsals: what one rank of many would need and send, found out on one process.

A rank's own part is played on a `Dry` transport. What would come from other ranks is known where
the rules tell it (ASCEND, broadcast) and modelled where they do not (routing, flooding): a
`Rehearsal` says which of its numbers rest on that.
"""

from mpinet.programs.rehearsal.ascend import rehearse_ascend
from mpinet.programs.rehearsal.broadcast import rehearse_broadcast
from mpinet.programs.rehearsal.flood import rehearse_flood
from mpinet.programs.rehearsal.rehearsal import Cluster, Rehearsal
from mpinet.programs.rehearsal.route import rehearse_route

__all__ = [
    "Cluster",
    "Rehearsal",
    "rehearse_ascend",
    "rehearse_broadcast",
    "rehearse_flood",
    "rehearse_route",
]
