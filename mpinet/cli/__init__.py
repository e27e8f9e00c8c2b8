"""The command line: ``mpinet COMMAND ..``, with one file per command.

A command's module is imported only when the command is typed, which keeps ``--help`` fast. Wrong
usage is reported before any MPI work starts, and only rank 0 prints.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mpinet.base.hashseed import settle
from mpinet.base.launched import is_launched
from mpinet.cli.signals import Signals, hold, release


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with the command's exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``mpinet``; default: the words that were typed.
    """
    if arguments is None:
        # Python may restart here with a fixed hash seed. Signals stay blocked until the new process
        # can record them.
        settle(sys.argv[1:], is_launched(), hold)
    signals = Signals()
    release()
    # These imports take seconds on a busy host. A signal that arrives in this time is already
    # recorded.
    from mpinet.base.roomy import roomy
    from mpinet.cli.commands import complete
    from mpinet.cli.session import CommandSession, leave

    complete()
    typed = list(sys.argv[1:] if arguments is None else arguments)
    leave(roomy(CommandSession(typed, signals).run)())
