"""Tiers: how a job treats a kernel or a rule without native code.

`MPINET_COMPILE` names the tier:

``background``
    The function runs as plain Python while another process compiles it (the default).
``wait``
    The function is compiled before its first call.
``never``
    The function runs as plain Python and is not compiled.

All tiers use native code from the package's library and from the cache. With
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
        ``MPINET_COMPILE`` is not a valid tier.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        return PLAIN
    named = os.environ.get("MPINET_COMPILE") or BACKGROUND
    if named not in TIERS:
        raise UsageError(f"MPINET_COMPILE is {' or '.join(TIERS)}, not {named!r}.")
    return named


def wait_for_native_code() -> None:
    """Make tier ``wait`` the default for this process and its child processes."""
    os.environ.setdefault("MPINET_COMPILE", WAIT)
    tier.cache_clear()


# Cached because each plain call asks, and a search for a package takes as long as a short kernel.
@cache
def can_compile() -> bool:
    """Return whether a compiler (Numba) is installed."""
    return find_spec("numba") is not None


@cache
def can_load() -> bool:
    """Return whether objects can be loaded (llvmlite is installed)."""
    return find_spec("llvmlite") is not None


def cache_root() -> str:
    """Return the path of mpinet's cache, which may not exist."""
    if named := os.environ.get("MPINET_CACHE"):
        return named
    if named := os.environ.get("NUMBA_CACHE_DIR"):  # set by scripts for older versions
        return os.path.join(named, "mpinet")
    above = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(above, "mpinet")


def cache_folder(name: str) -> str:
    """Return a folder in the cache, created if needed, that only this user can write to.

    Raises
    ------
    OSError
        The folder cannot be created, or is not private.
    """
    root = cache_root()
    # A relative path would denote a different folder in each working directory, possibly another
    # user's.
    if not os.path.isabs(root):
        raise OSError(errno.EINVAL, "the path is not absolute", root)
    return own_folder(os.path.join(root, name))
