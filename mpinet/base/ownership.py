"""Check of folders from which code is loaded: nobody else must be able to write them."""

from __future__ import annotations

import os
import stat
from functools import cache
from pathlib import Path

OTHERS = stat.S_IWGRP | stat.S_IWOTH


@cache
def alone_writes(folder: str) -> bool:
    """Tell if only this user (and root) can put files into a folder, or another one in its place.

    Parameters
    ----------
    folder : str
        A folder that is there.
    """
    path = Path(folder).resolve()
    try:
        return _own(path, sticky=False) and all(_own(above, True) for above in path.parents)
    except OSError:
        return False


def _own(path: Path, sticky: bool) -> bool:
    """Tell if a folder is this user's or, with `sticky`, protects each user's files from others."""
    status = path.stat()
    others = stat.S_IMODE(status.st_mode) & OTHERS
    if others == stat.S_IWGRP and _is_private(status.st_gid):
        others = 0
    if others and not (sticky and status.st_mode & stat.S_ISVTX):
        return False
    return status.st_uid in (0, os.getuid())


@cache
def _is_private(group: int) -> bool:
    """Tell if a group has this user as its only member, as on systems with a group per user."""
    import grp
    import pwd

    try:
        user, found = pwd.getpwuid(os.getuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return user.pw_gid == group and not {*found.gr_mem} - {user.pw_name} and group >= 1000


@cache
def as_safe_as(folder: str, sources: str) -> bool:
    """Tell if only users who can change the sources beside a folder can write it.

    Parameters
    ----------
    folder, sources : str
        Folders that are there.
    """
    try:
        inner, outer = Path(folder).stat(), Path(sources).stat()
    except OSError:
        return False
    if inner.st_uid not in (0, os.getuid(), outer.st_uid):
        return False
    return not inner.st_mode & OTHERS & ~outer.st_mode and (
        not inner.st_mode & stat.S_IWGRP or inner.st_gid == outer.st_gid
    )
