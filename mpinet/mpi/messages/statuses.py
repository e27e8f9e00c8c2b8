"""Statuses: source, tag, size and error of a completed request or receive."""

from __future__ import annotations

from typing import Any

from mpinet.mpi.real import ANY_SOURCE, ANY_TAG, PROC_NULL, REAL
from mpinet.mpi.world.events import PostedReceive
from mpinet.mpi.world.message import Message

BYTE, SUCCESS = REAL.BYTE, REAL.SUCCESS


def fill(status: Any, message: Message | None) -> None:
    """Fill a status from a received message; None stands for a message from `PROC_NULL`."""
    if message is None:
        _set(status, PROC_NULL, ANY_TAG, 0)
    else:
        _, source, tag, data, _ = message
        _set(status, source, tag, len(data))


def blank(status: Any) -> None:
    """Fill a status, if given, as empty."""
    if status is not None:
        _set(status, ANY_SOURCE, ANY_TAG, 0)


def fill_bytes(status: Any, nbytes: int) -> None:
    """Fill a status, if given, with a number of bytes and no source."""
    if status is not None:
        _set(status, ANY_SOURCE, ANY_TAG, nbytes)


def tell(status: Any, receive: PostedReceive | None) -> None:
    """Fill a status, if given, from a completed receive; None stands for `PROC_NULL`.

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
    # Scripts reuse statuses. Every field is set, or it would still describe the previous message.
    status.Set_cancelled(False)
