"""Jobs that prove a bound, and certificates as files: the document, and its proof beside it."""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from mpinet.commands.job import Job
from mpinet.errors import UsageError
from mpinet.files import require_room_beside, require_writable, whole_file, write_text
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.measure.optimum.selfcheck import SelfCheck


def require_certificate_file(file: Path) -> None:
    """Raise `FileError` unless a certificate can be written here, and its proof beside it."""
    require_room_beside(file)
    require_writable(_beside(file))


class Search(Protocol):
    """What a search for a bound leaves."""

    certificate: dict[str, Any]
    proof: list[str] | None
    selfcheck: SelfCheck


class ProvingJob(Job):
    """A job with a bound from below, which counts where the checker accepts its certificate."""

    @staticmethod
    def refusals(found: list[Row]) -> Row:
        """The field of a result for bounds that the checker refused; none where there are none."""
        return {"refused": found} if found else {}

    @staticmethod
    def save_certificate(file: str | None, search: Search, missing: str) -> None:
        """Write a search's certificate where it is wanted.

        Parameters
        ----------
        file : str or None
            Where; a proof lies beside it.
        search : Search
            What was found; where nothing is left of it but what the checker refused, nothing is
            written, and the refusals say so.
        missing : str
            The sentence on why there is no certificate.

        Raises
        ------
        UsageError
            There is none, though nothing was refused.
        """
        if file is None:
            return
        if search.certificate:
            write_certificate(Path(file), search.certificate, search.proof)
        elif not search.selfcheck.refused:
            raise UsageError(missing)

    def shortfall(self, result: Row) -> str:
        """The sentences on what could not be shown, and on a result that is not correct."""
        sentences = [
            f"Not shown: a bound of {each['lower']} by {each['by']}. The search found it, its own "
            f"check refuses it, and the result above does not rest on it: {each['reason']}"
            for each in result.get("refused", [])
        ]
        return " ".join(filter(None, [*sentences, super().shortfall(result)]))


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
