"""The journal of a long verification: each finding is written at once, to resume from.

Findings of another version of mpinet or of the user's file are passed over: their measurement may
have changed.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mpinet.claims.finding import Finding
from mpinet.experiments.journal import Journal as Lines
from mpinet.experiments.journal import version_of as version_of

Key = tuple[str, str]
"""A claim's id, and a point as it is printed."""

LONGEST = 1e9
"""Seconds that no measurement takes."""


class Journal(Lines):
    """The findings in a folder.

    Parameters
    ----------
    folder : Path
        Is made if it is not there; all ranks' hosts have to see it.
    version : str
        See `version_of`.
    rank : int
        This rank, which writes a file of its own.

    Raises
    ------
    FileError
        The folder cannot be made or written.
    """

    def __init__(self, folder: Path, version: str, rank: int):
        super().__init__(folder, f"rank-{rank}", "--journal")
        self._version = version

    def known(self) -> bytes:
        """All findings of this version, as lines."""
        return "\n".join(line for line in self.lines() if self._is_current(line)).encode()

    def _is_current(self, line: str) -> bool:
        """Return whether a line is whole, sound and of this version.

        A stopped run may leave a part of one, and an editor anything.
        """
        try:
            row = json.loads(line)
            _row(row)
            return bool(row["version"] == self._version)
        except (ValueError, KeyError, TypeError, RecursionError):
            return False

    def write(self, key: Key, finding: Finding) -> None:
        """Write a finding down at once."""
        self.add({"version": self._version, "key": key, "finding": asdict(finding)})


def findings_in(lines: bytes) -> dict[Key, Finding]:
    """Parse the lines of `known`; errors are left out, so that their points are tried again."""
    findings = dict(_row(json.loads(line)) for line in lines.splitlines())
    return {key: found for key, found in findings.items() if not found.error}


def _row(row: Any) -> tuple[Key, Finding]:
    """Parse a line into its key and finding.

    Raises
    ------
    ValueError, KeyError, TypeError
        It says what `Journal.write` never writes.
    """
    claim, point = row["key"]
    found = Finding(**row["finding"])
    kinds = (
        (row["key"], list),
        (claim, str),
        (point, str),
        (found.holds, bool),
        (found.where, dict),
        (found.out_of_reach, str),
        (found.error, str),
        (found.seconds, float | int),
    )
    if not all(isinstance(value, kind) for value, kind in kinds):
        raise TypeError("a field of another type")
    if not 0 <= found.seconds < LONGEST:
        raise ValueError("no time that a measurement takes")
    json.dumps(row, allow_nan=False)  # NaN and infinity are no findings
    return (claim, point), found
