"""One rank of an MPI test run: ``launch/run -n 4 python tests/rankmain.py <pytest arguments>``.

Rank 0 owns the terminal; every rank r > 0 writes to rank<r>.log in the folder MPINET_TEST_LOGS.
The rank is read from the launcher's environment, so that nothing is printed before that.
"""

import os
import sys
import time
from pathlib import Path

import pytest

RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")
ENDED_EARLY = (2, 3, 4)  # pytest: interrupted, internal error, wrong usage


def rank_told_by_launcher() -> int:
    for name in RANK_VARIABLES:
        if name in os.environ:
            return int(os.environ[name])
    return 0


def write_to_log(rank: int) -> None:
    folder = Path(os.environ.get("MPINET_TEST_LOGS", "test-logs"))
    folder.mkdir(parents=True, exist_ok=True)
    log = os.open(folder / f"rank{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)


def main() -> int:
    """The worst exit status of all ranks."""
    rank = rank_told_by_launcher()
    arguments = sys.argv[1:]
    if rank > 0:
        write_to_log(rank)
        arguments = [word for word in arguments if not word.startswith("--junitxml")]
    status = int(pytest.main(arguments))
    sys.stdout.flush()
    sys.stderr.flush()

    from mpi4py import MPI

    if status in ENDED_EARLY and MPI.COMM_WORLD.size > 1:
        # The other ranks may be in the middle of a test and wait for this one. Rank 0 first:
        # the job ends with the first abort, and the terminal's report is rank 0's.
        time.sleep(2 if rank > 0 else 0)
        MPI.COMM_WORLD.Abort(status)
    return MPI.COMM_WORLD.allreduce(status, op=MPI.MAX)


if __name__ == "__main__":
    sys.exit(main())
