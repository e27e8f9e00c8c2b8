"""Energy of traffic: what flits spend in routers and on links, by the user's numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Energy:
    """Energies of a bit, in any unit."""

    link: float = 0.0
    """Energy of a bit over a link or a bus."""
    router: float = 0.0
    """Energy of a bit through a router."""
    bits: int = 1
    """Bits of a flit."""

    def of(self, point: dict[str, Any]) -> dict[str, float | None]:
        """Return the energy spent in the window, and that for each bit that was accepted.

        A flit over a channel has left a router and crossed a link; a flit that a processor accepts
        has gone through one router more.

        Parameters
        ----------
        point : dict
            A run's results.
        """
        crossed, accepted = point["loads_sum"], point["accepted_flits"]
        energy = self.bits * (self.link * crossed + self.router * (crossed + accepted))
        return {
            "energy": energy,
            "energy_per_bit": energy / (self.bits * accepted) if accepted else None,
        }
