"""Settings of MPI libraries for a process without other ranks."""

import os
import pwd
import tempfile
from pathlib import Path

import pytest

from mpinet.machine.transport import ALONE, _settings_alone


def nobody(number: int) -> None:
    raise KeyError(number)


def test_a_user_without_name_and_home_gets_a_folder_that_exists(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HOME")
    assert _settings_alone().keys() == ALONE.keys()
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    assert _settings_alone()["HOME"] == tempfile.gettempdir()
    monkeypatch.setenv("HOME", "/home/anna")
    assert _settings_alone().keys() == ALONE.keys()


def test_open_mpi_4_in_the_environment_is_told_its_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    assert "OPAL_PREFIX" not in _settings_alone()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/orted").touch()
    assert _settings_alone()["OPAL_PREFIX"] == str(tmp_path)
    assert "OPAL_PREFIX" not in os.environ
