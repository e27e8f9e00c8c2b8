"""``python -m mpinet.bench.footprint COMMAND ..``: run a command of mpinet, then print its peak.

A process of its own for every measurement: what a process has once had in memory stays in its peak.
"""

from __future__ import annotations

import resource
import runpy
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")

PEAK = "peak bytes"
"""Prefix of every rank's last line."""


def peak() -> int:
    """Return the most bytes that this process has had in memory.

    Where the system has it, the number that does not count what the parent had before.
    """
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    # Linux counts the peak in kilobytes, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    """Run the command in `sys.argv` as ``mpinet`` would, and end as it does."""
    # The peak is printed even if the command fails, because the caller sums the lines of all ranks.
    try:
        runpy.run_module("mpinet", run_name="__main__", alter_sys=True)
    finally:
        print(PEAK, peak(), flush=True)


if __name__ == "__main__":
    main()
