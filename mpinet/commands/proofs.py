"""Certificates as files: the document, and its proof beside it."""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from mpinet.report.files import write_text


def write_certificate(
    file: Path, certificate: dict[str, Any], proof: Sequence[str] | None = None
) -> None:
    """Write a certificate, and the lines of its proof to a file beside it."""
    document = dict(certificate)
    if proof is not None:
        beside = file.with_name(f"{file.stem}.lrat.xz")
        packed = lzma.compress("".join(f"{line}\n" for line in proof).encode())
        beside.write_bytes(packed)
        document |= {"proof": beside.name, "proof_sha256": sha256(packed).hexdigest()}
    write_text(file, json.dumps(document) + "\n")
