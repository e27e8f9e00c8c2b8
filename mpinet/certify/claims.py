"""Claims of certificates, read from untrusted files and validated field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mpinet.certify.integers import are_integers, is_integer
from mpinet.errors import CertificateError

Groups = tuple[tuple[int, ...], ...]
"""The processors of each group, in the order of their ranks."""

# Formulas and loops grow with the claimed steps. The bounds keep a claim of a few bytes from
# demanding hours of work.
MOST_STEPS = 2**20

MOST_LINKS = 2**24

MOST_ITEMS = 2**20

SPREADING = ("broadcast", "reduce")
"""Collectives of the certificates by counting and by formulas."""

ROOTED = (*SPREADING, "scatter", "gather")
"""Collectives with a root."""

ROOTLESS = ("gossip", "exchange", "allreduce", "reducescatter")
"""Collectives without a root."""

PIPELINED = (*SPREADING, *ROOTLESS)
"""Collectives with support for several items."""


@dataclass(frozen=True)
class BoundClaim:
    """Claim of a certificate: a collective on a network takes more than a number of steps."""

    collective: str
    """Name of the collective."""
    ports: str
    """Ports used by a processor in a step: ``"one"`` or ``"all"``."""
    root: int | None
    """Root of the collective; None for gossip and exchange, which have no root."""
    more_than: int
    """Number of steps claimed to be insufficient."""
    items: int = 1
    """Items of the root, of each processor (gossip), of each pair (exchange), or to be combined."""
    steps: int | None = None
    """Number of steps over which the rounds are distributed, for claims on rounds
    (`mpinet.certify.prices`); otherwise None.
    """
    groups: Groups | None = None
    """Processors of each group by rank, if several groups take part at once; the root is a rank."""

    @property
    def one_port(self) -> bool:
        """True if a processor sends and accepts one message per step."""
        return self.ports == "one"


@dataclass(frozen=True)
class WidthClaim:
    """Claim of a certificate: every bisection cuts more than a number of links."""

    more_than: int
    """Number of links, or busses, claimed to be exceeded by every bisection."""
    parted: int
    """Number of links or busses cut by the bisection in the certificate."""
    medium: str
    """``"links"`` or ``"busses"``."""


def is_of_width(claim: object) -> bool:
    """Return whether a claim is about a bisection width."""
    if not isinstance(claim, dict) or "measure" not in claim:
        return False
    # Unknown fields are refused, not ignored. A field added by a later version may weaken the
    # claim, and an old checker must not accept it.
    if set(claim) != {"measure", "more_than"} or claim["measure"] != "bisection":
        raise CertificateError(
            'the claim must have exactly the fields measure ("bisection") and more_than.'
        )
    more = claim["more_than"]
    if not is_integer(more, 0, MOST_LINKS - 1):
        raise CertificateError(f"the claim's more_than is not a number 0..{MOST_LINKS - 1}.")
    return True


def read_claim(document: dict[str, Any]) -> BoundClaim:
    """Parse a claim about steps; raise `CertificateError` if it is invalid."""
    claim = document.get("claim")
    names = {"collective", "ports", "root", "more_than"}
    if not isinstance(claim, dict) or set(claim) - {"items", "steps", "groups"} != names:
        raise CertificateError(
            "the claim must have the fields collective, ports, root and more_than."
        )
    if claim["collective"] not in ROOTED + ROOTLESS:
        known = ", ".join(ROOTED + ROOTLESS)
        raise CertificateError(f"the claim's collective is unknown: known are {known}.")
    if claim["collective"] in ROOTLESS and claim["root"] is not None:
        raise CertificateError(f"the claim names a root, but {claim['collective']} has no root.")
    items = claim.get("items", 1)
    if not is_integer(items, 1, MOST_ITEMS):
        raise CertificateError(f"the claim's items are not a number 1..{MOST_ITEMS}.")
    # Rounds and steps are different units. A claim about rounds must be marked, or its number would
    # be read as steps.
    of_rounds = document.get("kind") == "prices"
    if of_rounds != ("steps" in claim) or (of_rounds and type(claim["steps"]) is not int):
        raise CertificateError(
            "the claim names a number of steps if and only if its kind is prices."
        )
    # With groups, the root is a rank within a group instead of a node. Any other kind would read
    # the number wrongly.
    groups = _groups(claim, document.get("kind"))
    if items > 1 and not of_rounds and claim["collective"] not in PIPELINED:
        raise CertificateError(f"several items are only for {', '.join(PIPELINED)}.")
    for name in ("root", "more_than") if claim["collective"] in ROOTED else ("more_than",):
        value = claim[name]
        if not is_integer(value, 0, MOST_STEPS - 1):
            raise CertificateError(f"the claim's {name} is not a number 0..{MOST_STEPS - 1}.")
    if claim["ports"] not in ("one", "all"):
        raise CertificateError('the claim\'s ports are neither "one" nor "all".')
    return BoundClaim(**{**claim, "groups": groups})


def _groups(claim: dict[str, Any], kind: object) -> Groups | None:
    """Parse the groups of a claim about simultaneous collectives."""
    if (kind == "joint") != ("groups" in claim):
        raise CertificateError("the claim names groups if and only if its kind is joint.")
    if "groups" not in claim:
        return None
    given, most = claim["groups"], MOST_STEPS - 1
    whole = isinstance(given, list) and all(are_integers(group, 0, most) for group in given)
    if not whole or not all(given) or not given:
        raise CertificateError("the claim's groups are not lists of processors.")
    # A processor in two groups would count twice among the messages into a set, and the bound would
    # be too large.
    every = [member for group in given for member in group]
    if len(set(every)) < len(every):
        raise CertificateError("the claim's groups contain a processor twice.")
    return tuple(tuple(group) for group in given)
