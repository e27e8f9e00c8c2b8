"""Origin of a document: host, time and versions, which the digest does not cover."""

from __future__ import annotations

import platform
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from mpinet.base.version import PACKAGE, installed
from mpinet.machine.transport import library

PACKAGES = ("numpy", "numba", "networkx", "mpi4py", "greenlet")
"""Packages that mpinet computes with and whose versions are recorded."""


def made() -> dict[str, Any]:
    """Return UTC date, host, versions, and the checkout's commit (None if installed)."""
    return {"date": datetime.now(UTC).isoformat(timespec="seconds"), **_here()}


@cache
def _here() -> dict[str, Any]:
    """Return the facts that are constant within a process."""
    return {
        "host": platform.node(),
        "system": f"{platform.system()} {platform.machine()}",
        "commit": commit(PACKAGE.parent),
        "python": platform.python_version(),
        **{name: installed(name) for name in PACKAGES},
        "mpi": library(),
    }


def commit(checkout: Path) -> str | None:
    """Return the commit of a checkout from git's files; None if there are none."""
    with suppress(OSError, ValueError):
        folder = checkout / ".git"
        if folder.is_file():  # a work tree outside of the repository
            folder = checkout / folder.read_text().strip().removeprefix("gitdir: ")
        head = (folder / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        if (folder / "commondir").exists():
            folder /= (folder / "commondir").read_text().strip()
        if (folder / name).exists():
            return (folder / name).read_text().strip()
        for line in (folder / "packed-refs").read_text().splitlines():
            if line.endswith(f" {name}"):
                return line.split()[0]
    return None
