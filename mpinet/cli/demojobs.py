"""Run the jobs of ``mpinet demo`` in one launch: ``python -m mpinet.cli.demojobs``."""

from __future__ import annotations

import sys

from mpinet.cli.session import CommandSession
from mpinet.launching.demo import JOBS


def main() -> int:
    """Run each demo job as a command; rank 0 prints each result document when the job ends."""
    # All jobs share one start of MPI and Python, because starting takes longer than the jobs.
    return max(CommandSession([*job.arguments.split(), "--json"]).run() for job in JOBS)


if __name__ == "__main__":
    sys.exit(main())
