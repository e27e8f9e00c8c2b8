"""The jobs of ``mpinet demo``, on every rank of one job: ``python -m mpinet.cli.demojobs``."""

from __future__ import annotations

import sys

from mpinet.cli.session import CommandSession
from mpinet.launching.demo import JOBS


def main() -> int:
    """Run the jobs as commands do; rank 0 prints the document of each as soon as it is there."""
    # One start of MPI and of Python serves all: they take longer than the jobs.
    return max(CommandSession([*job.arguments.split(), "--json"]).run() for job in JOBS)


if __name__ == "__main__":
    sys.exit(main())
