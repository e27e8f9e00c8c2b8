"""Style and types are checked by ruff and mypy (their settings are in pyproject.toml)."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("words", ["ruff check", "ruff format --check", "mypy"])
def test_checker_is_content(words: str) -> None:
    command = [sys.executable, "-m", *words.split()]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
