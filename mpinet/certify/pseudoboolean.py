"""Export of cuts as pseudo-Boolean constraints, with their refutation as a proof for VeriPB.

A variable states that an item crosses a channel in a step; each parallel link has its own variable.
For each cut, a constraint states the number of items that must leave its set. With one port,
further constraints limit each node to one sent and one accepted item per step. The proof is one
line: the sum of weights times cuts, charges times ports, and the remainder at each variable is a
contradiction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from mpinet.base.files import write_text
from mpinet.certify.certificate import Verified
from mpinet.certify.claims import BoundClaim
from mpinet.certify.coq import COPYING, cuts_of
from mpinet.certify.network import Network
from mpinet.errors import CertificateError

Terms = Iterable[tuple[int, int]]
"""Pairs of a coefficient and a variable, numbered from 1."""


def export(found: Verified, target: Path) -> None:
    """Write the constraints (OPB), and next to them the refutation with the ending ``.pbp``.

    Raises
    ------
    CertificateError
        The collective or kind has no cuts over links.
    OutputError
        A file cannot be written.
    """
    claim, network = found.claim, found.network
    if not isinstance(claim, BoundClaim) or claim.collective not in COPYING:
        raise CertificateError(f"constraints are only for cuts of {', '.join(COPYING)}.")
    cuts = cuts_of(found.document, claim, network)
    moves = [
        (step, node, other)
        for step in range(claim.more_than)
        for node, others in enumerate(network.neighbors)
        for other in others
        for _ in range(network.parallel.get((node, other), 1))
    ]
    worth = [0] * (len(moves) + 1)
    lines, proof = list[str](), list[str]()

    def add(terms: Terms, least: int, times: int) -> None:
        """Add a constraint to the file, and `times` times the constraint to the sum."""
        kept = list(terms)
        lines.append(" ".join(f"{c:+d} x{x}" for c, x in kept) + f" >= {least} ;")
        for coefficient, variable in kept if times else ():
            worth[variable] += times * coefficient
        proof.extend([str(len(lines)), str(times), "*", "+"] if times else [])

    for joins, weight in cuts.sets:
        crossing = [
            (1, at)
            for at, (step, node, other) in enumerate(moves, 1)
            if joins[node] <= step and joins[other] > step + 1
        ]
        if crossing or weight:
            add(crossing or [(0, 1)], _leaving(claim, network, joins), weight)
    for charges, end in [(cuts.sends, 1), (cuts.accepts, 2)] if claim.ports == "one" else ():
        through = defaultdict[tuple[int, int], list[tuple[int, int]]](list)
        for at, move in enumerate(moves, 1):
            through[move[0], move[end]].append((-1, at))
        for place, charge in charges.items():
            if place in through and charge:
                add(through[place], -1, charge)
    for variable, left in enumerate(worth):
        if left:
            literal = f"~x{variable}" if left > 0 else f"x{variable}"
            proof.extend([literal, str(abs(left)), "*", "+"])
    head = f"* #variable= {len(moves)} #constraint= {len(lines)}"
    write_text(target, "\n".join([head, *lines, ""]))
    summed = " ".join(proof[:3] + proof[4:])
    steps = [f"f {len(lines)}", f"p {summed}", f"c {len(lines) + 1}"]
    text = "\n".join(["pseudo-Boolean proof version 1.0", *steps, ""])
    write_text(target.with_suffix(".pbp"), text)


def _leaving(claim: BoundClaim, network: Network, joins: list[int]) -> int:
    """Return the number of items in the set at the beginning and needed outside at the end."""
    inside = [at == 0 for at in joins[: network.hosts]]
    outside = sum(at > claim.more_than for at in joins[: network.hosts])
    if claim.root is None:
        return claim.items * sum(inside) * (outside > 0)
    if claim.collective == "gather":
        return sum(inside) * (joins[claim.root] > claim.more_than)
    return inside[claim.root] * (
        outside if claim.collective == "scatter" else claim.items * (outside > 0)
    )
