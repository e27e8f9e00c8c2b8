"""The machine's interface to checkpoints: boundaries, parts and the journal."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol


class Checkpointing(Protocol):
    """Interface of a run's checkpointer for loops: `mpinet.machine.checkpoint.Checkpointer`."""

    @property
    def journal(self) -> Path:
        """Folder of the journal in which each rank records finished work."""

    def enter(self, frame: Any) -> None:
        """Open a frame, and restore its saved state if any."""

    def leave(self, frame: Any) -> None:
        """Close the innermost frame."""

    def poll(self) -> None:
        """Write a checkpoint if one is due or requested (collective)."""

    def meet(self) -> None:
        """Let ranks meet after independent work (collective)."""

    def part(self, name: str, transport: Any) -> AbstractContextManager[None]:
        """Checkpoint the work of this context as a part with this name (collective)."""

    def drop(self, name: str) -> None:
        """Delete the saved state of a part."""
