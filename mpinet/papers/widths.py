"""The words on certificates in the rows about bisection widths."""

from __future__ import annotations

from typing import Any

CERTIFICATE = "mpinet optimum bisection {topology} --save proof.cert && mpinet certify proof.cert"
"""Commands that show, without trusting a search, that no cut into halves parts fewer links."""

CERTIFIED = (
    "A width is certified where it is exact: mpinet optimum bisection TOPOLOGY --save proof.cert "
    "&& mpinet certify proof.cert."
)
"""The note of rows of which some, or all, rest on it that no cut is narrower."""


def certified(topology: str, where: dict[str, Any]) -> dict[str, Any]:
    """Return what is known of a width, and the commands that certify it."""
    return where | {"certificate": CERTIFICATE.format(topology=topology)}
