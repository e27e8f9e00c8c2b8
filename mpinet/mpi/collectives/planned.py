"""What collectives of buffers rest on, whichever way they are done."""

from __future__ import annotations

from typing import Any

from mpinet.mpi.collectives import plans
from mpinet.mpi.collectives.collective import Collective, Terms
from mpinet.mpi.world.endpoint import Endpoint


class PlannedCollectives(Endpoint):
    """A communicator whose collectives are plans that are done.

    Attributes
    ----------
    _plans : module
        Has the plans: those within a group, or those between two.
    """

    __slots__ = ()

    _plans: Any = plans

    def _collective(self, kind: str, terms: Terms) -> Any:
        """The running processor's next collective, for a plan."""
        return Collective.of(self, kind, terms)
