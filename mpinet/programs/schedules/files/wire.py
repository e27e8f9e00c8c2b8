"""The wire format of protobuf: fields of a message, read within its bounds, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

from mpinet.errors import UsageError

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
"""Kinds of fields: a whole number, eight bytes, so many bytes, four bytes."""

Field = tuple[int, int | memoryview]
"""A field's number, and its number or bytes."""


def number_at(data: memoryview, at: int) -> tuple[int, int]:
    """Read a whole number of up to 64 bits; return it, and the place behind it."""
    value = 0
    for place in range(at, min(at + 10, len(data))):
        value |= (data[place] & 0x7F) << 7 * (place - at)
        if data[place] < 0x80:
            return value & (1 << 64) - 1, place + 1
    raise UsageError("a number does not end")


def messages_of(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Return each of the messages that stand one after the other, with the place of its first byte.

    Raises
    ------
    UsageError
        The bytes end within one.
    """
    at = 0
    while at < len(data):
        length, begin = number_at(data, at)
        if begin + length > len(data):
            raise UsageError(f"byte {at}: a message of {length} bytes does not end in the file")
        yield at, data[begin : begin + length]
        at = begin + length


def fields_of(message: memoryview) -> Iterator[Field]:
    """Return the fields of a message, in order.

    Raises
    ------
    UsageError
        The bytes end within one, or it is of no known kind.
    """
    at = 0
    while at < len(message):
        key, at = number_at(message, at)
        kind = key & 7
        if kind == VARINT:
            value, at = number_at(message, at)
            yield key >> 3, value
            continue
        if kind == BYTES:
            length, at = number_at(message, at)
        elif kind in (FOUR, EIGHT):
            length = 4 if kind == FOUR else 8
        else:
            raise UsageError(f"a field is of the kind {kind}")
        if at + length > len(message):
            raise UsageError("a field does not end in its message")
        yield key >> 3, message[at : at + length]
        at += length


def numbers_of(value: int | memoryview) -> Iterator[int]:
    """Return the numbers of a repeated field, alone or packed."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = number_at(value, at)
        yield number


def signed(value: int) -> int:
    """Return a number of 64 bits as one with a sign."""
    return value - (1 << 64) if value >> 63 else value


def piece(field: int, content: int | bytes) -> bytes:
    """Write a field."""
    if isinstance(content, int):
        return varint(field << 3 | VARINT) + varint(content)
    return varint(field << 3 | BYTES) + varint(len(content)) + content


def varint(number: int) -> bytes:
    """Write a whole number, seven bits a byte."""
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])
