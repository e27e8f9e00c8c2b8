"""``python -m mpinet.bench.footprint COMMAND ...``: run a command and print its peak memory.

Each measurement needs its own process, because a process never lowers its recorded peak.
"""

from __future__ import annotations

import resource
import runpy
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")

PEAK = "peak bytes"
"""Prefix of each rank's last line of output."""


def peak() -> int:
    """Return the peak memory of this process in bytes.

    On systems that provide it, the number excludes memory of the parent before the fork.
    """
    if STATUS.exists():
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    # Linux reports the peak in kilobytes, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    """Run the command in `sys.argv` like ``mpinet``, and exit with its status."""
    # The peak is printed even after a failure, because the caller sums the lines of all ranks.
    try:
        runpy.run_module("mpinet", run_name="__main__", alter_sys=True)
    finally:
        print(PEAK, peak(), flush=True)


if __name__ == "__main__":
    main()
