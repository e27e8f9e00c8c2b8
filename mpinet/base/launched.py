"""This process's rank and the number of ranks from the launcher's variables, before MPI starts."""

import os
import re
import sys
from typing import Any

from mpinet.base.guardian.processes import RANK_VARIABLES
from mpinet.base.guardian.ranks import is_watched, watch_ranks
from mpinet.base.numerals import seconds
from mpinet.errors import UsageError

SIZE_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS")
HERE_VARIABLES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS")


def launched_ranks() -> int:
    """Return the number of ranks that the launcher has started (1 without a launcher)."""
    return _first_number(SIZE_VARIABLES, 1)


def launched_rank() -> int:
    """Return this process's rank from the launcher's variables (0 without a launcher)."""
    return _first_number(RANK_VARIABLES, 0)


def notice(text: str) -> None:
    """Print a line about the job on standard error, on rank 0 only."""
    if launched_rank() == 0:
        print(f"mpinet: {text}", file=sys.stderr, flush=True)


def launched_here() -> int:
    """Return the number of ranks on this host, from the launcher's variables (1 if none is set)."""
    return max(1, _first_number(HERE_VARIABLES, _tasks_here()))


def batch_run() -> int:
    """Return the number of restarts of this job by the batch system (0 without a batch system)."""
    return _first_number(("SLURM_RESTART_COUNT",), 0)


def _tasks_here() -> int:
    """Return a Slurm step's tasks on this host: ``2(x3),1`` at SLURM_NODEID; 1 without Slurm."""
    node = os.environ.get("SLURM_NODEID", "")
    counts = re.findall(
        r"(\d+)(?:\(x(\d+)\))?(?:,|$)", os.environ.get("SLURM_STEP_TASKS_PER_NODE", "")
    )
    tasks = [int(count) for count, times in counts for _ in range(int(times or 1))]
    return tasks[int(node)] if node.isdecimal() and int(node) < len(tasks) else 1


def is_launched() -> bool:
    """Return whether a launcher has started this process, even as the only rank."""
    return any(name in os.environ for name in SIZE_VARIABLES + RANK_VARIABLES)


def watchdog() -> float:
    """Return the seconds until a stopped rank ends the job (0, also if unset: never).

    Raises
    ------
    UsageError
        ``MPINET_WATCHDOG`` is not a valid number of seconds.
    """
    try:
        return seconds(os.environ.get("MPINET_WATCHDOG") or "0")
    except ValueError as error:
        raise UsageError(f"The environment variable MPINET_WATCHDOG: {error}.") from None


def guarded() -> None:
    """Start a guardian for this host's ranks (`guardian`) if required and not yet running.

    Each rank calls this function before its first wait for other ranks, because a rank may be
    stopped before all ranks have met.

    Raises
    ------
    UsageError
        ``MPINET_WATCHDOG`` is not a valid number of seconds.
    """
    limit = watchdog()
    run = int(os.environ.get("MPINET_RUN", "0"))
    if limit and launched_ranks() > 1 and not (run and is_watched(os.getpid(), run)):
        _guardians.append(watch_ranks(limit))


_guardians: list[Any] = []
"""Guardians started by this process, kept until it ends."""


def _first_number(variables: tuple[str, ...], default: int) -> int:
    for name in variables:
        if os.environ.get(name, "").isdecimal():
            return int(os.environ[name])
    return default
