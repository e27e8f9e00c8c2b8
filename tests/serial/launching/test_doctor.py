"""What `mpinet doctor` says of a host, above all where something is wrong with it."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from mpinet.base.native import calls
from mpinet.base.native.kept import Kept
from mpinet.launching import compiling, doctor
from mpinet.launching.doctor import BAD, FINE, NOTE, Examined, examine, maker


def stand_in(folder: Path, lines: str) -> None:
    """A launcher that is not the library's."""
    file = folder / "mpirun"
    file.write_text(f"#!/bin/sh\n{lines}\n")
    file.chmod(0o755)


def by_name(findings) -> dict[str, Examined]:
    return {finding.what: finding for finding in findings}


@pytest.mark.parametrize(
    ("text", "library"),
    [
        ("Open MPI v5.0.11, package: Open MPI user@localhost Distribution", "Open MPI"),
        ("mpirun (Open MPI) 5.0.11", "Open MPI"),
        ("mpirun.real (OpenRTE) 4.1.4", "Open MPI"),
        ("MPICH Version:      5.0.0", "MPICH"),
        ("HYDRA build details:", "MPICH"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.9", None),
    ],
)
def test_libraries_are_known_by_their_words(text: str, library: str | None) -> None:
    assert maker(text) == library


def test_the_library_is_named_without_a_start_of_mpi() -> None:
    program = f"{doctor.LIBRARY_PROGRAM}\nprint(mpi().Is_initialized())"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True)
    *name, started = done.stdout.splitlines()
    assert maker(name[0]) and started == "False", done.stderr


def test_another_library_s_launcher_is_found_out(monkeypatch, tmp_path: Path) -> None:
    stand_in(tmp_path, "echo HYDRA build details:; echo '    Version:  4.2.0'")
    monkeypatch.setattr(doctor, "find_launcher", lambda: str(tmp_path / "mpirun"))
    monkeypatch.setattr(doctor, "_library", lambda: Examined("MPI library", "Open MPI v5.0.11"))
    monkeypatch.setattr(doctor, "launch", lambda *_: pytest.fail("no ranks can be started"))
    monkeypatch.setattr(doctor, "_two_ranks", lambda: Examined("two ranks", "1 rank", BAD))
    found = by_name(examine())
    assert found["MPI launcher"].found.endswith("HYDRA build details: 4.2.0")
    assert (found["they belong together"].verdict, found["they belong together"].found) == (
        BAD,
        "no",
    )
    assert "MPICH's and the library Open MPI's" in found["they belong together"].advice


def test_a_launcher_that_prints_no_version_is_no_error(monkeypatch, tmp_path: Path) -> None:
    stand_in(tmp_path, "echo broken >&2; exit 1")
    monkeypatch.setattr(doctor, "find_launcher", lambda: str(tmp_path / "mpirun"))
    monkeypatch.setattr(doctor, "_library", lambda: Examined("MPI library", "Open MPI v5.0.11"))
    monkeypatch.setattr(doctor, "launch", lambda *_: '{"ranks": 2, "result": {"steps": 4}}')
    found = by_name(examine())
    assert found["MPI launcher"].found == f"{tmp_path / 'mpirun'}: prints no version"
    assert found["they belong together"].verdict == NOTE


def test_no_launcher_is_said_with_what_to_install(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("mpinet.launching.launcher.sys.executable", str(tmp_path / "python"))
    monkeypatch.setattr(doctor, "_library", lambda: Examined("MPI library", "MPICH Version: 5"))
    monkeypatch.setattr(doctor, "_cache", lambda: Examined("cache", "kept"))
    found = by_name(examine())
    assert found["MPI launcher"].verdict == BAD
    assert "pip install" in found["MPI launcher"].advice
    assert found["they belong together"].verdict == BAD
    assert "two ranks" not in found


@pytest.mark.parametrize(("ranks", "steps", "verdict"), [(2, 4, FINE), (1, 4, BAD), (2, 5, BAD)])
def test_the_two_ranks_must_know_of_each_other(monkeypatch, ranks, steps, verdict) -> None:
    document = f'{{"ranks": {ranks}, "result": {{"steps": {steps}}}}}'
    monkeypatch.setattr(doctor, "launch", lambda *_: document)
    assert doctor._two_ranks().verdict == verdict


def test_a_missing_package_and_missing_extras_are_named(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "NEEDED", ("numpy", "no-such-package"))
    monkeypatch.setattr(doctor, "EXTRAS", {"plots": ("no_such_module",), "rich": ("json",)})
    packages, extras = doctor._packages(), doctor._extras()
    assert (packages.verdict, packages.advice) == (BAD, "pip install no-such-package")
    assert (extras.verdict, extras.found) == (NOTE, "rich")
    assert extras.advice == 'pip install "mpinet[plots]" for the rest'


def test_a_cache_without_a_place_is_said(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor, "kept", lambda: made)
    monkeypatch.setenv("MPINET_CACHE", "relative")
    made = Kept()
    found = doctor._cache()
    assert (found.verdict, found.found) == (BAD, "native code cannot be kept")
    assert found.advice.startswith("relative: the path is not absolute") and "MPINET_CACHE=" in (
        found.advice
    )
    monkeypatch.setenv("MPINET_CACHE", str(tmp_path))
    made = Kept()
    assert doctor._cache() == Examined("cache", f"0 objects, 0 bytes, in {made.folder}")
    made.add("abc", bytes(1024 - 32))
    made.add("abd", bytes(1024 - 32))
    assert doctor._cache().found == f"2 objects, 2.0 KiB, in {made.folder}"
    assert made.folder.is_relative_to(tmp_path)


def test_a_system_without_affinities_has_all_its_cores(monkeypatch) -> None:
    assert compiling.cores() == len(os.sched_getaffinity(0))
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 12)
    assert compiling.cores() == 12


def test_native_code_is_told_with_its_sources(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "can_compile", lambda: True)
    monkeypatch.setattr(doctor, "tier", lambda: "never")
    monkeypatch.setattr(doctor, "library_of_package", lambda: None)
    told = f"no library, tier never, called by {calls.FORM}"
    assert doctor._native() == Examined("native code", told)
    monkeypatch.setattr(doctor, "library_of_package", lambda: SimpleNamespace(symbols={"a": "b"}))
    assert doctor._native().found.startswith("a library of 1 functions, ")
    monkeypatch.setattr(doctor, "can_compile", lambda: False)
    found = doctor._native()
    assert found.verdict == NOTE and "no compiler" in found.found
    assert 'pip install "mpinet[fast]"' in found.advice
