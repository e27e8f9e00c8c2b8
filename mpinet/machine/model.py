"""The port model: limits of a processor, a link and a bus in one step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mpinet.base.fielddocs import described
from mpinet.errors import UsageError


@described
@dataclass(frozen=True)
class PortModel:
    """Limits of one step."""

    send: int | None = None
    """Largest number of transmissions of a processor in a step; None = one per port."""
    receive: int | None = None
    """Largest number of messages accepted by a processor in a step; None = one per port."""
    half_duplex: bool = False
    """True if a link carries one message in a step, instead of one in each direction."""

    @classmethod
    def named(cls, ports: str | PortModel) -> PortModel:
        """Return the model called ``"one"`` (one-port) or ``"all"`` (all-port), or `ports`."""
        if isinstance(ports, PortModel):
            return ports
        if ports not in ("one", "all"):
            raise UsageError(f"There is no port model {ports!r}: give 'one' or 'all'.")
        limit = 1 if ports == "one" else None
        return cls(send=limit, receive=limit)

    @property
    def name(self) -> str:
        """Name of the model: ``"one"``, ``"all"``, or its limits in words."""
        if self.send == self.receive and self.send in (1, None):
            return "one" if self.send == 1 else "all"
        return f"send {self.send or 'all'}, receive {self.receive or 'all'}"

    def as_json(self) -> dict[str, Any]:
        """Return the model as in results: its ports and its duplex mode."""
        duplex = "half" if self.half_duplex else "full"
        return {"ports": self.name, "duplex": duplex}
