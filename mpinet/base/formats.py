"""Formats of files of others: what tells them, and the one way to find a file's in a table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

HEAD = 1 << 16
"""Bytes in which a file tells its format."""

MARK, WIDE = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
"""First bytes of texts in UTF-8, which need none, and in UTF-16."""


@dataclass(frozen=True)
class Format:
    """A format of files; rooms derive theirs, with what reads and writes it."""

    name: str
    """Name of the format in sentences and results."""
    begins: bytes = b""
    """Regular expression that the first 64 kB of such a file match (`re.search`); empty: none."""
    endings: tuple[str, ...] = ()
    """Endings of names that tell it."""


Known = TypeVar("Known", bound=Format)


def format_of(formats: Iterable[Known], path: Path, data: bytes) -> Known | None:
    """Find the first format that a file's ending or contents tell, if any."""
    head = data[:HEAD].removeprefix(MARK)
    if head.startswith(WIDE):
        head = head.decode("utf-16", errors="ignore").encode()
    for format in formats:
        ending = path.suffix.lower() in format.endings
        if ending or (format.begins and re.search(format.begins, head)):
            return format
    return None


def refusal(formats: Iterable[Format]) -> str:
    """Say, behind a subject, that a file is in none of the formats."""
    known = [*formats]
    told = ", ".join(dict.fromkeys(format.name for format in known if format.begins))
    endings = ", ".join(ending for format in known for ending in format.endings if ending)
    return f"is none of those that contents tell ({told}), and its name does not end in {endings}."
