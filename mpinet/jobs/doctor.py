"""``mpinet doctor``: what this host has for mpinet, and whether its parts belong together."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from json import dumps

from mpinet.commands.doctor import DoctorOptions
from mpinet.launching.doctor import BAD, Examined, examine
from mpinet.report.output import Output


def act(options: DoctorOptions) -> int:
    """Do it; return the exit status."""
    output, told = Output(sys.stdout, "the standard output"), _tell if options.compile else None
    if options.json:
        findings = list(examine(told))
        output.write(dumps([asdict(finding) for finding in findings], indent=2) + "\n")
        return _status(findings)
    findings = []
    for finding in examine(told):
        # An examination may take seconds, so that each line is shown as soon as it is known.
        output.write(_line(finding))
        sys.stdout.flush()
        findings.append(finding)
    status = _status(findings)
    output.write("\nAll is well.\n" if status == 0 else "\nSomething does not work: see BAD.\n")
    return status


def _tell(done: int, all_of_them: int) -> None:
    """Say how many kernels are compiled, in one line of a terminal or at every tenth of them."""
    line = f"compiled {done} of {all_of_them}"
    if sys.stderr.isatty():
        print(f"\r{line}", end="\n" if done == all_of_them else "", file=sys.stderr, flush=True)
    elif done % (all_of_them // 10 + 1) == 0:
        print(line, file=sys.stderr, flush=True)


def _status(findings: Iterable[Examined]) -> int:
    return int(any(finding.verdict == BAD for finding in findings))


def _line(finding: Examined) -> str:
    advice = f"\n      {finding.advice}" if finding.advice else ""
    return f"{finding.verdict:<4}  {finding.what:<20}  {finding.found}{advice}\n"
