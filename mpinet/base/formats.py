"""Foreign file formats: how to recognize a format, and the lookup of a file's format in a table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

HEAD = 1 << 16
"""Length in bytes of the head of a file that is searched for the format."""

MARK, WIDE = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
"""Byte order marks of text files in UTF-8 (optional) and in UTF-16."""


@dataclass(frozen=True)
class Format:
    """A file format; rooms derive their own classes with a reader and a writer."""

    name: str
    """Name of the format in sentences and results."""
    begins: bytes = b""
    """Regular expression that matches in the first 64 kB of such a file (`re.search`); empty:
    none.
    """
    endings: tuple[str, ...] = ()
    """File name endings of this format."""


Known = TypeVar("Known", bound=Format)


def format_of(formats: Iterable[Known], path: Path, data: bytes) -> Known | None:
    """Return the first format with a matching name ending or contents; None if none matches."""
    head = data[:HEAD].removeprefix(MARK)
    if head.startswith(WIDE):
        head = head.decode("utf-16", errors="ignore").encode()
    for format in formats:
        ending = path.suffix.lower() in format.endings
        if ending or (format.begins and re.search(format.begins, head)):
            return format
    return None


def refusal(formats: Iterable[Format]) -> str:
    """Return the predicate of an error sentence: the file has none of the known formats."""
    known = [*formats]
    told = ", ".join(dict.fromkeys(format.name for format in known if format.begins))
    endings = ", ".join(ending for format in known for ending in format.endings if ending)
    return f"has none of the recognized contents ({told}), and its name does not end in {endings}."
