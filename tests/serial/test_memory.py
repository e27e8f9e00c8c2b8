"""What is known of the host's memory, and how it is told."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from mpinet.base import memory
from mpinet.cli.session import CommandSession
from mpinet.errors import TooLarge, UsageError


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (3 << 29, "1.5 GiB"),
        (2**63, "8.0 EiB"),
        (2**5000, f"{2**4920}.0 YiB"),
    ],
)
def test_bytes_are_told_in_binary_units(count: int, text: str) -> None:
    assert memory.in_units(count) == text


@pytest.fixture
def control_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this process's groups of version 2, in /jobs/one; the limits are to be set."""
    (tmp_path / "jobs/one").mkdir(parents=True)
    told = tmp_path / "cgroup"
    told.write_text("4:cpu,memory:/elsewhere\n0::/jobs/one\n")
    monkeypatch.setattr(memory, "CGROUPS", told)
    monkeypatch.setattr(
        memory,
        "CONTROLLERS",
        {
            "": memory.Controller(tmp_path, "memory.max", "memory.current", "inactive_file"),
            "memory": memory.Controller(tmp_path / "old", "limit", "usage", "total_inactive_file"),
        },
    )
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    memory.host_memory.cache_clear()
    yield tmp_path
    memory.host_memory.cache_clear()


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        ("jobs/one/memory.max", "1000000\n", 1000000),
        ("jobs/memory.max", "2000000\n", 2000000),  # a group above limits, too
        ("old/elsewhere/limit", "3000000\n", 3000000),  # version 1
        ("jobs/one/memory.max", "max\n", None),
        ("jobs/one/memory.max", f"{2**63 - 4096}\n", None),
    ],
)
def test_a_control_group_limits_the_memory(
    control_groups: Path, file: str, text: str, found: int | None
) -> None:
    (control_groups / file).parent.mkdir(parents=True, exist_ok=True)
    (control_groups / file).write_text(text)
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert memory.host_memory() == (found or physical)


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"meminfo": "MemTotal: 9 kB\nMemAvailable:    700 kB\n"}, 700 * 1024),
        (
            {
                "meminfo": "MemAvailable: 700 kB\n",
                "jobs/one/memory.max": "600000",
                "jobs/one/memory.current": "250000",
                "jobs/one/memory.stat": "anon 100000\ninactive_file 150000\n",
            },
            600000 - (250000 - 150000),
        ),
        (
            {"jobs/memory.max": "600000", "jobs/one/memory.max": "max", "jobs/memory.current": "7"},
            600000 - 7,
        ),
        (
            {
                "old/elsewhere/limit": "500000",
                "old/elsewhere/usage": "400000",
                "old/elsewhere/memory.stat": "total_inactive_file 1\n",
            },
            100001,
        ),
        ({"jobs/one/memory.max": "1000", "jobs/one/memory.current": "5000"}, 0),
        ({}, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")),
    ],
)
def test_what_is_left_is_the_least_that_system_and_control_groups_leave(
    control_groups: Path, files: dict[str, str], left: int
) -> None:
    for name, text in files.items():
        (control_groups / name).parent.mkdir(parents=True, exist_ok=True)
        (control_groups / name).write_text(text)
    assert memory.memory_left() == left


@pytest.mark.parametrize(
    ("given", "count"),
    [
        (4096, 4096),
        ("4096", 4096),
        ("4GiB", 4 << 30),
        ("4G", 4 << 30),
        ("4 gib", 4 << 30),
        ("4GB", 4 * 10**9),
        ("1.5KiB", 1536),
        ("0.25M", 1 << 18),
        ("3B", 3),
    ],
)
def test_a_limit_is_read_with_its_unit(given: int | str, count: int) -> None:
    assert memory.bytes_of(given) == count


@pytest.mark.parametrize("given", ["", "0", 0, -1, "4x", "GiB", "1e9", "0.1B", "1" * 30, "\uff14G"])
def test_what_is_no_number_of_bytes_is_refused(given: int | str) -> None:
    with pytest.raises(UsageError, match="such as 4GiB or 500MB"):
        memory.bytes_of(given)


def test_a_limit_and_force_hold_within_their_block_alone() -> None:
    with memory.allowing("1KiB", force=False):
        with pytest.raises(TooLarge, match=r"there are 1\.0 KiB here"):
            memory.require_memory(1025, "It")
        with memory.allowing(None, force=True):
            memory.require_memory(2**80, "It")
        with pytest.raises(TooLarge):
            memory.require_memory(1025, "It")
    memory.require_memory(1025, "It")


def test_ranks_of_one_host_share_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "host_memory", lambda: 1000)
    monkeypatch.setattr(memory, "process_limit", lambda: 1000)
    monkeypatch.setattr(memory, "launched_here", lambda: 4)
    memory.require_memory(250, "It")
    with pytest.raises(TooLarge, match=r"^It needs 1\.0 KiB of memory .* 1000 bytes here\.$"):
        memory.require_memory(256, "It")


def test_a_process_that_may_have_little_address_space_is_refused_more() -> None:
    limit = 3 << 30
    done = subprocess.run(
        [sys.executable, "-m", "mpinet", "scatter", "torus:8388608x2"],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 2
    assert re.search(
        r"^mpinet: scatter on torus:8388608x2 needs about 3\.\d GiB of memory, and a process "
        r"here can have 2\.\d GiB of address space \(ulimit -v\): 2 ranks here would do; [^\n]*\n$",
        done.stderr,
    )


def test_memory_that_runs_out_ends_the_command_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert CommandSession(["scatter", "torus:2147483648x3000000", "--force"]).run() == 1
    told = capsys.readouterr().err
    assert told.startswith("mpinet: The memory has run out (Unable to allocate ")
    assert len(told.splitlines()) == 1
