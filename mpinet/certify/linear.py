"""Export of class certificates as integer linear programs for the number of informed processors.

The rows are the rows of `mpinet.certify.counting`, named by their numbers, without trivially
satisfied rows. No class is informed more often than it has members. The objective is the number of
informed processors, to be maximized. The optimum is below the number of processors without the
root, so no schedule informs all of them. Any solver of the fractional program can confirm this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from mpinet.base.files import write_text
from mpinet.certify.certificate import Verified, of_last
from mpinet.certify.claims import BoundClaim
from mpinet.certify.counting import CountedClasses, Variable, read_classes
from mpinet.errors import CertificateError


def export(found: Verified, target: Path) -> None:
    """Write the linear program of a verified certificate, in the LP format.

    Raises
    ------
    CertificateError
        The certificate has no class program.
    OutputError
        The file cannot be written.
    """
    claim = found.claim
    if found.kind != "class-lp" or not isinstance(claim, BoundClaim) or claim.root is None:
        raise CertificateError(f"the kind is {found.kind}, but only class-lp has a linear program.")
    steps = of_last(claim)
    classes = read_classes(found.network, claim.root, found.document["classes"])
    about = f"{claim.collective} of one item from {claim.root} on {found.name}, one port"
    others = f"how many of {found.network.hosts - 1} processors are told in {steps} steps"
    lines = _program(CountedClasses(found.network, claim.root, steps, classes))
    write_text(target, "".join(f"{line}\n" for line in (f"\\ {about}: {others}", *lines)))


def _program(counted: CountedClasses) -> Iterator[str]:
    rows = [(equation, bound, list(terms)) for equation, bound, terms in counted.rows()]
    yield "Maximize"
    yield _line("told", [each for equation, _, terms in rows if equation for each in terms], "")
    yield "Subject To"
    for number, (_, bound, terms) in enumerate(rows):
        if terms:
            yield _line(f"r{number}", terms, f" <= {bound}")
    yield "End"


def _line(name: str, terms: list[tuple[Variable, int]], end: str) -> str:
    """Format a sum with each variable once; lines are short, because readers have limits."""
    summed = Counter[Variable]()
    for variable, coefficient in terms:
        summed[variable] += coefficient
    words = (f"{'+' if c >= 0 else '-'} {abs(c)} x_{a}_{b}_{t}" for (a, b, t), c in summed.items())
    text = f" {name}: {' '.join(words)}{end}"
    return fill(text, 200, subsequent_indent="  ", break_on_hyphens=False)
