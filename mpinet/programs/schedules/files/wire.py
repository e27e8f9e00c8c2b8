"""The wire format of protobuf: fields of a message, read strictly within its bounds."""

from __future__ import annotations

from collections.abc import Iterator

from mpinet.errors import UsageError

VARINT, EIGHT, BYTES, FOUR = 0, 1, 2, 5
"""Kinds of fields: an integer, eight bytes, a given number of bytes, four bytes."""

Field = tuple[int, int | memoryview]
"""Number of a field, and its value: an integer or bytes."""


def number_at(data: memoryview, at: int) -> tuple[int, int]:
    """Read an integer of up to 64 bits; return its value and the next position."""
    value = 0
    for place in range(at, min(at + 10, len(data))):
        value |= (data[place] & 0x7F) << 7 * (place - at)
        if data[place] < 0x80:
            return value & (1 << 64) - 1, place + 1
    raise UsageError("a number does not end")


def messages_of(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    """Yield consecutive messages, each with the position of its first byte.

    Raises
    ------
    UsageError
        The bytes end within a message.
    """
    at = 0
    while at < len(data):
        length, begin = number_at(data, at)
        if begin + length > len(data):
            raise UsageError(f"byte {at}: a message of {length} bytes does not end in the file")
        yield at, data[begin : begin + length]
        at = begin + length


def fields_of(message: memoryview) -> Iterator[Field]:
    """Yield the fields of a message, in order.

    Raises
    ------
    UsageError
        The bytes end within a field, or the field's kind is unknown.
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
    """Yield the numbers of a repeated field, single or packed."""
    if isinstance(value, int):
        yield value
        return
    at = 0
    while at < len(value):
        number, at = number_at(value, at)
        yield number


def signed(value: int) -> int:
    """Return an unsigned 64-bit number as a signed one."""
    return value - (1 << 64) if value >> 63 else value


def piece(field: int, content: int | bytes) -> bytes:
    """Return the protobuf encoding of a field."""
    if isinstance(content, int):
        return varint(field << 3 | VARINT) + varint(content)
    return varint(field << 3 | BYTES) + varint(len(content)) + content


def varint(number: int) -> bytes:
    """Return the protobuf varint of an integer, seven bits per byte."""
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])
