"""Certificates as theorems for Coq: the network, the numbers, and one line that is computed.

The definitions of a machine, and the proofs that such numbers show a bound, are those of
``tests/proofs``. A certificate by cuts says who belongs to a set from which step on, as what a
scatter brings does backwards; one of distances is the cut that grows by a hop in each step.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mpinet.base.files import read_bytes, write_text
from mpinet.certify.certificate import MOST_BYTES, Verified, waits
from mpinet.certify.claims import Claim, WidthClaim
from mpinet.certify.dimacs import proof_of
from mpinet.certify.network import Network
from mpinet.errors import CertificateError
from mpinet.networks.topology import Topology

COPYING = ("broadcast", "gossip", "scatter", "gather")
"""Collectives that `tests/proofs/Machine.v` defines."""


@dataclass
class Cuts:
    """Sets of nodes that items have to leave, and who charges for it.

    Attributes
    ----------
    sets : list of (list of int, int)
        Step after which each node belongs to the set, above all steps for never; and its weight.
    sends, accepts : dict of (int, int) to int
        Charge of a step and node for a message; steps from 0.
    """

    sets: list[tuple[list[int], int]]
    sends: dict[tuple[int, int], int] = field(default_factory=dict)
    accepts: dict[tuple[int, int], int] = field(default_factory=dict)


def export(file: Path, found: Verified, topology: Topology, target: Path) -> None:
    """Write a theorem for Coq that says what a certificate has been verified to prove.

    Parameters
    ----------
    file : Path
        The certificate.
    found : Verified
        What it proves.
    topology : Topology
        The network that it is about.
    target : Path
        File for the theorem.

    Raises
    ------
    CertificateError
        It is of a collective or kind that ``tests/proofs`` has no theorem for.
    OutputError
        The file cannot be written.
    """
    document = json.loads(read_bytes(file, MOST_BYTES))
    lines = _theorem(file, document, found.claim, Network.of(topology))
    write_text(target, "".join(f"{line}\n" for line in lines))


def _theorem(
    file: Path, document: dict[str, Any], claim: Claim | WidthClaim, network: Network
) -> Iterator[str]:
    if not isinstance(claim, Claim):
        raise CertificateError("it is of a bisection width, and theorems are of steps.")
    if claim.collective not in COPYING:
        raise CertificateError(f"theorems are for {', '.join(COPYING)}, not {claim.collective}.")
    yield f"(* {claim.collective} on a network with edges_sha256 {network.edges_sha256} *)"
    yield "From Mpinet Require Import Machine Cuts Formula."
    if document["kind"] == "lrat" and claim.items == 1:
        yield from _of_proof(file, document, claim, network)
        return
    cuts = cuts_of(document, claim, network)
    yield from _network(network)
    yield "Definition cuts : list cut := ["
    yield ";\n".join(
        f"  Cut (table {claim.more_than + 1} {_rows(enumerate(joins))}) {weight}"
        for joins, weight in cuts.sets
    )
    yield "]."
    for name, charges in [("sends", cuts.sends), ("accepts", cuts.accepts)]:
        rows = ((step * network.size + node, each) for (step, node), each in charges.items())
        yield f"Definition {name} := in_step net (table 0 {_rows(rows)})."
    yield from _claim(claim, "cuts_show net _ _ cuts sends accepts")


def cuts_of(document: dict[str, Any], claim: Claim, network: Network) -> Cuts:
    """Return the cuts that a certificate rests on.

    Raises
    ------
    CertificateError
        It rests on none, or on cuts over busses.
    """
    writer = {"cut": _of_cut, "cuts": _of_weights, "distance": _of_distance}.get(document["kind"])
    cuts = writer(document, claim, network) if writer and network.links else None
    if cuts is None:
        raise CertificateError(
            f"its kind ({document['kind']} of {claim.collective}) rests on no cuts over links "
            "to export."
        )
    return cuts


def _of_proof(
    file: Path, document: dict[str, Any], claim: Claim, network: Network
) -> Iterator[str]:
    """Write the distances and the proof's lines, which Coq follows on a formula of its own."""
    assert claim.root is not None
    yield from _network(network)
    yield f"Definition away := table 0 {_rows(enumerate(network.distances(claim.root)))}."
    yield "Definition proof : list line := ["
    with proof_of(file, document) as proof:
        yield ";\n".join(_line(line.decode().split()) for line in proof)
    yield "]."
    wires = str(network.links).lower()
    yield from _claim(claim, f"replay_shows net _ _ away {wires} proof")


def _line(words: list[str]) -> str:
    if words[1] == "d":
        return f"  Forget [{'; '.join(words[2:-1])}]%positive"
    end = words.index("0", 1)
    literals, hints = "; ".join(words[1:end]), "; ".join(words[end + 1 : -1])
    return f"  Add {words[0]} [{literals}]%Z [{hints}]%positive"


def _network(network: Network) -> Iterator[str]:
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
    ends = (
        f"({node}, {other}, {network.parallel.get((node, other), 1)})"
        for node, others in enumerate(network.neighbors)
        for other in others
    )
    yield f"Definition net := links {network.size} {network.hosts} [{'; '.join(ends)}]."


def _claim(claim: Claim, by: str) -> Iterator[str]:
    place = "" if claim.collective == "broadcast" else " net"
    place += "" if claim.root is None else f" {claim.root}"
    many = f" {claim.items}" if claim.collective in ("broadcast", "gossip") else ""
    task = f"({claim.collective}{place}{many})"
    yield f"Theorem bound : takes_more_than net {claim.ports.title()} {task} {claim.more_than}%nat."
    yield f"Proof. apply ({by}). vm_cast_no_check (eq_refl true). Qed."
    yield "Print Assumptions bound."


def _rows(rows: Iterable[tuple[int, int]]) -> str:
    return f"[{'; '.join(f'({key}, {value})' for key, value in rows)}]"


def _of_cut(document: dict[str, Any], claim: Claim, network: Network) -> Cuts | None:
    if "since" in document:
        return _of_since(document, claim)
    if "parts" not in document or claim.collective != "gossip":
        return None
    parts = document["parts"]
    sets = [([0 if at != part else -1 for at in parts], 1) for part in sorted({*parts} - {-1})]
    gates = [dict.fromkeys(document.get(name) or [], 1) for name in ("senders", "receivers")]
    return _constant(claim, sets, *gates)


def _of_weights(document: dict[str, Any], claim: Claim, network: Network) -> Cuts:
    sets = [
        ([-1 if node in cut["nodes"] else 0 for node in range(network.size)], cut["weight"])
        for cut in document["cuts"]
    ]
    return _constant(
        claim, sets, *(dict(enumerate(document[name])) for name in ("sends", "accepts"))
    )


def _constant(claim: Claim, sets: list[tuple[list[int], int]], *charges: dict[int, int]) -> Cuts:
    """Return cuts whose sets never grow (-1: never inside), with the same charges in all steps."""
    steps, never = range(claim.more_than), claim.more_than + 1
    outside = [([at if at >= 0 else never for at in joins], weight) for joins, weight in sets]
    over = [{(step, node): e for node, e in each.items() for step in steps} for each in charges]
    return Cuts(outside, *over)


def _of_since(document: dict[str, Any], claim: Claim) -> Cuts:
    steps = claim.more_than
    joins = [steps + 1 if at < 0 else at for at in document["since"]]
    gates = [document.get(name) or [] for name in ("senders", "receivers")]
    charges = [{(step - 1, node): 1 for node, step in moments} for moments in gates]
    if claim.collective != "scatter":
        return Cuts([(joins, 1)], *charges)
    backwards = [{(steps - 1 - step, node): 1 for step, node in each} for each in charges]
    return Cuts([([max(0, steps + 1 - at) for at in joins], 1)], *reversed(backwards))


def _of_distance(document: dict[str, Any], claim: Claim, network: Network) -> Cuts:
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
    return Cuts([(joins, 1)], charged)
