"""Open MPI 4 and MPICH 4 as Debian packs them, each with an mpi4py that is built against it.

Neither comes from PyPI, where mpinet's own libraries are of version 5. Each gets an environment
with a Python, this mpinet, its mpi4py and its launcher; all other packages are those of `.venv`.
"""

import fcntl
import os
import shutil
import subprocess
import sysconfig
from functools import cache
from pathlib import Path

import pytest
from launch.conftest import other_mpirun, own_mpirun
from launch.sources import ENVIRONMENT, PYTHON, installed_mpi4py

BUILDING = 600
"""Seconds that a build of mpi4py may take on a busy machine."""


def debian_openmpi() -> Path | None:
    """Return the launcher of Debian's Open MPI 4, in its environment."""
    return launcher("openmpi")


def debian_mpich() -> Path | None:
    """Return the launcher of Debian's MPICH 4, in its environment."""
    return launcher("mpich")


@cache
def launcher(library: str) -> Path | None:
    """Return the launcher of a library in its environment; None where that cannot be made."""
    mpirun, compiler = (shutil.which(f"{name}.{library}") for name in ("mpirun", "mpicc"))
    headers = Path(sysconfig.get_path("include"), "Python.h")
    if mpirun is None or compiler is None or not shutil.which("gcc") or not headers.exists():
        return None
    environment = ENVIRONMENT / "share" / f"debian-{library}"
    environment.parent.mkdir(exist_ok=True)
    with open(f"{environment}.lock", "w") as lock:  # the processes that share the tests
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready = environment / "bin/mpirun"  # made last
        if not ready.exists():
            make(environment, compiler)
            script(ready, f'#!/bin/sh\nexec {mpirun} "$@"\n')
    return ready


def make(environment: Path, compiler: str) -> None:
    """Make the environment of a library, given its compiler."""
    shutil.rmtree(environment, ignore_errors=True)
    run(PYTHON, "-m", "venv", "--without-pip", environment)
    python = environment / "bin/python"
    # pip keeps what it builds by its source alone: from its cache would come the other library's.
    words = ["install", "--quiet", "--no-cache-dir", "--no-deps", "--no-binary", "mpi4py"]
    wanted = f"mpi4py=={installed_mpi4py()}"
    build = {"MPICC": compiler, "CFLAGS": "-O0"}  # quick to compile; no test measures it
    run(PYTHON, "-m", "pip", "--python", python, *words, wanted, **build)
    places = [
        sysconfig.get_path("purelib", vars={"base": str(p)}) for p in (environment, ENVIRONMENT)
    ]
    Path(places[0], "others.pth").write_text(f"import site; site.addsitedir({places[1]!r})\n")
    command = (ENVIRONMENT / "bin/mpinet").read_text()
    script(environment / "bin/mpinet", command.replace(str(PYTHON), str(python)))


def script(path: Path, text: str) -> None:
    """Write a program."""
    path.write_text(text)
    path.chmod(0o755)


def run(*words: str | Path, **settings: str) -> None:
    """Run a command that has to succeed."""
    done = subprocess.run(
        words,
        env=os.environ | settings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BUILDING,
    )
    assert done.returncode == 0, done.stdout


EVERY_LIBRARY = pytest.mark.parametrize(
    "mpirun",
    [own_mpirun, other_mpirun, debian_openmpi, debian_mpich],
    ids=["own", "other", "debian-openmpi", "debian-mpich"],
    indirect=True,
)
"""Marks a test that runs with mpinet's own MPI libraries and with Debian's older ones."""

DEBIANS = pytest.mark.parametrize(
    "mpirun", [debian_openmpi, debian_mpich], ids=["debian-openmpi", "debian-mpich"], indirect=True
)
"""Marks a test that runs with Debian's libraries."""
