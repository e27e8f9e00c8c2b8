"""Claims of certificates: a stranger's file states them, and is read and refused field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mpinet.certify.integers import are_integers, is_integer
from mpinet.errors import CertificateError

Groups = tuple[tuple[int, ...], ...]
"""The processors of each group, in the order of their ranks."""

# Formulas and loops grow with the claimed steps. The bounds keep a claim of a few bytes from asking
# for hours of work.
MOST_STEPS = 2**20

MOST_LINKS = 2**24

MOST_ITEMS = 2**20

SPREADING = ("broadcast", "reduce")
"""Collectives that certificates by counting and by formulas are about."""

ROOTED = (*SPREADING, "scatter", "gather")
"""Collectives with a root."""

ROOTLESS = ("gossip", "exchange", "allreduce", "reducescatter")
"""Collectives without one."""

PIPELINED = (*SPREADING, *ROOTLESS)
"""Collectives that may be of many items."""


@dataclass(frozen=True)
class BoundClaim:
    """Claim of a certificate: a collective on a network takes more than a number of steps."""

    collective: str
    """Name of the collective."""
    ports: str
    """Ports that a processor uses in a step: ``"one"`` or ``"all"``."""
    root: int | None
    """Root of the collective; None for gossip and exchange, which have no root."""
    more_than: int
    """Steps that are not enough."""
    items: int = 1
    """Items of the root, of each processor (gossip), of each pair (exchange), or to be combined."""
    steps: int | None = None
    """Number of steps that share the rounds, if the claim is on rounds (`mpinet.certify.prices`);
    else None."""
    groups: Groups | None = None
    """Processors of each group by rank, if several groups take part at once; the root is a rank."""

    @property
    def one_port(self) -> bool:
        """True if a processor sends and accepts one message a step."""
        return self.ports == "one"


@dataclass(frozen=True)
class WidthClaim:
    """Claim of a certificate: every cut into halves parts more than a number of links."""

    more_than: int
    """Links, or busses, that every cut into halves parts more of."""
    parted: int
    """Number of links or busses that the certificate's cut parts."""
    medium: str
    """``"links"`` or ``"busses"``."""


def is_of_width(claim: object) -> bool:
    """Tell if a claim is about a bisection width."""
    if not isinstance(claim, dict) or "measure" not in claim:
        return False
    # Unknown fields are refused, not ignored. A field that a later version adds may weaken the
    # claim, and an old checker must not accept it.
    if set(claim) != {"measure", "more_than"} or claim["measure"] != "bisection":
        raise CertificateError('its claim is not made of the measure "bisection" and more_than.')
    more = claim["more_than"]
    if not is_integer(more, 0, MOST_LINKS - 1):
        raise CertificateError(f"its claim's more_than is no number 0..{MOST_LINKS - 1}.")
    return True


def read_claim(document: dict[str, Any]) -> BoundClaim:
    """Read a claim of steps; raise `CertificateError` where it is none."""
    claim = document.get("claim")
    names = {"collective", "ports", "root", "more_than"}
    if not isinstance(claim, dict) or set(claim) - {"items", "steps", "groups"} != names:
        raise CertificateError("its claim is not made of collective, ports, root and more_than.")
    if claim["collective"] not in ROOTED + ROOTLESS:
        known = ", ".join(ROOTED + ROOTLESS)
        raise CertificateError(f"its claim is about no collective that is known: {known}.")
    if claim["collective"] in ROOTLESS and claim["root"] is not None:
        raise CertificateError(f"its claim names a root, and {claim['collective']} has none.")
    items = claim.get("items", 1)
    if not is_integer(items, 1, MOST_ITEMS):
        raise CertificateError(f"its claim's items are no number 1..{MOST_ITEMS}.")
    # Rounds and steps are different units. A claim that bounds rounds must say so, or its number
    # would be read as steps.
    of_rounds = document.get("kind") == "prices"
    if of_rounds != ("steps" in claim) or (of_rounds and type(claim["steps"]) is not int):
        raise CertificateError("its claim names a number of steps if and only if prices show it.")
    # With groups, the root is a rank within a group instead of a node. Any other kind would read
    # that number wrongly.
    groups = _groups(claim, document.get("kind"))
    if items > 1 and not of_rounds and claim["collective"] not in PIPELINED:
        raise CertificateError(f"many items are for {', '.join(PIPELINED)}.")
    for name in ("root", "more_than") if claim["collective"] in ROOTED else ("more_than",):
        value = claim[name]
        if not is_integer(value, 0, MOST_STEPS - 1):
            raise CertificateError(f"its claim's {name} is no number 0..{MOST_STEPS - 1}.")
    if claim["ports"] not in ("one", "all"):
        raise CertificateError('its claim\'s ports are neither "one" nor "all".')
    return BoundClaim(**{**claim, "groups": groups})


def _groups(claim: dict[str, Any], kind: object) -> Groups | None:
    """Read the groups of a claim about several at once."""
    if (kind == "joint") != ("groups" in claim):
        raise CertificateError("its claim names groups if and only if they are looked at together.")
    if "groups" not in claim:
        return None
    given, most = claim["groups"], MOST_STEPS - 1
    whole = isinstance(given, list) and all(are_integers(group, 0, most) for group in given)
    if not whole or not all(given) or not given:
        raise CertificateError("its claim's groups are no lists of processors.")
    # A processor in two groups would count twice among the messages that have to enter a set, which
    # makes the bound too large.
    every = [member for group in given for member in group]
    if len(set(every)) < len(every):
        raise CertificateError("its claim's groups have a processor twice.")
    return tuple(tuple(group) for group in given)
