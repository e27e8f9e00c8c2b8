"""Certificates as files: the document, and its proof beside it."""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from mpinet.files import require_room_beside, require_writable, whole_file, write_text


def require_certificate_file(file: Path) -> None:
    """Raise `FileError` unless a certificate can be written here, and its proof beside it."""
    require_room_beside(file)
    require_writable(_beside(file))


def write_certificate(
    file: Path, certificate: dict[str, Any], proof: Sequence[str] | None = None
) -> None:
    """Write a certificate, and the lines of its proof to a file beside it."""
    document = dict(certificate)
    if proof is not None:
        beside = _beside(file)
        packed = lzma.compress("".join(f"{line}\n" for line in proof).encode())
        with whole_file(beside) as written:
            written.write(packed)
        document |= {"proof": beside.name, "proof_sha256": sha256(packed).hexdigest()}
    write_text(file, json.dumps(document) + "\n")


def _beside(file: Path) -> Path:
    """Where a certificate's proof lies."""
    return file.with_name(f"{file.stem}.lrat.xz")
