"""Energy of traffic: the energy spent by flits in routers and on links, from the user's numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Energy:
    """Energy per bit, in any unit."""

    link: float = 0.0
    """Energy per bit over a link or a bus."""
    router: float = 0.0
    """Energy per bit through a router."""
    bits: int = 1
    """Number of bits per flit."""

    def of(self, point: dict[str, Any]) -> dict[str, float | None]:
        """Return the energy spent in the window, and the energy per accepted bit.

        A flit that crosses a channel has left one router and crossed one link. A flit accepted by a
        processor has also passed the last router.

        Parameters
        ----------
        point : dict
            Results of a run.
        """
        crossed, accepted = point["loads_sum"], point["accepted_flits"]
        energy = self.bits * (self.link * crossed + self.router * (crossed + accepted))
        return {
            "energy": energy,
            "energy_per_bit": energy / (self.bits * accepted) if accepted else None,
        }
