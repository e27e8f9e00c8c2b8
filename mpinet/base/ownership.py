"""Places that code is loaded from: other users must not be able to write them.

This module has all rules for such places. A folder of the user's own holds compiled code and large
arrays; child processes do not look for modules in the current folder.
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
"""Variable that does for a process and its descendants what ``-P`` does for the process."""


def own_python(*words: str) -> list[str]:
    """Words that start this Python, which then loads no module from the current folder.

    Parameters
    ----------
    *words : str
        Arguments of Python. A script's own folder is no place for modules either.
    """
    return [sys.executable, "-P", *words]


@contextmanager
def own_children() -> Iterator[None]:
    """Within it, all child processes start as `own_python` says, also those of multiprocessing."""
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
    """Return the path, without links, of a folder that only this user (and root) can write.

    The path is found once in a process: a link that is replaced later leads nowhere else.

    Parameters
    ----------
    place : str
        Where the folder is, or is made with mode 0700, with the folders above it.

    Raises
    ------
    OSError
        The folder cannot be made, or others can write it, or can replace it.
    """
    try:
        folder = Path(place).resolve()
    except RuntimeError as error:  # links in a circle
        raise OSError(errno.ELOOP, str(error), place) from None
    _make(folder)
    # A folder above that others can write lets them replace this one, whatever its own mode.
    for each in (folder, *folder.parents):
        if not _is_own(each, sticky=each != folder):
            raise PermissionError(errno.EACCES, "others can write it", str(each))
    if folder.stat().st_mode & OTHERS:
        folder.chmod(0o700)  # it is of a group that has no other member, as yet
    return str(folder)


def _make(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    if not folder.is_dir():
        _make(folder.parent)
        folder.mkdir(0o700, exist_ok=True)


def _is_own(path: Path, sticky: bool) -> bool:
    """Tell if a folder is this user's or, with `sticky`, protects each user's files from others."""
    status = path.stat()
    others = stat.S_IMODE(status.st_mode) & OTHERS
    if others == stat.S_IWGRP and _is_private(status.st_gid):
        others = 0
    if others and not (sticky and status.st_mode & stat.S_ISVTX):
        return False
    return status.st_uid in (0, os.getuid())


def _is_private(group: int) -> bool:
    """Tell if a group is this user's alone, by name and number, where each user has a group.

    The list of members proves nothing: it lacks users for whom the group is the primary one.
    """
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    alone = not {*found.gr_mem} - {user.pw_name}
    # Low numbers are system groups, whose members may change without a trace here.
    return group >= 1000 and alone and (user.pw_gid, user.pw_name) == (group, found.gr_name)
