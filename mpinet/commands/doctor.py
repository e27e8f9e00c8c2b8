"""``mpinet doctor``: what this host has for mpinet, and whether its parts belong together."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from json import dumps

from mpinet.commands.signature import command
from mpinet.launching.doctor import BAD, Finding, examine
from mpinet.report.output import Output


@command(here=True)
def doctor(*, json: bool = False) -> int:
    """Look whether MPI, launcher, compiler cache and memory are as mpinet needs them.

    Parameters
    ----------
    json : bool
        Print one JSON document.

    Returns
    -------
    int
        no document: a list of what, found, verdict (ok, note, BAD), advice.

    Examples
    --------
    ``mpinet doctor``

    ``mpinet doctor --json``
    """
    output = Output(sys.stdout, "the standard output")
    if json:
        findings = list(examine())
        output.write(dumps([asdict(finding) for finding in findings], indent=2) + "\n")
        return _status(findings)
    findings = []
    for finding in examine():
        output.write(_line(finding))
        sys.stdout.flush()
        findings.append(finding)
    status = _status(findings)
    output.write("\nAll is well.\n" if status == 0 else "\nSomething does not work: see BAD.\n")
    return status


def _status(findings: Iterable[Finding]) -> int:
    return int(any(finding.verdict == BAD for finding in findings))


def _line(finding: Finding) -> str:
    advice = f"\n      {finding.advice}" if finding.advice else ""
    return f"{finding.verdict:<4}  {finding.what:<20}  {finding.found}{advice}\n"
