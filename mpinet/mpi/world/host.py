"""The host of a rank; ranks on the same host can share memory."""

from __future__ import annotations

import socket
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""File that identifies a boot of a host, even if hosts have the same name."""


def host() -> str:
    """Return a text that identifies this host."""
    return BOOT.read_text().strip() if BOOT.exists() else socket.gethostname()
