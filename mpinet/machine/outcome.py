"""Result of a program that runs on every processor (`Machine.run`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mpinet.base.fielddocs import described


@described
@dataclass(frozen=True)
class Outcome:
    """Result of a run that every processor ended."""

    processors: int
    """Number of processors that ran the program."""
    steps: int
    """Steps of the machine."""
    messages: int
    """Transmissions on the machine (on several ports of one bus: one)."""
    unreceived: int
    """Messages that came to a processor and were never received."""
    unreceived_at: list[tuple[int, int]]
    """The lowest processors with such messages, and how many."""
    values: list[Any]
    """Return values of the processors' programs, by processor; empty on ranks other than 0."""
    digest: str
    """sha256 over all of this, the same for any number of ranks and any mapping."""
