"""Certificates: files that say "this takes more than so many steps", and how each is checked.

Or "every cut into halves parts more than so many links": `mpinet.certify.halves`.
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
"""Largest certificate file, in bytes; a proof beside it may have `MOST_PROOF`."""

# xz packs zeros a thousandfold, so a small file can hold a huge proof. The bound applies to
# unpacked bytes.
MOST_PROOF = 2**32
"""Largest proof, in bytes, unpacked."""

# A line is read into memory before it is parsed. Without a bound, a file without line breaks
# exhausts the memory.
LONGEST_LINE = 2**24

# The hash is compared with one that takes time to compute. A string that is no hash is refused
# before that.
HASH = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Verified:
    """A claim that has been verified, and what shows it: all that exporters need."""

    claim: BoundClaim | WidthClaim
    """Claim of the certificate."""
    name: str
    """Name of the network."""
    network: Network
    """The network as it was looked at."""
    document: dict[str, Any]
    """The certificate."""
    folder: Path
    """Folder of its proof."""

    @property
    def kind(self) -> str:
        """Kind of the certificate."""
        return str(self.document["kind"])


@dataclass(frozen=True)
class Proofs:
    """Folder and size limit of a certificate's proof."""

    folder: Path
    """The certificate's."""
    budget: Budget
    """A byte of a proof, unpacked, is a look."""

    @property
    def most(self) -> float:
        """Largest proof that is read, in bytes, unpacked."""
        return min(self.budget.looks, MOST_PROOF)


def certify(file: Path, network: Topology | None = None, effort: float = EFFORT) -> Verified:
    """Check a certificate.

    Parameters
    ----------
    file : Path
        The certificate; a proof lies beside it.
    network : Topology, optional
        What it has to be about. Default: the network that it names, of mpinet's families alone, so
        that no code of others is run.
    effort : float
        Seconds of work that are allowed, counted in looks (`mpinet.certify.work`).

    Raises
    ------
    FileError
        There is no such file.
    CertificateError
        It does not prove what it claims.
    OutOfReach
        To look at it would be more work than is allowed.
    """
    document = _read(file)
    name = document.get("network")
    if not isinstance(name, str):
        raise CertificateError("it names no network.")
    kind, claim = _claimed(document)
    # A network of the caller goes before the name in the file. The name comes from a stranger and
    # may be the path of a Python file.
    topology = network if network is not None else _opened(name)
    # The shape costs nothing: a topology states size and ports by formula. So the work is estimated
    # before any neighbour is asked for.
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
    # The front's width depends on the neighbours, which are known only now. All other estimates
    # need the shape alone.
    if kind == "front":
        looks = front_cells(seen, document.get("order")) // CELLS
        budget.require("The check of this claim (front)", looks)
    # The search calls `check` with its own certificates too. So a bound that the search prints has
    # passed the same code.
    claimed = check(document, seen, Proofs(file.parent, budget), topology.name)
    return Verified(claimed, topology.name, seen, document, file.parent)


def check(
    document: dict[str, Any], network: Network, proofs: Proofs, name: str
) -> BoundClaim | WidthClaim:
    """Check a certificate for a network, whatever work it is; its claim.

    Parameters
    ----------
    document : dict
        The certificate.
    network : Network
        What it has to be about.
    proofs : Proofs
        The folder of its proof.
    name : str
        What sentences call the network.

    Raises
    ------
    CertificateError
        It does not prove what it claims.
    """
    kind, claim = _claimed(document)
    _require_root(claim, network.hosts, name)
    # Edges do not determine a bus network: one bus of three members has the edges of three busses
    # of two. So busses have their own hash.
    if document.get("edges_sha256") != network.edges_sha256 or (
        document.get("busses") != (None if network.links else busses_sha256(network))
    ):
        raise _another_network(name)
    _require_fabric(document, network, name)
    # The cut is the upper bound, which needs no proof: the channels that it parts are counted again
    # here.
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
    """Return the kind and the claim, which is of steps or of links that a cut parts."""
    of_width = is_of_width(document.get("claim"))
    # The kind comes from the file and chooses a function. Only names of these tables reach a call.
    kind, kinds = document.get("kind"), (*(WIDTH_CHECKS if of_width else CHECKS), PROOF)
    claim = int(document["claim"]["more_than"]) if of_width else read_claim(document)
    if not isinstance(kind, str) or kind not in kinds:
        raise CertificateError(f"it is of no known kind: those are {', '.join(kinds)}.")
    return kind, claim


def _require_root(claim: BoundClaim | int, hosts: int, name: str) -> None:
    """Raise `CertificateError` where a network has no such processor."""
    if isinstance(claim, BoundClaim) and claim.root is not None and claim.root >= hosts:
        raise CertificateError(f"{name} has no processor {claim.root}.")


def _require_hash(
    document: dict[str, Any], budget: Budget, shape: NetworkSize, topology: Topology
) -> None:
    """Compare the network's hash before the network is kept; refuse one that is too large."""
    given = document.get("edges_sha256")
    if not isinstance(given, str) or not HASH.fullmatch(given):
        raise _another_network(topology.name)
    require_network(budget, shape, topology.name)
    if edges_sha256(topology) != given:
        raise _another_network(topology.name)


def _require_fabric(document: dict[str, Any], network: Network, name: str) -> None:
    """Compare switches and capacities, which older certificates do not state."""
    # The edges' hash counts neighbours once. A cable more between two switches changes a capacity,
    # and every cut bound with it, but no edge.
    if document.get("fabric", network.fabric) == network.fabric:
        return
    there = ", ".join(f"{key} {value}" for key, value in network.fabric.items())
    raise CertificateError(
        f"it is about another network: {name} has other switches or capacities than it states "
        f"(fabric), namely {there}."
    )


def _another_network(name: str) -> CertificateError:
    return CertificateError(
        f"it is about another network: {name} has other neighbours (edges_sha256)."
    )


def busses_sha256(network: Network) -> str:
    """Hash of the members of all busses, as JSON: sha256, hexadecimal."""
    return sha256(json.dumps(network.busses).encode()).hexdigest()


def _read(file: Path) -> dict[str, Any]:
    try:
        text = read_bytes(file, MOST_BYTES)
    except OSError as error:
        raise FileError(f"{file} cannot be read: {error.strerror}.") from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise CertificateError(f"{file} is no JSON document, or truncated.") from None
    if not isinstance(document, dict) or document.get("mpinet") != FORM:
        raise CertificateError(f'{file} is no certificate: it does not say "mpinet": "{FORM}".')
    return document


def _opened(name: str) -> Topology:
    """Open the network of that name, unless it needs code that others have written."""
    # A name such as file.py:Class would import Python code. A certificate must not be able to run
    # code on the reader's machine.
    if any(part.partition(":")[0] not in FAMILIES for part in name.split("*")):
        raise CertificateError(
            f"{name[:80]} is none of mpinet's families: say --on NETWORK if its code may be run."
        )
    try:
        return open_topology(name)
    except MpinetError as error:
        raise CertificateError(f"its network cannot be opened: {error}") from None


def _by_distance(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    roots = range(network.hosts) if claim.root is None else [claim.root]
    # Without a root the collective brings items from every processor. The bound is that of the
    # source that takes longest.
    farthest = max(
        waits(claim, network, root) + max(network.distances(root)[: network.hosts])
        for root in roots
    )
    if farthest <= claim.more_than:
        away = "hops away" if claim.items == 1 else "steps away from the last of the items"
        raise CertificateError(
            f"the farthest processor is {farthest} {away}: that does not take more than "
            f"{claim.more_than} steps."
        )


def waits(claim: BoundClaim, network: Network, root: int) -> int:
    """Number of steps until the last of a processor's items leaves it."""
    # A one-port source sends one item a step, so the last item leaves after all others. With all
    # ports, one item leaves by each link.
    if claim.one_port:
        return claim.items - 1
    return -(-claim.items // max(1, network.channels(root))) - 1


def _by_growth(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    """Check a claim by growth: a node informs one in a step, or on a bus all other members."""
    if not claim.one_port:
        raise CertificateError("growth is a bound for one port.")
    if claim.collective not in (*SPREADING, "allreduce"):
        raise CertificateError("growth is a bound for broadcast, reduce and allreduce.")
    # Growth is shown for broadcasts. A reduction is a broadcast backwards on links alone: on a bus
    # one sender reaches many receivers.
    if claim.collective == "reduce" and not network.links:
        raise CertificateError("growth says nothing of reductions over busses.")
    # The bound holds for any placement of the informed nodes, so the largest bus stands for all of
    # them.
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
    """Return the formula that a proof is about, as a function that writes it, and its name."""
    if isinstance(claim, int):
        order = require_order(network, document.get("order"))
        of = f"a cut that parts at most {claim} on this network"
        return partial(half_formula, network, claim, order), of
    root, steps = _root_of_one_port(claim, network), of_last(claim)
    return partial(formula, network, root, steps), f"{steps} steps on this network"


def _follow_proof(
    document: dict[str, Any], written: Callable[[], Clauses], of: str, proofs: Proofs
) -> None:
    """Raise `CertificateError` unless the proof beside the certificate refutes this formula.

    The formula is written three times, to be counted, hashed and kept: one that has another hash
    never takes memory.
    """
    # The clauses come from generators. The formula of a hostile claim could exceed the memory, and
    # its hash refuses it before it is kept.
    variables, count = sized(written())
    if document.get("formula_sha256") != formula_sha256(variables, written(), count):
        raise CertificateError(
            f"its proof is for another formula than that of {of} (formula_sha256)."
        )
    name = document.get("proof")
    # A name with folders could point to any file of the reader. The proof lies next to its
    # certificate.
    if not isinstance(name, str) or Path(name).name != name:
        raise CertificateError("its proof is no file beside it.")
    # The checker refutes its own formula, never one from the file. A formula of the prover could be
    # unsatisfiable for a wrong reason.
    refuted(written(), _lines(proofs.folder / name, document.get("proof_sha256"), proofs.most))


def _by_cut(claim: BoundClaim, network: Network, document: dict[str, Any]) -> None:
    pipelined = claim.collective in (*SPREADING, "allreduce")
    (require_pipeline_cut if pipelined else require_cut)(claim, network, document)


def of_last(claim: BoundClaim) -> int:
    """Number of steps that the last item has: with one port, it leaves the root last."""
    steps = claim.more_than - (claim.items - 1)
    # With one port the last item leaves the root after all others. A claim of fewer steps than that
    # holds without any proof of one item.
    if steps < 0:
        raise CertificateError(f"{claim.items} items alone take more than {claim.more_than} steps.")
    return steps


def _root_of_one_port(claim: BoundClaim, network: Network) -> int:
    if claim.root is None or claim.collective not in SPREADING:
        raise CertificateError("this kind is for broadcast and reduce.")
    if not claim.one_port or (claim.collective == "reduce" and not network.links):
        raise CertificateError("this kind is for one port, and of a reduction for links.")
    return claim.root


def _lines(file: Path, expected: object, most: float) -> Iterator[bytes]:
    """Yield a proof's lines, unpacked on the way, of bounded length and number.

    Raises
    ------
    CertificateError
        The file is not the one that was certified, or too large.
    OutOfReach
        It is more than is to be read.
    """
    try:
        if not file.is_file():
            raise CertificateError(f"{file.name} cannot be read: there is no such file.")
        # The certificate binds its proof: a proof of another run would fail with a message about
        # some line, which misleads.
        if hash_of_file(file) != expected:
            raise CertificateError(
                f"{file.name} is not the proof that belongs here (proof_sha256)."
            )
        read = 0
        with lzma.open(file) if file.suffix == ".xz" else file.open("rb") as opened:
            while line := opened.readline(LONGEST_LINE + 1):
                # The size is counted while the proof is unpacked, since the packed size says
                # nothing about it.
                read += len(line)
                if read > most and most < MOST_PROOF:
                    raise OutOfReach(
                        f"{file.name} has more than {most:,.0f} bytes, and no more are read: "
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
        raise CertificateError(f"{file.name} is no xz file, or truncated.") from None


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
"""Checks of claims about bisection widths, by the kind of certificate, and what each looks at."""

PROOF = "lrat"
"""Kind of certificate, of steps or of a width, by a proof that a formula has no solution."""
