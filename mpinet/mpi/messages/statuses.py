"""Statuses: source, tag, size and error of what a request or receive has completed with."""

from __future__ import annotations

from typing import Any

from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL, REAL
from mpinet.mpi.world.events import PostedReceive
from mpinet.mpi.world.message import Message

BYTE, SUCCESS = REAL.BYTE, REAL.SUCCESS


def fill(status: Any, message: Message | None) -> None:
    """Let a status tell of a received message; of none, from `PROC_NULL`, if it is None."""
    if message is None:
        _set(status, PROC_NULL, ANY_TAG, 0)
    else:
        _, source, tag, data, _ = message
        _set(status, source, tag, len(data))


def blank(status: Any) -> None:
    """Let a status tell of nothing."""
    if status is not None:
        _set(status, ANY_SOURCE, ANY_TAG, 0)


def fill_bytes(status: Any, nbytes: int) -> None:
    """Let a status, if there is one, tell of so many bytes that nobody has sent."""
    if status is not None:
        _set(status, ANY_SOURCE, ANY_TAG, nbytes)


def tell(status: Any, receive: PostedReceive | None) -> None:
    """Let a status, if there is one, tell of a receive that is done; None: one from `PROC_NULL`.

    A receive without a message has been cancelled.
    """
    if status is None:
        return
    if receive is not None and receive.message is None:
        blank(status)
        status.Set_cancelled(True)
    else:
        fill(status, None if receive is None else receive.message)


def _set(status: Any, source: int, tag: int, size: int) -> None:
    status.Set_source(source)
    status.Set_tag(tag)
    status.Set_error(SUCCESS)
    status.Set_elements(BYTE, size)
    # Scripts use a status again. Each field is set, or it would tell of the message before.
    status.Set_cancelled(False)
