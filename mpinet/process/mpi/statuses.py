"""What statuses say of messages."""

from __future__ import annotations

from typing import Any

from mpinet.process.mpi.message import Message
from mpinet.process.mpi.real import ANY_TAG, PROC_NULL, REAL


def fill(status: Any, message: Message | None) -> None:
    """Let a status tell of a received message; of none, from `PROC_NULL`, if it is None."""
    status.Set_source(PROC_NULL if message is None else message.source)
    status.Set_tag(ANY_TAG if message is None else message.tag)
    status.Set_error(REAL.SUCCESS)
    status.Set_elements(REAL.BYTE, 0 if message is None else len(message.data))
    status.Set_cancelled(False)
