"""What is known of the host's memory, and how it is told."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from mpinet import memory
from mpinet.cli.session import Session
from mpinet.errors import TooLarge
from mpinet.machine import placement


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
        "CGROUP_LIMITS",
        {"": (tmp_path, "memory.max"), "memory": (tmp_path / "old", "limit")},
    )
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
        [sys.executable, "-m", "mpinet", "scatter", "torus:536870912x2"],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert done.returncode == 2
    assert done.stderr.endswith("needs 8.0 GiB of memory or more, and there are 3.0 GiB here.\n")


def test_memory_that_runs_out_ends_the_command_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(placement, "require_memory", lambda needed, what: None)
    monkeypatch.setattr("mpinet.programs.flood.require_walk", lambda *walk: None)
    assert Session(["scatter", "torus:2147483648x3000000"]).run() == 1
    told = capsys.readouterr().err
    assert told.startswith("mpinet: The memory has run out (Unable to allocate ")
    assert len(told.splitlines()) == 1
