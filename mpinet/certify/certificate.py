"""Certificates: files that claim "this takes more than T steps", and the check of each kind.

Certificates of bisection widths claim "every bisection cuts more than W links":
`mpinet.certify.halves`.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from mpinet.base.files import hash_of_file, read_bytes
from mpinet.certify.claims import SPREADING, BoundClaim, WidthClaim, is_of_width, read_claim
from mpinet.certify.clauses import Clauses, formula, formula_sha256, sized
from mpinet.certify.counting import require_contradiction
from mpinet.certify.cuts import require_cut
from mpinet.certify.halfclauses import half_formula
from mpinet.certify.halves import (
    front_cells,
    require_eigenvalue,
    require_flow,
    require_front,
    require_order,
    width_of,
)
from mpinet.certify.joint import require_joint_cut
from mpinet.certify.lrat import refuted
from mpinet.certify.network import Network, edges_sha256
from mpinet.certify.pipelines import require_many_hops, require_pipeline_cut
from mpinet.certify.prices import require_prices
from mpinet.certify.weights import require_weighted_cuts
from mpinet.certify.work import (
    CELLS,
    EFFORT,
    Budget,
    NetworkSize,
    require_claim,
    require_network,
    require_width,
)
from mpinet.errors import CertificateError, FileError, MpinetError, OutOfReach
from mpinet.networks import open as open_topology
from mpinet.networks.catalogue import FAMILIES
from mpinet.networks.topology import Topology

FORM = "certificate 1"

MOST_BYTES = 2**26
"""Largest certificate file, in bytes; the separate proof file may have `MOST_PROOF` bytes."""

# xz packs zeros a thousandfold, and a small file can hold a huge proof. The bound applies to
# unpacked bytes.
MOST_PROOF = 2**32
"""Largest proof, in bytes after decompression."""

# A line is read into memory before it is parsed. Without a bound, a file without line breaks
# exhausts the memory.
LONGEST_LINE = 2**24

# Computing the expected hash takes time. An invalid hash string is therefore refused beforehand.
HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Verified:
    """A verified claim with its evidence: all input of the exporters."""

    claim: BoundClaim | WidthClaim
    """Claim of the certificate."""
    name: str
    """Name of the network."""
    network: Network
    """The network as read by the checker."""
    document: dict[str, Any]
    """The certificate."""
    folder: Path
    """Folder of the certificate's proof."""

    @property
    def kind(self) -> str:
        """Kind of the certificate."""
        return str(self.document["kind"])


@dataclass(frozen=True)
class Proofs:
    """Folder and size limit of a certificate's proof."""

    folder: Path
    """Folder of the certificate."""
    budget: Budget
    """Remaining work; each decompressed byte of a proof counts as one look."""

    @property
    def most(self) -> float:
        """Largest permitted proof, in bytes after decompression."""
        return min(self.budget.looks, MOST_PROOF)


def certify(file: Path, network: Topology | None = None, effort: float = EFFORT) -> Verified:
    """Check a certificate.

    Parameters
    ----------
    file : Path
        The certificate; a proof lies in the same folder.
    network : Topology, optional
        The network of the claim. Default: the network named in the certificate, from mpinet's own
        families only. Foreign code is never run.
    effort : float
        Permitted work in seconds, counted in looks (`mpinet.certify.work`).

    Raises
    ------
    FileError
        The file cannot be read.
    CertificateError
        The certificate does not prove its claim.
    OutOfReach
        The check would take more work than permitted.
    """
    document = _read(file)
    name = document.get("network")
    if not isinstance(name, str):
        raise CertificateError("the certificate names no network.")
    kind, claim = _claimed(document)
    # The caller's network takes precedence over the name in the file, which comes from a stranger
    # and may be the path of a Python file.
    topology = network if network is not None else _opened(name)
    # The shape costs nothing: a topology states size and ports by formula. The work is therefore
    # estimated before any neighbour is computed.
    budget, shape = Budget(effort), NetworkSize.of(topology)
    _require_root(claim, shape.hosts, topology.name)
    if isinstance(claim, BoundClaim):
        require_claim(budget, shape, kind, claim, document)
    else:
        require_width(budget, shape, kind, claim, document)
    # The hash reads ports block by block and keeps nothing. A certificate of another network is
    # refused before the neighbours take memory.
    _require_hash(document, budget, shape, topology)
    seen = Network.of(topology)
    # The front's width depends on the neighbours, known only from here on. All other estimates need
    # only the shape.
    if kind == "front":
        looks = front_cells(seen, document.get("order")) // CELLS
        budget.require("The check of this claim (front)", looks)
    # The search passes its own certificates to `check` as well. Every printed bound has therefore
    # passed the same code.
    claimed = check(document, seen, Proofs(file.parent, budget), topology.name)
    return Verified(claimed, topology.name, seen, document, file.parent)


def check(
    document: dict[str, Any], network: Network, proofs: Proofs, name: str
) -> BoundClaim | WidthClaim:
    """Check a certificate for a network, without a limit on the work; return its claim.

    Parameters
    ----------
    document : dict
        The certificate.
    network : Network
        The network of the claim.
    proofs : Proofs
        The folder of its proof.
    name : str
        Name of the network in error messages.

    Raises
    ------
    CertificateError
        The certificate does not prove its claim.
    """
    kind, claim = _claimed(document)
    _require_root(claim, network.hosts, name)
    # Edges do not determine a bus network: one bus of three members has the same edges as three
    # busses of two. Busses therefore have their own hash.
    if document.get("edges_sha256") != network.edges_sha256 or (
        document.get("busses") != (None if network.links else busses_sha256(network))
    ):
        raise _another_network(name)
    _require_fabric(document, network, name)
    # The cut is the upper bound, which needs no proof: its cut channels are counted again here.
    parted = 0 if isinstance(claim, BoundClaim) else width_of(network, document.get("side"))
    if kind == PROOF:
        _follow_proof(document, *_refuted_formula(claim, network, document), proofs)
    elif isinstance(claim, BoundClaim):
        CHECKS[kind](claim, network, document)
    else:
        require, shown_by = WIDTH_CHECKS[kind]
        require(network, claim, document.get(shown_by))
    if isinstance(claim, BoundClaim):
        return claim
    return WidthClaim(claim, parted, "links" if network.links else "busses")


def _claimed(document: dict[str, Any]) -> tuple[str, BoundClaim | int]:
    """Return a certificate's kind, and its claim; raise `CertificateError` for an unknown kind.

    A claim about a bisection is the number of links that the width exceeds. Any other claim
    is a lower bound on steps.
    """
    of_width = is_of_width(document.get("claim"))
    # The kind comes from the file and selects a function. Only names in these tables reach a call.
    kind, kinds = document.get("kind"), (*(WIDTH_CHECKS if of_width else CHECKS), PROOF)
    claim = int(document["claim"]["more_than"]) if of_width else read_claim(document)
    if not isinstance(kind, str) or kind not in kinds:
        raise CertificateError(
            f"the kind of the certificate is unknown: known kinds are {', '.join(kinds)}."
        )
    return kind, claim


def _require_root(claim: BoundClaim | int, hosts: int, name: str) -> None:
    """Raise `CertificateError` if the claim's root is not a processor of the network."""
    if isinstance(claim, BoundClaim) and claim.root is not None and claim.root >= hosts:
        raise CertificateError(f"{name} has no processor {claim.root}.")


def _require_hash(
    document: dict[str, Any], budget: Budget, shape: NetworkSize, topology: Topology
) -> None:
    """Check the network's hash before the network is kept; refuse a network that is too large."""
    given = document.get("edges_sha256")
    if not isinstance(given, str) or not HASH.fullmatch(given):
        raise _another_network(topology.name)
    require_network(budget, shape, topology.name)
    if edges_sha256(topology) != given:
        raise _another_network(topology.name)


def _require_fabric(document: dict[str, Any], network: Network, name: str) -> None:
    """Check the number of switches and the capacities, absent in older certificates."""
    # The hash of the edges counts neighbours once. An additional cable between two switches changes
    # a capacity, and with it every cut bound, but no edge.
    if document.get("fabric", network.fabric) == network.fabric:
        return
    there = ", ".join(f"{key} {value}" for key, value in network.fabric.items())
    raise CertificateError(
        f"it is about another network: {name} has different switches or capacities (fabric), "
        f"namely {there}."
    )


def _another_network(name: str) -> CertificateError:
    return CertificateError(
        f"it is about another network: {name} has other neighbours (edges_sha256)."
    )


def busses_sha256(network: Network) -> str:
    """Return the SHA-256 digest, in hexadecimal, of the members of all busses as JSON."""
    return sha256(json.dumps(network.busses).encode()).hexdigest()


def _read(file: Path) -> dict[str, Any]:
    try:
        text = read_bytes(file, MOST_BYTES)
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}.") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise CertificateError(f"{file} is not a JSON document, or truncated.") from None
    if not isinstance(document, dict) or document.get("mpinet") != FORM:
        raise CertificateError(
            f'{file} is not a certificate: the entry "mpinet": "{FORM}" is missing.'
        )
    return document


def _opened(name: str) -> Topology:
    """Open the network of this name, unless opening requires foreign code."""
    # A name like file.py:Class would import Python code. A certificate must not be able to run code
    # on the reader's machine.
    if any(part.partition(":")[0] not in FAMILIES for part in name.split("*")):
        raise CertificateError(
            f"{name[:80]} is not a family of mpinet: give --on NETWORK to run its code."
        )
    try:
        return open_topology(name)
    except MpinetError as error:
        raise CertificateError(
            f"the network of the certificate cannot be opened: {error}"
        ) from None


def _by_distance(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    roots = range(network.hosts) if claim.root is None else [claim.root]
    # Without a root the collective distributes items from every processor. The bound is the maximum
    # over all sources.
    farthest = max(
        waits(claim, network, root) + max(network.distances(root)[: network.hosts])
        for root in roots
    )
    if farthest <= claim.more_than:
        away = "hops away" if claim.items == 1 else "steps away from the last of the items"
        raise CertificateError(
            f"the farthest processor is {farthest} {away}, which does not take more than "
            f"{claim.more_than} steps."
        )


def waits(claim: BoundClaim, network: Network, root: int) -> int:
    """Return the number of steps before the last of a processor's items leaves."""
    # A one-port source sends one item per step. With all ports, one item leaves by each link in a
    # step.
    if claim.one_port:
        return claim.items - 1
    return -(-claim.items // max(1, network.channels(root))) - 1


def _by_growth(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Check a claim by growth: per step, a node informs one node, or all other members of a bus."""
    if not claim.one_port:
        raise CertificateError("growth is a bound for one port.")
    if claim.collective not in (*SPREADING, "allreduce"):
        raise CertificateError("growth is a bound for broadcast, reduce and allreduce.")
    # Growth is proved for broadcasts. A reduction is a broadcast backwards only on links: on a bus
    # one sender reaches many receivers.
    if claim.collective == "reduce" and not network.links:
        raise CertificateError("growth gives no bound on reductions over busses.")
    # The bound holds for any placement of the informed nodes. The largest bus therefore stands for
    # all busses.
    fanout = 1 if network.links else max(len(bus) for bus in network.busses) - 1
    steps = of_last(claim)
    # A network has fewer than 2**64 nodes. The limit keeps a claim of a million steps from building
    # an integer of a million bits.
    informed = (1 + fanout) ** min(steps, 64)
    if informed >= network.hosts:
        raise CertificateError(
            f"{steps} steps may inform {informed} processors: growth proves no more."
        )


def _by_counting(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    root = _root_of_one_port(claim, network)
    classes, rows = document.get("classes"), document.get("rows")
    multipliers = document.get("multipliers")
    require_contradiction(network, root, of_last(claim), classes, rows, multipliers)


def _refuted_formula(
    claim: BoundClaim | int, network: Network, document: dict[str, Any]
) -> tuple[Callable[[], Clauses], str]:
    """Return a function that writes the formula to refute, and the formula's name."""
    if isinstance(claim, int):
        order = require_order(network, document.get("order"))
        of = f"a bisection of width {claim} or less on this network"
        return partial(half_formula, network, claim, order), of
    root, steps = _root_of_one_port(claim, network), of_last(claim)
    return partial(formula, network, root, steps), f"{steps} steps on this network"


def _follow_proof(
    document: dict[str, Any], written: Callable[[], Clauses], of: str, proofs: Proofs
) -> None:
    """Raise `CertificateError` unless the separate proof file refutes this formula.

    The formula is written three times, to be counted, hashed and kept. A formula with a wrong hash
    never takes memory.
    """
    # The clauses come from generators. The formula of a hostile claim could exceed the memory; its
    # hash refuses it beforehand.
    variables, count = sized(written())
    if document.get("formula_sha256") != formula_sha256(variables, written(), count):
        raise CertificateError(f"the proof is for another formula, not for {of} (formula_sha256).")
    name = document.get("proof")
    # A name with folders could point to any file of the reader. The proof must lie next to its
    # certificate.
    if not isinstance(name, str) or Path(name).name != name:
        raise CertificateError("the proof is not a file next to the certificate.")
    # The checker refutes its own formula, never a formula from the file. A prover's formula could
    # be unsatisfiable for a wrong reason.
    refuted(written(), _lines(proofs.folder / name, document.get("proof_sha256"), proofs.most))


def _by_cut(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    pipelined = claim.collective in (*SPREADING, "allreduce")
    (require_pipeline_cut if pipelined else require_cut)(claim, network, document)


def of_last(claim: BoundClaim) -> int:
    """Return the number of steps left for the last item; with one port, it leaves the root last."""
    steps = claim.more_than - (claim.items - 1)
    # With one port the last item leaves the root after all others. A claim of fewer steps is true
    # without any proof about one item.
    if steps < 0:
        raise CertificateError(f"{claim.items} items alone take more than {claim.more_than} steps.")
    return steps


def _root_of_one_port(claim: BoundClaim, network: Network) -> int:
    if claim.root is None or claim.collective not in SPREADING:
        raise CertificateError("this kind is for broadcast and reduce.")
    if not claim.one_port or (claim.collective == "reduce" and not network.links):
        raise CertificateError("this kind is for one port (reduce: on links only).")
    return claim.root


def _lines(file: Path, expected: object, most: float) -> Iterator[bytes]:
    """Yield a proof's lines, decompressed on the fly, with limits on their length and number.

    Raises
    ------
    CertificateError
        The file is not the certified proof, or is too large.
    OutOfReach
        The file exceeds the permitted work.
    """
    try:
        if not file.is_file():
            raise CertificateError(f"{file.name} cannot be read: there is no such file.")
        # The certificate binds its proof: a proof of another run would fail with a misleading
        # message about some line.
        if hash_of_file(file) != expected:
            raise CertificateError(
                f"{file.name} is not the proof of this certificate (proof_sha256)."
            )
        read = 0
        with lzma.open(file) if file.suffix == ".xz" else file.open("rb") as opened:
            while line := opened.readline(LONGEST_LINE + 1):
                # The size is counted during decompression, because the packed size does not limit
                # it.
                read += len(line)
                if read > most and most < MOST_PROOF:
                    raise OutOfReach(
                        f"{file.name} has more than {most:,.0f} bytes, the limit: "
                        "nothing is proved or refuted so far (--effort SECONDS allows more)."
                    )
                if len(line) > LONGEST_LINE or read > MOST_PROOF:
                    raise CertificateError(
                        f"{file.name} is too large: more than {MOST_PROOF} bytes, or a line of "
                        f"more than {LONGEST_LINE}."
                    )
                yield line
    except OSError as error:
        raise CertificateError(f"{file.name} cannot be read: {error.strerror}.") from None
    except (lzma.LZMAError, EOFError):
        raise CertificateError(f"{file.name} is not an xz file, or truncated.") from None


CHECKS = {
    "distance": _by_distance,
    "growth": _by_growth,
    "cut": _by_cut,
    "cuts": require_weighted_cuts,
    "hops": require_many_hops,
    "joint": require_joint_cut,
    "prices": require_prices,
    "class-lp": _by_counting,
}
"""Checks of claims about steps, by the kind of certificate."""

WIDTH_CHECKS = {
    "eigenvalue": (require_eigenvalue, "at_least"),
    "flow": (require_flow, "lengths"),
    "front": (require_front, "order"),
}
"""Checks of claims about bisection widths, by the kind of certificate, with the name of the field
that each check reads.
"""

PROOF = "lrat"
"""Kind of certificate, about steps or a width, with a proof that a formula has no solution."""
