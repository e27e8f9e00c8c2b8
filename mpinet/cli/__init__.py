"""The command line: ``mpinet COMMAND ..``, a file per command.

A command's module is imported when the command is typed, so that ``--help`` answers at once; wrong
usage is found before any MPI work starts, and rank 0 alone prints.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from mpinet.cli.session import Session, leave
from mpinet.errors import Unread


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit status.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: what was typed.
    """
    typed = list(sys.argv[1:] if arguments is None else arguments)
    leave(_status_of(Session(typed)))


def _status_of(session: Session) -> int:
    """Run a command; its exit status, also where nobody reads to the end what it prints."""
    try:
        status = session.run()
        sys.stdout.flush()
    except BrokenPipeError:
        status = Unread.status
    if status == Unread.status:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status
