"""The command line: ``mpinet COMMAND ..``, a file per command.

A command's module is imported when the command is typed, so that ``--help`` answers at once; wrong
usage is found before any MPI work starts, and rank 0 alone prints.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mpinet.base.hashseed import settle
from mpinet.base.launched import is_launched
from mpinet.cli.signals import Signals, hold, release


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: what was typed.
    """
    if arguments is None:
        # Python may start anew here, for a known seed of hashes. Signals wait until the new process
        # can note them.
        settle(sys.argv[1:], is_launched(), hold)
    signals = Signals()
    release()
    # These imports take seconds on a busy host. A signal that comes meanwhile is noted already.
    from mpinet.base.roomy import roomy
    from mpinet.cli.commands import complete
    from mpinet.cli.session import CommandSession, leave

    complete()
    typed = list(sys.argv[1:] if arguments is None else arguments)
    leave(roomy(CommandSession(typed, signals).run)())
