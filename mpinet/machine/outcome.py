"""Result of a program that runs on every processor (`Machine.run`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mpinet.base.fielddocs import described


@described
@dataclass(frozen=True)
class Outcome:
    """Result of a run in which every processor's program ended."""

    processors: int
    """Number of processors that ran the program."""
    steps: int
    """Steps of the machine."""
    messages: int
    """Transmissions on the machine; sends on several ports of one bus are one transmission."""
    unreceived: int
    """Messages that arrived at a processor and were never received."""
    unreceived_at: list[tuple[int, int]]
    """Lowest processors with unreceived messages, and the number of these messages."""
    values: list[Any]
    """Return values of the processors' programs, by processor; empty on ranks other than 0."""
    digest: str
    """SHA-256 of all results, the same for any number of ranks and any mapping."""
