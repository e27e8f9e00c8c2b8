"""Findings as objects of a document, as text, and as a SARIF file."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from mpinet.base.version import __version__
from mpinet.mpi.checks.findings import Finding

Row = dict[str, Any]


def finding_row(finding: Finding, strict: bool) -> Row:
    """Return a finding of the checks as the object of a document; `strict` makes it an error."""
    places = [{"call": call, "file": file, "line": line} for call, file, line in finding.places]
    severity = "error" if strict else finding.severity
    return asdict(finding) | {"places": places, "severity": severity}


def findings_text(findings: list[Row]) -> str:
    """Format the findings of the checks, each with the rule and the correction."""
    if not findings:
        return "checks: no findings"
    lines = []
    for row in findings:
        times = f" [{row['times']} times]" if row["times"] > 1 else ""
        rule = f"{row['kind']}, MPI 4.1 section {row['section']}"
        lines += [f"  {row['severity']}: {row['message']}{times}", f"    {row['fix']} ({rule})"]
    return "\n".join(["findings of the checks:", *lines])


def sarif(findings: list[Row]) -> str:
    """Return findings in the format SARIF 2.1.0."""
    rules = {row["kind"]: row for row in findings}
    described = [
        {
            "id": name,
            "help": {"text": row["fix"]},
            "shortDescription": {"text": f"MPI 4.1, section {row['section']}"},
        }
        for name, row in sorted(rules.items())
    ]
    results = [
        {
            "ruleId": row["kind"],
            "level": row["severity"],
            "message": {"text": f"{row['message']} {row['fix']}"},
            "locations": [_location(place) for place in row["places"][:1]],
            "relatedLocations": [_location(place) for place in row["places"][1:]],
        }
        for row in findings
    ]
    driver = {"name": "mpinet", "version": __version__, "rules": described}
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return json.dumps(document, indent=2) + "\n"


def _location(place: Row) -> Row:
    """Return the location of a call in SARIF."""
    region = {"startLine": place["line"]}
    return {"physicalLocation": {"artifactLocation": {"uri": place["file"]}, "region": region}}
