"""``mpinet doctor``: check this host's MPI, launcher, compiler cache and memory."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from json import dumps

from mpinet.commands.doctor import DoctorOptions
from mpinet.jobs.bugreport import reported
from mpinet.launching.doctor import BAD, Examined, examine
from mpinet.report.output import Output


def act(options: DoctorOptions) -> int:
    """Run the checks and print the findings; return the exit status."""
    output, told = Output(sys.stdout, "the standard output"), _tell if options.compile else None
    examined = reported(examine(told)) if options.report else examine(told)
    if options.json:
        findings = list(examined)
        output.write(dumps([asdict(finding) for finding in findings], indent=2) + "\n")
        return _status(findings)
    findings = []
    for finding in examined:
        # A check may take seconds, so each line is printed at once.
        output.write(_line(finding))
        sys.stdout.flush()
        findings.append(finding)
    status = _status(findings)
    output.write("\nAll is well.\n" if status == 0 else "\nA check failed: see BAD.\n")
    return status


def _tell(done: int, all_of_them: int) -> None:
    """Print the number of compiled kernels: one terminal line, or every tenth kernel."""
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
