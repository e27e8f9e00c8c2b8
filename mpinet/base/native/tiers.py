"""Tiers: what a job does about a kernel or a rule without native code.

`MPINET_COMPILE` names the tier:

``background``
    It runs as plain Python while another process compiles it (the default).
``wait``
    It is compiled before its first call.
``never``
    It runs as plain Python, and nothing is compiled.

In each tier, native code from the package's library and from the cache is used. With
``NUMBA_DISABLE_JIT=1``, everything runs as plain Python.
"""

from __future__ import annotations

import errno
import os
from functools import cache
from importlib.util import find_spec

from mpinet.base.ownership import own_folder
from mpinet.errors import UsageError

WAIT, NEVER, BACKGROUND, PLAIN = "wait", "never", "background", "plain"
TIERS = (BACKGROUND, WAIT, NEVER)


@cache
def tier() -> str:
    """Return this process's tier.

    Raises
    ------
    UsageError
        ``MPINET_COMPILE`` names no tier.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return PLAIN
    named = os.environ.get("MPINET_COMPILE") or BACKGROUND
    if named not in TIERS:
        raise UsageError(f"MPINET_COMPILE is {' or '.join(TIERS)}, not {named!r}.")
    return named


def wait_for_native_code() -> None:
    """Let this process and those that it starts wait for native code, unless a tier is named."""
    os.environ.setdefault("MPINET_COMPILE", WAIT)
    tier.cache_clear()


# Each plain call asks: a look for a package takes as long as many a kernel.
@cache
def can_compile() -> bool:
    """Tell if there is a compiler in this environment."""
    return find_spec("numba") is not None


@cache
def can_load() -> bool:
    """Tell if objects can be loaded in this environment."""
    return find_spec("llvmlite") is not None


def cache_root() -> str:
    """Return the place of mpinet's cache, which need not exist."""
    if named := os.environ.get("MPINET_CACHE"):
        return named
    if named := os.environ.get("NUMBA_CACHE_DIR"):  # as scripts for older versions set it
        return os.path.join(named, "mpinet")
    above = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(above, "mpinet")


def cache_folder(name: str) -> str:
    """Return a folder in the cache, made if needed, that this user alone can write.

    Raises
    ------
    OSError
        There is no such place.
    """
    root = cache_root()
    # A relative place would be another one in each working directory, and could be a stranger's.
    if not os.path.isabs(root):
        raise OSError(errno.EINVAL, "it is no absolute path", root)
    return own_folder(os.path.join(root, name))
