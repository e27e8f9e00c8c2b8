"""The costs of a timed machine's parts: processors per message and byte, links by class."""

from __future__ import annotations

from dataclasses import dataclass

from mpinet.errors import UsageError

MOST_COST = 1 << 40
"""Largest parameter: units of time, and bytes of the largest eager message."""


@dataclass(frozen=True)
class Costs:
    """Parameters of processors and links, in units of time.

    Raises
    ------
    UsageError
        One of them is out of range.
    """

    overhead: int = 0
    """CPU time of a message."""
    overhead_byte: int = 0
    """CPU time of each byte of a message but the first."""
    gap: int = 0
    """NIC time of a message."""
    gap_byte: int = 0
    """NIC time of each byte of a message but the first."""
    eager: int | None = None
    """Bytes of the largest message whose sender does not wait for its receiver; None: all."""
    latencies: tuple[int, ...] = (1,)
    """Latency of a link, by class; the last one serves all further classes."""
    byte_times: tuple[int, ...] = (0,)
    """Time per byte of a link, by class; the last one serves all further classes."""
    flat: int = 0
    """Latency between any two processors, where there is no network."""
    mode: str = "cut"
    """Way in which messages cross several links: ``"cut"``, ``"store"`` or ``"ideal"``."""
    half_duplex: bool = False
    """True if the two directions of a link share it."""

    def __post_init__(self) -> None:
        named = {
            "overhead": (self.overhead, 0),
            "overhead-byte": (self.overhead_byte, 0),
            "gap": (self.gap, 0),
            "gap-byte": (self.gap_byte, 0),
            "eager": (1 if self.eager is None else self.eager, 0),
            "flat": (self.flat, 0),
        }
        named |= {
            f"The latency of class {i}": (latency, 1) for i, latency in enumerate(self.latencies)
        }
        named |= {
            f"The time per byte of class {i}": (time, 0) for i, time in enumerate(self.byte_times)
        }
        for name, (value, least) in named.items():
            if not least <= value <= MOST_COST:
                raise UsageError(f"{name} is {least}..2^40 units, not {value}.")
        if not self.latencies or not self.byte_times:
            raise UsageError("Links have a latency and a time per byte, of one class at least.")

    def window(self, flat: bool, answers: bool) -> int:
        """Return the least time in which what happens at one place reaches another.

        Parameters
        ----------
        flat : bool
            Whether there is no network.
        answers : bool
            Whether any sender waits for its receiver.

        Raises
        ------
        UsageError
            It is 0.
        """
        if not flat:
            return min(self.latencies)
        least = self.flat if answers else self.flat + self.overhead
        if least == 0:
            what = "a latency" if answers else "a latency or an overhead"
            raise UsageError(f"--flat 0: {what} of 1 or more has to part two processors.")
        return least
