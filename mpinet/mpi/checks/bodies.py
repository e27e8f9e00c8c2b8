"""Bodies of a checked run's messages: bytes that know their datatypes and their sender's line."""

from __future__ import annotations

from typing import Any

from mpinet.mpi.checks.signatures import Signature


class CheckedBody(bytes):
    """Packed elements of a send buffer, or a pickled object."""

    signature: Signature | None
    """Type signature of the elements; None for a pickled object."""
    account: int
    """Number of the sender's account."""
    serial: tuple[int, int]
    """Sender, and number of the body among its bodies."""

    @classmethod
    def of(
        cls, data: bytes, signature: Signature | None, account: int, serial: tuple[int, int]
    ) -> CheckedBody:
        """Return a body of a call."""
        body = cls(data)
        body.signature, body.account, body.serial = signature, account, serial
        return body


def described(body: Any) -> str:
    """Return a description of a body's elements."""
    signature = getattr(body, "signature", None)
    return f"{len(body)} bytes" if signature is None else signature.said
