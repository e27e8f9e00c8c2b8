"""The checkpoints of a session: who keeps them, and the signals that ask for one."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mpinet.machine.checkpoint import Keeper
    from mpinet.machine.transport import Local

SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
"""What asks a run with checkpoints to write one and to end: batch systems send one or the other."""


class Kept:
    """The checkpoints of a run, if it has any.

    Parameters
    ----------
    options : Namespace
        The command's.
    typed : sequence of str
        The command line.
    found : dict, optional
        The manifest that the run goes on from.
    """

    def __init__(
        self, options: argparse.Namespace, typed: Sequence[str], found: dict[str, Any] | None
    ):
        self._options, self._typed, self._found = options, typed, found
        self._keeper: Keeper | None = None
        self.last: Callable[[], dict[str, Any] | None] = lambda: None
        self._asked: Any = self  # until there are ranks
        self.wish = 0
        if getattr(options, "checkpoint", None) is not None:
            self._before = {number: signal.signal(number, self._ask) for number in SIGNALS}

    def _ask(self, number: int, frame: object) -> None:
        """Wish for a checkpoint and the end: the ranks agree on when."""
        from mpinet.machine.transport import STOP

        self._asked.wish = STOP

    @contextmanager
    def by(self, transport: Local) -> Iterator[None]:
        """Within it machines of these ranks are kept (collective)."""
        if getattr(self._options, "checkpoint", None) is None:
            yield
            return
        from mpinet.commands.checkpoints import keeper_of

        self._asked = transport  # first: a signal in between must not be forgotten
        transport.wish = max(transport.wish, self.wish)
        keeper = keeper_of(self._options, self._typed, transport, self._found)
        try:
            keeper.begin()
            self.last = lambda: keeper.last
            transport.keeper = keeper
            yield
            keeper.finish()
        except BaseException:
            keeper.release()
            raise
        finally:
            transport.keeper, transport.wish, self._asked = None, 0, self
            self._restore()
        self._keeper = keeper

    def _restore(self) -> None:
        """Hand the signals back, but for one that would kill a run whose result is being written.

        SIGUSR1 asks for a checkpoint, and nobody means it to end a run that has come to its end.
        """
        for number, handler in self._before.items():
            if number != signal.SIGUSR1 or handler != signal.SIG_DFL:
                signal.signal(number, handler)

    def forget(self) -> None:
        """Delete the checkpoint of a run that has come to its end."""
        if self._keeper is not None:
            self._keeper.forget()
