"""``mpinet doctor``: what this host has for mpinet, and whether its parts belong together."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict

from mpinet.launching.doctor import BAD, Finding, examine
from mpinet.report.output import Output


def add_options(parser: argparse.ArgumentParser) -> None:
    """How it is printed."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def act(options: argparse.Namespace) -> int:
    """Examine the host; 1 if something does not work."""
    output = Output(sys.stdout, "the standard output")
    if options.json:
        findings = list(examine())
        output.write(json.dumps([asdict(finding) for finding in findings], indent=2) + "\n")
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
