"""Locks of files: they end with their holder, and do not last for ever."""

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from mpinet.base import locks
from mpinet.base.locks import alone

HOLDER = """
import signal, sys
from mpinet.base.locks import alone

with alone(sys.argv[1]):
    print("in", flush=True)
    signal.pause()
"""
"""Holds a lock until it is killed."""


@contextmanager
def holding(file: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    command = [sys.executable, "-c", HOLDER, str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None and holder.stdout.readline() == "in\n"
            yield holder
        finally:
            holder.kill()


def is_locked(file: Path) -> bool:
    with open(file) as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_a_process_that_is_killed_while_it_compiles_leaves_its_place_to_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lock"
    monkeypatch.setattr(locks, "PATIENCE", float("inf"))
    with holding(file) as holder:
        assert is_locked(file)
        asleep: list[float] = []

        def killed(seconds: float) -> None:
            asleep.append(seconds)
            holder.kill()
            holder.wait()

        monkeypatch.setattr(locks, "time", SimpleNamespace(monotonic=float, sleep=killed))
        with alone(str(file)):
            assert len(asleep) == 1 and is_locked(file)
    assert not file.exists()


def test_nobody_waits_for_ever_for_a_process_that_has_been_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lock"
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    with holding(file):
        with alone(str(file)):
            assert is_locked(file)
        assert is_locked(file)


def test_where_nothing_can_be_locked_every_process_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    with alone(str(tmp_path / "no such folder/lock")):
        assert not list(tmp_path.iterdir())
    monkeypatch.setattr(fcntl, "flock", no_locks)
    entered = []
    with alone(str(tmp_path / "lock")), alone(str(tmp_path / "lock")):
        entered.append("both")
    assert entered == ["both"]
