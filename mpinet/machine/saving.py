"""The machine's side of checkpoints: who is asked at boundaries, and where a journal is."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol


class Checkpointing(Protocol):
    """Keeper of a run's state, as loops see it: `mpinet.machine.checkpoint.Checkpointer`."""

    @property
    def journal(self) -> Path:
        """Folder of the journal in which each rank records finished work."""

    def enter(self, frame: Any) -> None:
        """Open a frame, which takes up what is saved of it."""

    def leave(self, frame: Any) -> None:
        """Close the innermost frame."""

    def poll(self) -> None:
        """Write a checkpoint if one is due or wanted (collective)."""

    def meet(self) -> None:
        """Meet as ranks that have worked independently (collective)."""

    def part(self, name: str, transport: Any) -> AbstractContextManager[None]:
        """Keep the work done in this context as a part with this name (collective)."""

    def drop(self, name: str) -> None:
        """Delete what is saved of a part."""
