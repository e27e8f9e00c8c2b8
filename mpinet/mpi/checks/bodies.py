"""Bodies of a checked run's messages: bytes that know their datatypes and their sender's line."""

from __future__ import annotations

import io
import pickle
from contextlib import suppress
from typing import Any
from zlib import crc32

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


PICKLER: Any = vars(pickle)["_Pickler"]
"""Pickler in Python, whose methods for built-in types a class can replace."""


class FixedOrder(PICKLER):  # type: ignore[misc]
    """Pickles sets with their elements in the order of the elements' pickles."""

    dispatch: Any = PICKLER.dispatch.copy()

    def save_set(self, elements: Any) -> None:
        """Pickle a set as a list."""
        self.save([type(elements).__name__, *sorted(map(in_fixed_order, elements))])

    dispatch[set] = dispatch[frozenset] = save_set


def in_fixed_order(thing: Any) -> bytes:
    """Return a pickle that does not depend on the seed of string hashes."""
    file = io.BytesIO()
    FixedOrder(file).dump(thing)
    return file.getvalue()


def checksum(data: bytes, is_object: bool, before: int) -> int:
    """Return a checksum of a body, and of the bodies in an earlier checksum."""
    if is_object and any(sets in data for sets in (b"\x8f", b"\x91")):  # opcodes of sets
        with suppress(Exception):
            return crc32(in_fixed_order(pickle.loads(data)), before)
    return crc32(data, before)


def described(body: Any) -> str:
    """Return a description of a body's elements."""
    signature = getattr(body, "signature", None)
    return f"{len(body)} bytes" if signature is None else signature.said
