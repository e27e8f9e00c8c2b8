"""Certificates for checkers of others: the formula in DIMACS, and the proof as LRAT beside it."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path
from typing import Any, BinaryIO, cast

from mpinet.base.files import read_bytes, whole_file
from mpinet.certify.certificate import MOST_BYTES, Verified, of_last
from mpinet.certify.claims import Claim
from mpinet.certify.clauses import Clauses, dimacs, formula, sized
from mpinet.certify.halfclauses import half_formula
from mpinet.certify.halves import require_order
from mpinet.certify.network import Network
from mpinet.errors import CertificateError
from mpinet.networks.topology import Topology


def export(file: Path, found: Verified, topology: Topology, target: Path) -> Path:
    """Write the formula of a certificate that has been verified, and its proof beside that.

    Parameters
    ----------
    file : Path
        The certificate.
    found : Verified
        What it proves.
    topology : Topology
        The network that it is about.
    target : Path
        File for the formula; the proof's ends in ``.lrat``.

    Returns
    -------
    Path
        The file of the proof.

    Raises
    ------
    CertificateError
        It has no formula.
    OutputError
        A file cannot be written.
    """
    if found.kind != "lrat":
        raise CertificateError(
            f"it is of kind {found.kind}, and proofs of the kind lrat alone have a formula to "
            "export."
        )
    document = json.loads(read_bytes(file, MOST_BYTES))
    network = Network.of(topology)

    def written() -> Clauses:
        if isinstance(found.claim, Claim):
            assert found.claim.root is not None
            return formula(network, found.claim.root, of_last(found.claim))
        order = require_order(network, document["order"])
        return half_formula(network, found.claim.more_than, order)

    variables, count = sized(written())
    with whole_file(target) as cnf:
        cnf.writelines(dimacs(variables, written(), count))
    beside = target.with_suffix(".lrat")
    with proof_of(file, document) as packed, whole_file(beside) as lrat:
        shutil.copyfileobj(packed, lrat)
    return beside


def proof_of(file: Path, document: dict[str, Any]) -> BinaryIO:
    """Open the proof beside a certificate that has been verified."""
    proof = file.parent / document["proof"]
    return cast(BinaryIO, lzma.open(proof) if proof.suffix == ".xz" else proof.open("rb"))
