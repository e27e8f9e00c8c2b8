"""Places of loadable code: other users must not have write permission there.

This module contains all rules for these places. A private folder of the user holds compiled code
and large arrays. Child processes do not look for modules in the current folder.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

OTHERS = stat.S_IWGRP | stat.S_IWOTH

SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable with the effect of Python's option ``-P``, also on child processes."""


def own_python(*words: str) -> list[str]:
    """Return a command line for this Python that loads no module from the current folder.

    Parameters
    ----------
    *words : str
        Arguments of Python. Modules in the folder of a script are not found either.
    """
    return [sys.executable, "-P", *words]


@contextmanager
def own_children() -> Iterator[None]:
    """In this context all child processes start without the current folder in their module path."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


@cache
def own_folder(place: str) -> str:
    """Return the path, without links, of a folder writable only by this user (and root).

    The path is resolved once in a process. A link replaced later has no effect.

    Parameters
    ----------
    place : str
        Path of the folder. Missing folders on the path are created with mode 0700.

    Raises
    ------
    OSError
        The folder cannot be created, or other users can change or replace the folder.
    """
    try:
        folder = Path(place).resolve()
    except RuntimeError as error:  # links form a circle
        raise OSError(errno.ELOOP, str(error), place) from None
    _make(folder)
    # Other users with write permission above could replace the folder, regardless of its mode.
    for each in (folder, *folder.parents):
        if not _is_own(each, sticky=each != folder):
            raise PermissionError(errno.EACCES, "other users can write to it", str(each))
    if folder.stat().st_mode & OTHERS:
        folder.chmod(0o700)  # its group currently has no other member
    return str(folder)


def _make(folder: Path) -> None:
    """Create a folder and its missing parents, for this user only."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(0o700, exist_ok=True)


def _is_own(path: Path, sticky: bool) -> bool:
    """Return whether a folder is safe from other users; `sticky`: a sticky bit is enough."""
    status = path.stat()
    others = stat.S_IMODE(status.st_mode) & OTHERS
    if others == stat.S_IWGRP and _is_private(status.st_gid):
        others = 0
    if others and not (sticky and status.st_mode & stat.S_ISVTX):
        return False
    return status.st_uid in (0, os.getuid())


def _is_private(group: int) -> bool:
    """Return whether a group is this user's private group, by name, number and members.

    The list of members is not sufficient, because it omits users with this primary group.
    """
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    alone = not {*found.gr_mem} - {user.pw_name}
    # Low numbers are system groups, whose members may change unnoticed.
    return group >= 1000 and alone and (user.pw_gid, user.pw_name) == (group, found.gr_name)
