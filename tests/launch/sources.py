"""mpi4py's source distribution, of the version that is installed: its documentation, demos, tests.

None of it is a part of mpinet: it is fetched once into the environment's folder.
"""

import os
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path

from launch.conftest import CHECKOUT

ENVIRONMENT = CHECKOUT / ".venv"
PYTHON = ENVIRONMENT / "bin/python"
FETCHING = 600  # seconds; pip makes an environment to ask for some packages' names


@cache
def installed_mpi4py() -> str:
    """The version of the mpi4py that is installed."""
    asking = [PYTHON, "-c", "import mpi4py; print(mpi4py.__version__, end='')"]
    return subprocess.check_output(asking, text=True)


@cache
def mpi4py_sources() -> Path:
    """The folder of the sources; an error says why it cannot be had."""
    version = installed_mpi4py()
    folder = ENVIRONMENT / "share" / f"mpi4py-{version}"
    if not folder.is_dir():
        fetch("mpi4py", version, folder)
    return folder


def fetch(package: str, version: str, folder: Path) -> None:
    """Fetch a package's sources and put them in place; several may do so at a time."""
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as aside:
        words = ["-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", package]
        done = subprocess.run(
            [PYTHON, *words, f"{package}=={version}", "--dest", aside],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=FETCHING,
        )
        assert done.returncode == 0, (
            f"{package}'s sources could not be fetched: these tests need them in {folder}.\n"
            + done.stderr
        )
        with tarfile.open(next(Path(aside).glob("*.tar.gz"))) as archive:
            archive.extractall(aside)
        try:
            os.rename(Path(aside) / folder.name, folder)
        except OSError:
            assert folder.is_dir()
