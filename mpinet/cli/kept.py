"""Checkpoints of a session: keeper and signals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import TIMEOUT_MAX, Timer
from typing import TYPE_CHECKING, Any

from mpinet.base.deadline import deadline
from mpinet.cli.signals import Signals
from mpinet.commands.optionrecords import CommandLine

if TYPE_CHECKING:
    from mpinet.machine.checkpoint import Checkpointer
    from mpinet.machine.transport import Local


class SavedRun:
    """The checkpoints of a run; without ``--checkpoint`` the object does nothing.

    Parameters
    ----------
    line : CommandLine
        Folder of the checkpoints, and the time between two checkpoints.
    options : mapping
        Options of the command, by name.
    typed : sequence of str
        The command line.
    found : dict or None
        Manifest of the checkpoint to resume from.
    signals : Signals or None
        Received requests for a checkpoint and the end of the run; None without checkpoints.
    """

    def __init__(
        self,
        line: CommandLine,
        options: Mapping[str, Any],
        typed: Sequence[str],
        found: dict[str, Any] | None,
        signals: Signals | None,
    ):
        self._line, self._options, self._typed, self._found = line, options, typed, found
        self._signals = signals
        self._keeper: Checkpointer | None = None
        self.last: Callable[[], dict[str, Any] | None] = lambda: None

    @contextmanager
    def by(self, transport: Local) -> Iterator[None]:
        """Keep checkpoints of the machines of these ranks within the block (collective)."""
        folder = self._line.checkpoint
        if folder is None:
            yield
            return
        from mpinet.jobs.checkpoints import keeper_of
        from mpinet.machine.transport import STOP

        def ask() -> None:  # the ranks agree on the step
            transport.wish = STOP

        # A signal that arrived before the ranks had met is answered at once.
        assert self._signals is not None
        self._signals.tell(ask)
        # One clock decides: rank 0 requests the end, and all ranks stop at the same boundary.
        timer = Timer(min(deadline().left, TIMEOUT_MAX), ask)
        timer.daemon = True
        if transport.rank == 0 and self._line.time_limit is not None:
            timer.start()
        every = self._line.every
        keeper = keeper_of(folder, every, self._options, self._typed, transport, self._found)
        try:
            keeper.begin()
            self.last = lambda: keeper.last
            transport.keeper = keeper
            yield
            keeper.finish()
        # An interrupt also ends a run, and must release the folder for the resumed run.
        except BaseException:
            keeper.release()
            raise
        finally:
            timer.cancel()
            self._signals.end()
            transport.keeper, transport.wish = None, 0
        self._keeper = keeper

    def forget(self) -> None:
        """Delete the checkpoint of a finished run."""
        if self._keeper is not None:
            self._keeper.forget()
