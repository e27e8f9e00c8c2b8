"""Findings of a checked run: violations of rules, merged by rule and lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mpinet.errors import Deadlock, MpinetError
from mpinet.mpi.checks.rules import CHECKS, ERROR, FINDINGS, MOST_ALIVE, RULES
from mpinet.mpi.world.accounts import Shares, numbered

Site = tuple[str, str, int]
"""Call, file and line."""

Words = Mapping[str, str]
"""Words of a rule's sentence, by name."""

PLAIN: Words = {}
"""No words."""

MOST_NAMED = 8
"""Number of calls named in a finding."""

LEFT_OVER = ("handles", "unreceived")
"""Checks of the state at the end of a script."""


@dataclass(frozen=True)
class Finding:
    """A violation of a rule on some lines of a script."""

    rule: str
    """Check that tests the rule, one of `CHECKS`, or ``"deadlock"``."""
    kind: str
    """Name of the rule in `RULES`."""
    severity: str
    """``"error"`` or ``"warning"``."""
    section: str
    """Section of the MPI standard."""
    message: str
    """Sentence with both calls and their lines."""
    fix: str
    """Sentence on the correction."""
    places: tuple[Site, ...]
    """The calls."""
    processor: int
    """Lowest processor with this finding."""
    times: int
    """Number of violations."""


class LoggedCall(NamedTuple):
    """A call of a processor."""

    site: Site
    """The call and its line."""
    content: int
    """Checksum of the messages that the call has sent."""


class Findings:
    """The findings of this rank's processors.

    Parameters
    ----------
    checks : iterable of str
        Names of the selected checks.
    """

    def __init__(self, checks: Iterable[str] = CHECKS):
        self.checks: frozenset[str] = frozenset(checks)
        """Names of the selected checks."""
        self.left: list[tuple[tuple[int, int], int, int]] = []
        """Unreceived messages: body, receiver, and number of the sender's account."""
        self.withdrawn: set[tuple[int, int]] = set()
        """Bodies of cancelled sends."""
        self.log: dict[int, list[tuple[int, int]]] | None = None
        """Calls of each processor, each with its account number and a checksum of its messages.
        None if not logged.
        """
        self._found: dict[tuple[str, tuple[int, ...]], list[Any]] = {}

    def note(self, rule: str, processor: int, places: Sequence[int], words: Words = PLAIN) -> None:
        """Record a violation.

        Parameters
        ----------
        rule : str
            Name of the rule.
        processor : int
            The processor.
        places : sequence of int
            Numbers of the accounts of the calls.
        words : dict
            Further words of the rule's sentence.
        """
        check = RULES[rule].check
        if check and check not in self.checks:
            return
        row = self._found.setdefault((rule, tuple(places)), [processor, dict(words), {}])
        # The words of the lowest processor represent all: the first in time depends on the hosting.
        if processor < row[0]:
            row[:2] = processor, dict(words)
        row[2][processor] = row[2].get(processor, 0) + 1

    def forget(self) -> None:
        """Forget all findings, before the next test of a session."""
        self._found.clear()
        self.left.clear()

    @property
    def rows(self) -> list[list[Any]]:
        """The findings as lists, texts and numbers."""
        return [
            [rule, list(places), lowest, words, sum(times.values()), max(times.values())]
            for (rule, places), (lowest, words, times) in self._found.items()
        ]


def merged(shares: Shares, rows: Iterable[Sequence[Any]], ended: bool) -> list[Finding]:
    """Return the findings of all ranks, errors first, then by lines.

    Parameters
    ----------
    shares : sequence of sequences of Account
        The accounts of all ranks.
    rows : iterable of list
        The rows of all ranks' findings.
    ended : bool
        Whether all scripts have reached their ends. Otherwise nothing is known about open requests,
        handles and messages.
    """
    found: dict[tuple[str, tuple[Site, ...]], list[Any]] = {}
    for rule, places, processor, words, times, most in rows:
        if not ended and (RULES[rule].check in LEFT_OVER or rule == "request-not-completed"):
            continue
        # Each rank has an account of its own for a line.
        sites = tuple(dict.fromkeys(numbered(shares, number).site for number in places))
        sites = sites[:MOST_NAMED]
        row = found.setdefault((rule, sites), [processor, words, 0, 0])
        if processor < row[0]:
            row[:2] = processor, words
        row[2] += times
        row[3] = max(row[3], most)
    made = [_finding(rule, sites, *row) for (rule, sites), row in found.items()]
    return sorted(made, key=lambda one: (one.severity, one.places, one.kind))


def _finding(
    rule: str, sites: tuple[Site, ...], processor: int, words: dict[str, str], times: int, most: int
) -> Finding:
    """Return a finding with its sentence."""
    check, section, said, fix, severity = RULES[rule]
    calls = [f"{call} at {file}:{line}" for call, file, line in sites]
    message = said.format(*calls, *calls[-1:] * (2 - len(calls)), **words)
    message = message[0].upper() + message[1:]
    if check == "handles":
        message += f" ({times} created there)" if times > 1 else ""
        severity = ERROR if most > MOST_ALIVE else severity
    return Finding(
        check or rule, rule, severity, section, message + ".", fix, sites, processor, times
    )


FATAL = (
    *("invalid-argument", "invalid-request", "invalid-access"),
    *("count-exceeds-buffer", "truncation", "collective-mismatch"),
)
"""Rules whose violation can end a run."""


class CheckedEnd(MpinetError):
    """A checked run ended by an error, with the findings of all ranks on rank 0.

    Parameters
    ----------
    error : MpinetError
        The error.
    findings : list of Finding
        The findings.
    """

    def __init__(self, error: MpinetError, findings: list[Finding]):
        super().__init__(str(error))
        self.error = error
        self.findings = findings
        # A status of the script itself stays, for example of `sys.exit` or of an exception.
        mpi = isinstance(error, Deadlock) or any(one.kind in FATAL for one in findings)
        self.status = FINDINGS if mpi and error.status == 1 else error.status
