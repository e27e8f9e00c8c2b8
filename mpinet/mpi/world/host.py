"""The host that a rank is on, whose memory ranks can share."""

from __future__ import annotations

import socket
from pathlib import Path

BOOT = Path("/proc/sys/kernel/random/boot_id")
"""Tells hosts apart, also those that have one name."""


def host() -> str:
    """Return what tells this host from others."""
    return BOOT.read_text().strip() if BOOT.exists() else socket.gethostname()
