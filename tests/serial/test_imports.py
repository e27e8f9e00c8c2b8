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


def test_a_short_command_does_without_scipys_algebra_and_a_users_kernel_has_it() -> None:
    program = (
        "import sys, numpy\n"
        "from mpinet.compiled import numba\n"
        "square = numba().njit(lambda matrix: matrix @ matrix)\n"
        "print('scipy.linalg' in sys.modules)\n"
        "product = square(numpy.array([[1.0, 2.0], [3.0, 4.0]])).tolist()\n"
        "print(product, 'scipy.linalg' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["False", "[[7.0, 10.0], [15.0, 22.0]] True"], done.stderr
