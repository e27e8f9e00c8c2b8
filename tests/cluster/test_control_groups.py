"""The limit of a real control group is what runs in it are compared with."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from launch.conftest import TIME_LIMIT

LIMIT = 1 << 30

VERSIONS = {
    "/sys/fs/cgroup/memory": "memory.limit_in_bytes",
    "/sys/fs/cgroup": "memory.max",
}
"""Where version 1 and version 2 of control groups limit memory."""


@pytest.fixture
def group() -> Iterator[Path]:
    """A control group of this test that may have `LIMIT` bytes."""
    made = limited_group(f"mpinet-test-{os.getpid()}")
    if made is None:
        pytest.skip("no control group that limits memory can be made here")
    yield made
    made.rmdir()


def limited_group(name: str) -> Path | None:
    """A new control group of the version that limits memory here; None where none can be made."""
    for root, limit in VERSIONS.items():
        made = Path(root, name)
        with suppress(OSError):
            made.mkdir()
            try:
                (made / limit).write_text(str(LIMIT))
            except OSError:
                made.rmdir()
            else:
                return made
    return None


def within(group: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of mpinet in a control group."""
    join = f'echo $$ > "{group}/cgroup.procs" && exec "$@"'
    command = ["sh", "-c", join, "sh", sys.executable, "-m", "mpinet", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)


def test_a_run_is_compared_with_what_its_control_group_leaves(group: Path) -> None:
    refused = within(group, "reduce", "hypercube:23")
    assert refused.returncode == 2
    said = re.fullmatch(
        r"mpinet: reduce on hypercube:23 needs about 1\.0 GiB of memory, and (\d+\.\d) MiB are "
        r"free here: 2 ranks on 2 hosts like this one would do; [^\n]*\n",
        refused.stderr,
    )
    assert said is not None
    assert 0 < float(said[1]) < LIMIT >> 20
    allowed = within(group, "reduce", "hypercube:10")
    assert (allowed.returncode, allowed.stderr) == (0, "")


def test_one_array_is_compared_with_the_limit_itself(group: Path) -> None:
    refused = within(group, "measure", "hypercube:22", "edges")
    assert refused.returncode == 2
    assert refused.stderr.endswith("and there are 1.0 GiB here.\n")
