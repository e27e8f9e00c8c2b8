"""A guardian for unwatched ranks: on every host, one of the ranks starts the guardian."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import Any

from .processes import Process, ancestors, processes, rank_of

PLACE_VARIABLES = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
"""Environment variables with the rank of a process on its host, set by launchers."""

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")


def watch_ranks(limit: float) -> Any:
    """Start a guardian for the ranks of this host, unless another rank has already started it.

    Parameters
    ----------
    limit : float
        Time in seconds after which a stopped process ends the job.

    Returns
    -------
    object
        Handle that this process must keep until it ends.
    """
    import subprocess

    daemon = daemon_of(os.getpid(), processes())
    claim = claimed(daemon)
    if claim is None:
        return None
    with claim:
        watching = subprocess.Popen(
            # Without site packages the guardian starts in about 20 ms.
            [sys.executable, "-I", "-S", PROGRAM, f"{limit:g}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=[claim.fileno()] if hasattr(claim, "fileno") else [],
        )
    assert watching.stdin is not None
    watching.stdin.write(f"below {daemon}\n".encode())
    watching.stdin.flush()
    return watching


def daemon_of(number: int, table: dict[int, Process]) -> int:
    """Return the process that started this host's ranks: the nearest ancestor outside the ranks."""
    return next(above for above in ancestors(number, table) if rank_of(above) is None)


def is_watched(number: int, by: int) -> bool:
    """Return whether process `number` equals process `by` or descends from it."""
    table = processes()
    return by in table and by in (number, *ancestors(number, table))


def claimed(daemon: int) -> Any:
    """Claim the watch over this daemon's ranks; return None if another rank of the host has it.

    The claim is a name with at most one owner. It becomes free at the end of its process.
    """
    import socket

    if sys.platform != "linux":
        first = any(os.environ.get(name) == "0" for name in PLACE_VARIABLES)
        return nullcontext() if first else None
    # An abstract socket leaves no file behind; process numbers are unique in a namespace.
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0mpinet-guardian-{os.readlink('/proc/self/ns/pid')}-{daemon}")
    except OSError:
        claim.close()
        return None
    return claim
