"""A guardian for ranks that nobody watches: one of every host's ranks starts it."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import Any

from .processes import Process, ancestors, processes, rank_of

PLACE_VARIABLES = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")
"""Variables by which launchers tell a process its rank on its host."""

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__main__.py")


def watch_ranks(limit: float) -> Any:
    """Start a guardian of this host's ranks, which this process is one of, if none has yet.

    Parameters
    ----------
    limit : float
        Seconds after which a stopped one ends the job.

    Returns
    -------
    object
        To be kept as long as the process lives.
    """
    import subprocess

    daemon = daemon_of(os.getpid(), processes())
    claim = claimed(daemon)
    if claim is None:
        return None
    with claim:
        watching = subprocess.Popen(
            # Without the site's packages it starts in some 20 ms, whatever is installed.
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
    """Return the process that has started this host's ranks: the nearest parent that is none."""
    return next(above for above in ancestors(number, table) if rank_of(above) is None)


def is_watched(number: int, by: int) -> bool:
    """Return whether process `number` descends from process `by`, or is it."""
    table = processes()
    return by in table and by in (number, *ancestors(number, table))


def claimed(daemon: int) -> Any:
    """Claim the watch over this daemon's ranks; None if another rank of the host has it.

    It is a name that one process at a time can have, and that is free again when it ends.
    """
    import socket

    if sys.platform != "linux":
        first = any(os.environ.get(name) == "0" for name in PLACE_VARIABLES)
        return nullcontext() if first else None
    # An abstract socket leaves no file behind; numbers of processes are unique in a namespace.
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0mpinet-guardian-{os.readlink('/proc/self/ns/pid')}-{daemon}")
    except OSError:
        claim.close()
        return None
    return claim
