"""Export of certificates as Coq theorems: the network, the numbers, and a computed proof.

``tests/proofs`` contains the definitions of a machine, and the proofs that such numbers imply a
bound. A certificate by cuts gives, for each node, the step from which on it belongs to a set; a
scatter is handled backwards. A certificate of distances becomes a cut that grows by one hop per
step. Reductions become broadcasts on the reversed network. In an exchange, items enter parts on
their paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mpinet.base.files import write_text
from mpinet.certify.certificate import Verified, waits
from mpinet.certify.claims import BoundClaim
from mpinet.certify.cuts import entered
from mpinet.certify.dimacs import proof_of
from mpinet.certify.network import Network
from mpinet.errors import CertificateError

COPYING = ("broadcast", "gossip", "scatter", "gather")
"""Collectives with copies of items on their way, as defined in `tests/proofs/Machine.v`."""

COMBINING = {"reduce": "broadcast", "reducescatter": "gossip"}
"""Collectives that combine items, each with its reverse; proved in `Reversal.v`.

`Reversal.v` also proves: an allreduce includes a broadcast of the contribution of any processor.
"""


@dataclass
class ChargedCuts:
    """Sets of nodes that items must leave, and the charges of nodes for messages."""

    sets: list[tuple[list[int], int]]
    """For each set: the step after which each node belongs to it (beyond the last step: never), and
    the set's weight.
    """
    sends: dict[tuple[int, int], int] = field(default_factory=dict)
    """Charge of each (step, node) for sending a message; steps from 0."""
    accepts: dict[tuple[int, int], int] = field(default_factory=dict)
    """Charge of each (step, node) for accepting a message; steps from 0."""


def export(found: Verified, target: Path) -> None:
    """Write a Coq theorem that states the verified claim.

    Raises
    ------
    CertificateError
        ``tests/proofs`` has no theorem for this collective or kind.
    OutputError
        The file cannot be written.
    """
    write_text(target, "".join(f"{line}\n" for line in _theorem(found)))


def _theorem(found: Verified) -> Iterator[str]:
    claim, network, kind = found.claim, found.network, found.kind
    if not isinstance(claim, BoundClaim):
        raise CertificateError(
            "the certificate is about a bisection width, but theorems are about steps."
        )
    backwards, lead = claim.collective in COMBINING, ""
    on = "(reverse net)" if backwards else "net"
    if backwards:
        lead = "apply backwards_shows; [|"
    spread = {**COMBINING, "allreduce": "broadcast"}.get(claim.collective, claim.collective)
    yield f"(* {claim.collective} on a network with edges_sha256 {network.edges_sha256} *)"
    yield "From Mpinet Require Import Machine Cuts Ways Reversal Formula."
    if kind == "lrat" and claim.items == 1:
        yield from _network(network, backwards)
        yield from _proof(found, claim)
        by = f"replay_shows {on} _ _ away {str(network.links).lower()} proof"
    else:
        cuts = cuts_of(found.document, replace(claim, collective=spread), network)
        yield from _network(network, backwards)
        yield from _cuts(cuts, claim, network)
        by = f"cuts_show {on} _ _ cuts sends accepts"
        if claim.collective == "exchange" and kind == "cut":
            yield from _ways(found.document["parts"], network)
            needed = f"(fun i => i / {claim.items} mod hosts net)"
            by = f"ways_show net _ _ cuts sends accepts away {needed}"
        if claim.collective == "allreduce":
            lead = f"apply (allreduce_shows net _ {cuts.sets[0][0].index(0)}); [reflexivity|"
    yield from _claim(claim, lead, by)


def _cuts(cuts: ChargedCuts, claim: BoundClaim, network: Network) -> Iterator[str]:
    yield "Definition cuts : list cut := ["
    yield ";\n".join(
        f"  Cut (table {claim.more_than + 1} {_rows(enumerate(joins))}) {weight}"
        for joins, weight in cuts.sets
    )
    yield "]."
    for name, charges in [("sends", cuts.sends), ("accepts", cuts.accepts)]:
        rows = ((step * network.size + node, each) for (step, node), each in charges.items())
        yield f"Definition {name} := in_step net (table 0 {_rows(rows)})."


def _ways(parts: list[int], network: Network) -> Iterator[str]:
    """Yield a Coq table: the least number of parts entered on a path between two nodes."""
    rows = (
        (source * network.size + node, many)
        for source in range(network.hosts)
        for node, many in entered(network, parts, source).items()
    )
    yield f"Definition away := in_step net (table 0 {_rows(rows)})."


def cuts_of(document: dict[str, Any], claim: BoundClaim, network: Network) -> ChargedCuts:
    """Return the cuts and charges on which a certificate is based.

    Raises
    ------
    CertificateError
        The certificate is not based on cuts, or its cuts are over busses.
    """
    writer = {"cut": _of_cut, "cuts": _of_weights, "distance": _of_distance}.get(document["kind"])
    cuts = writer(document, claim, network) if writer and network.links else None
    if cuts is None:
        kind = f"{document['kind']} of {document['claim']['collective']}"
        raise CertificateError(
            f"the kind ({kind}) is not based on cuts over links, so there is nothing to export."
        )
    return cuts


def _proof(found: Verified, claim: BoundClaim) -> Iterator[str]:
    """Yield Coq definitions of the distances and the proof's lines, for Coq's own formula."""
    assert claim.root is not None
    yield f"Definition away := table 0 {_rows(enumerate(found.network.distances(claim.root)))}."
    yield "Definition proof : list line := ["
    with proof_of(found) as proof:
        yield ";\n".join(_line(line.decode().split()) for line in proof)
    yield "]."


def _line(words: list[str]) -> str:
    if words[1] == "d":
        return f"  Forget [{'; '.join(words[2:-1])}]%positive"
    end = words.index("0", 1)
    literals, hints = "; ".join(words[1:end]), "; ".join(words[end + 1 : -1])
    return f"  Add {words[0]} [{literals}]%Z [{hints}]%positive"


def _network(network: Network, backwards: bool) -> Iterator[str]:
    """Yield the network in Coq; its reverse then has the channel order of all other networks."""
    if not network.links:
        heard = sorted(
            (node, [v for v in bus if v != node], place)
            for place, bus in enumerate(network.busses)
            for node in bus
            if len(bus) > 1
        )
        written = (f"Channel {u} [{'; '.join(map(str, v))}] {bus}" for u, v, bus in heard)
        yield f"Definition net := Network {network.size} {network.hosts}"
        yield f"  [{'; '.join(written)}] (fun _ => 1)."
        return
    listed = ((u, v) for u, others in enumerate(network.neighbors) for v in others)
    turned = ((v, u) if backwards else (u, v) for u, v in listed)
    ends = (f"({u}, {v}, {network.parallel.get((u, v), 1)})" for u, v in turned)
    yield f"Definition net := links {network.size} {network.hosts} [{'; '.join(ends)}]."


def _claim(claim: BoundClaim, lead: str, by: str) -> Iterator[str]:
    place = " net" if claim.root is None or claim.collective in ("scatter", "gather") else ""
    place += "" if claim.root is None else f" {claim.root}"
    many = "" if claim.collective in ("scatter", "gather") else f" {claim.items}"
    words, task = "takes_more_than", f" ({claim.collective}{place}{many})"
    if claim.collective == "allreduce":
        words, task = f"allreduce_{words}", many
    elif lead:
        words = f"combining_{words}"
    applied = f"{lead}apply ({by}){'];' if lead else '.'}"
    yield f"Theorem bound : {words} net {claim.ports.title()}{task} {claim.more_than}%nat."
    yield f"Proof. {applied} vm_cast_no_check (eq_refl true). Qed."
    yield "Print Assumptions bound."


def _rows(rows: Iterable[tuple[int, int]]) -> str:
    return f"[{'; '.join(f'({key}, {value})' for key, value in rows)}]"


def _of_cut(document: dict[str, Any], claim: BoundClaim, network: Network) -> ChargedCuts | None:
    if "since" in document:
        return _of_since(document, claim)
    if "parts" not in document or claim.collective not in ("gossip", "exchange"):
        return None
    parts = document["parts"]
    sets = [([0 if at != part else -1 for at in parts], 1) for part in sorted({*parts} - {-1})]
    gates = [dict.fromkeys(document.get(name) or [], 1) for name in ("senders", "receivers")]
    return _constant(claim, sets, *gates)


def _of_weights(document: dict[str, Any], claim: BoundClaim, network: Network) -> ChargedCuts:
    sets = [
        ([-1 if node in cut["nodes"] else 0 for node in range(network.size)], cut["weight"])
        for cut in document["cuts"]
    ]
    return _constant(
        claim, sets, *(dict(enumerate(document[name])) for name in ("sends", "accepts"))
    )


def _constant(
    claim: BoundClaim, sets: list[tuple[list[int], int]], *charges: dict[int, int]
) -> ChargedCuts:
    """Return cuts with sets that never grow (-1: never inside), with equal charges in all steps."""
    steps, never = range(claim.more_than), claim.more_than + 1
    outside = [([at if at >= 0 else never for at in joins], weight) for joins, weight in sets]
    over = [{(step, node): e for node, e in each.items() for step in steps} for each in charges]
    return ChargedCuts(outside, *over)


def _of_since(document: dict[str, Any], claim: BoundClaim) -> ChargedCuts:
    steps = claim.more_than
    joins = [steps + 1 if at < 0 else at for at in document["since"]]
    gates = [document.get(name) or [] for name in ("senders", "receivers")]
    charges = [{(step - 1, node): 1 for node, step in moments} for moments in gates]
    if claim.collective != "scatter":
        return ChargedCuts([(joins, 1)], *charges)
    backwards = [{(steps - 1 - step, node): 1 for step, node in each} for each in charges]
    return ChargedCuts([([max(0, steps + 1 - at) for at in joins], 1)], *reversed(backwards))


def _of_distance(document: dict[str, Any], claim: BoundClaim, network: Network) -> ChargedCuts:
    def last(source: int) -> int:
        return waits(claim, network, source) + max(network.distances(source)[: network.hosts])

    if claim.collective == "gather":
        away = network.distances(claim.root or 0)[: network.hosts]
        source = away.index(max(away))
    else:
        source = max(range(network.hosts), key=last) if claim.root is None else claim.root
    wait, never = waits(claim, network, source), claim.more_than + 1
    joins = [min(never, wait + far) if far else 0 for far in network.distances(source)]
    charged = {(step, source): 1 for step in range(wait)} if claim.ports == "one" else {}
    return ChargedCuts([(joins, 1)], charged)
