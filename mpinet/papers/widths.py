"""Texts about certificates in the rows on bisection widths."""

from __future__ import annotations

from typing import Any

CERTIFICATE = "mpinet optimum bisection {topology} --save proof.cert && mpinet certify proof.cert"
"""Commands that prove, without trust in a search, that no bisection cuts fewer links."""

CERTIFIED = (
    "A width is certified where it is exact: mpinet optimum bisection TOPOLOGY --save proof.cert "
    "&& mpinet certify proof.cert."
)
"""Note of rows that depend on the proof that no bisection is narrower."""


def certified(topology: str, where: dict[str, Any]) -> dict[str, Any]:
    """Return the witness of a width, with the commands that certify the width."""
    return where | {"certificate": CERTIFICATE.format(topology=topology)}
