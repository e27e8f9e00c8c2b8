"""The costs of a timed machine's parts: processors per message and byte, links by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from mpinet.base.choices import Rendezvous
from mpinet.errors import UsageError

MOST_COST = 1 << 40
"""Largest parameter: ticks of time, and bytes of the largest eager message."""


@dataclass(frozen=True)
class Costs:
    """Parameters of processors and links, in ticks of time.

    Raises
    ------
    UsageError
        A parameter is out of range.
    """

    overhead: int = 0
    """CPU time of a message."""
    overhead_byte: int = 0
    """CPU time of each byte of a message except the first."""
    gap: int = 0
    """NIC time of a message."""
    gap_byte: int = 0
    """NIC time of each byte of a message except the first."""
    eager: int | None = None
    """Bytes of the largest eager message, whose sender does not wait for its receiver; None: no
    limit.
    """
    latencies: tuple[int, ...] = (1,)
    """Latency of a link, by class; the last number is for all further classes."""
    byte_times: tuple[int, ...] = (0,)
    """Time per byte of a link, by class; the last number is for all further classes."""
    flat: int = 0
    """Latency between any two processors, if there is no network."""
    mode: str = "cut"
    """Switching of messages over several links: ``"cut"``, ``"store"`` or ``"ideal"``."""
    half_duplex: bool = False
    """True if the two directions of a link share its bandwidth."""
    ticks: int = 1
    """Ticks per unit of time."""
    rendezvous: Rendezvous = "round-trip"
    """When a send by rendezvous is done: after the way back of an answer, or (``"loggopsim"``) at
    the match.
    """

    @classmethod
    def exact(
        cls,
        *,
        latencies: Sequence[Fraction],
        byte_times: Sequence[Fraction],
        eager: int | None = None,
        mode: str = "cut",
        half_duplex: bool = False,
        rendezvous: Rendezvous = "round-trip",
        **times: Fraction,
    ) -> Costs:
        """Return costs given in units of time, in the longest tick that divides all of them.

        Examples
        --------
        >>> costs = Costs.exact(latencies=[Fraction(5, 2)], byte_times=[Fraction(1, 300)])
        >>> costs.latencies, costs.byte_times, costs.ticks
        ((750,), (1,), 300)
        """
        given = [*times.values(), *latencies, *byte_times]
        # Integer ticks instead of floating point: sums are associative, so results do not depend on
        # the order of ranks.
        ticks = lcm(*(time.denominator for time in given))
        return cls(
            **{name: int(time * ticks) for name, time in times.items()},
            eager=eager,
            latencies=tuple(int(time * ticks) for time in latencies),
            byte_times=tuple(int(time * ticks) for time in byte_times),
            mode=mode,
            half_duplex=half_duplex,
            ticks=ticks,
            rendezvous=rendezvous,
        )

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
            if value > MOST_COST and self.ticks > 1 and name != "eager":
                raise UsageError(
                    f"{name} ({value / self.ticks:.6g}) is more than 2^40 ticks of "
                    f"{1 / self.ticks:.6g} unit. A tick divides all costs: round the costs."
                )
            if not least <= value <= MOST_COST:
                above = "more than 0" if least else "0 or more"
                raise UsageError(f"{name} is {above}, and at most 2^40 units, not {value}.")
        if not self.latencies or not self.byte_times:
            raise UsageError("Links have a latency and a time per byte, of one class at least.")

    def too_long(self, what: str) -> str:
        """Return the error message for an action `what` that exceeds the largest time of a run."""
        if self.ticks == 1:
            return f"{what} takes longer than 2^60 units of time: take a larger unit."
        return (
            f"{what} takes longer than 2^60 ticks of 1/{self.ticks} unit. A tick divides all "
            "costs: round the costs, or take a larger unit."
        )

    def lookahead(self, flat: bool, answers: bool) -> int:
        """Return the lookahead: the least time until an event at one place affects another place.

        Parameters
        ----------
        flat : bool
            True if there is no network.
        answers : bool
            True if any sender waits for its receiver.

        Raises
        ------
        UsageError
            The lookahead is 0.
        """
        if answers and self.rendezvous == "loggopsim":
            return 1
        if not flat:
            return min(self.latencies)
        # An answer of a rendezvous takes the latency alone: the overhead must not widen the window
        # then.
        least = self.flat if answers else self.flat + self.overhead
        if least == 0:
            what = "a latency" if answers else "a latency or an overhead"
            raise UsageError(f"--flat 0: there must be {what} of 1 or more between two processors.")
        return least
