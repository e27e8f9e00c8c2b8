"""Jobs in processes of their own, each with a cache and a tier of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

OF_THE_CACHE = ("MPINET_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_DISABLE_JIT")

NOTING = """
import os
from mpinet.base.native import kept

add = kept.Kept.add

def noted(self, fingerprint, code):
    with open(os.environ["MPINET_NOTES"], "a") as notes:
        notes.write(f"{os.getpid()} {fingerprint}\\n")
    add(self, fingerprint, code)

kept.Kept.add = noted
"""
"""Notes each object that any process keeps."""


def environment(tier: str = "wait", **settings: Any) -> dict[str, str]:
    """Return variables of a job, of which those settings name its cache."""
    inherited = {name: value for name, value in os.environ.items() if name not in OF_THE_CACHE}
    given = {name: str(value) for name, value in settings.items()}
    return inherited | {"MPINET_COMPILE": tier} | given


def noting(folder: Path) -> dict[str, str]:
    """Return variables with which jobs note what is compiled (see `compiled`)."""
    (folder / "sitecustomize.py").write_text(NOTING)
    return {"MPINET_NOTES": str(folder / "notes"), "PYTHONPATH": str(folder)}


def compiled(folder: Path) -> list[str]:
    """Return the fingerprints of all that was compiled."""
    notes = folder / "notes"
    return [line.split()[1] for line in notes.read_text().splitlines()] if notes.exists() else []


def ran(*words: Any, cwd: Path | None = None, **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run Python."""
    return subprocess.run(
        [sys.executable, *map(str, words)],
        env=environment(**settings), cwd=cwd, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def printed(*words: Any, **settings: Any) -> str:
    """Return what Python prints, which does not fail."""
    done = ran(*words, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


def objects(folder: Path) -> list[Path]:
    """Return the objects in a cache."""
    return sorted(folder.rglob("*.o"))


def until(true: Callable[[], Any], seconds: float = 120.0) -> Any:
    """Return what a function returns once it is true."""
    for _ in range(int(seconds / 0.05)):
        if found := true():
            return found
        sleep(0.05)
    raise AssertionError("it did not become true in time")


def compilers(above: int) -> list[int]:
    """Return the compile processes below a process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == above and b"mpinet.compiler" in words:
            found.append(int(folder.name))
    return found


def is_there(process: int) -> bool:
    """Tell if a process runs."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
