"""The rooms of the package: who may import whom (the contracts are in pyproject.toml)."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
HEAVY = {"mpi4py", "numba", "networkx", "matplotlib", "rich"}


def test_imports_keep_to_the_layers() -> None:
    check = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    done = subprocess.run(
        [sys.executable, "-c", check], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["mpinet", "mpinet.cli", "mpinet.errors"])
def test_heavy_libraries_wait_until_they_are_used(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.split()) == set()
