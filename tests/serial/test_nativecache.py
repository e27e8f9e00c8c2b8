"""Compiled code on disk never stands in the way: not a user's renamed file, nor a damaged one."""

import os
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from shutil import copy

LONG = """
from mpinet import Topology, rule


class Long(Topology):
    def __init__(self, n: int):
        super().__init__(f"{n}", size=n, ports=2)

    @rule
    def neighbor(node, port, params):
        n, other = params[0], node
        for turn in range(3):
            if turn == 0 and port == 0:
                other = (other + 1 + n) % n
            if turn == 1 and port == 1:
                other = (other - 1 + n) % n
            if turn == 2 and other < 0:
                other = other * 1 + n * 1 - 0 * turn
        if other < 0 or other >= n:
            return -1
        return other // 1
"""
"""A ring by a rule that is too long to be put into its callers, without a way back of its own."""


def checked(what: str, folder: Path) -> str:
    """What ``mpinet check`` prints, in a process of its own, with the compiled code in a folder."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "-m", "mpinet", "check", what],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_topology_may_be_copied_and_renamed(tmp_path: Path) -> None:
    mine, yours = tmp_path / "mine.py", tmp_path / "yours.py"
    mine.write_text(LONG)
    told = checked("mine:Long:500", tmp_path)
    copy(mine, yours)
    assert checked("yours:Long:500", tmp_path) == told.replace("mine", "yours")
    mine.unlink()
    assert checked("yours:Long:500", tmp_path) == told.replace("mine", "yours")
    yours.rename(tmp_path / "theirs.py")
    assert checked("theirs.py:Long:500", tmp_path) == told.replace("mine", "theirs.py")


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def one_bit_wrong(file: Path) -> None:
    text = bytearray(file.read_bytes())
    text[len(text) // 2] ^= 1
    file.write_bytes(text)


def empty(file: Path) -> None:
    file.write_bytes(b"")


def of_a_module_that_is_gone(file: Path) -> None:
    text = b"cgone_with_the_file\nrule\n."
    file.write_bytes(sha256(text).digest() + text if file.suffix == ".nbc" else text)


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def test_compiled_code_that_cannot_be_loaded_is_made_anew(tmp_path: Path) -> None:
    told = checked("torus:40x40", tmp_path)
    ways: list[Callable[[Path], None]] = [cut_short, empty, of_a_module_that_is_gone, a_folder]
    for suffix, damages in ((".nbi", ways), (".nbc", [*ways, one_bit_wrong])):
        files = sorted((tmp_path / "cache").rglob(f"*{suffix}"))
        assert len(files) > len(damages)
        for number, file in enumerate(files):
            damages[number % len(damages)](file)
        assert checked("torus:40x40", tmp_path) == told
    assert checked("torus:40x40", tmp_path) == told
