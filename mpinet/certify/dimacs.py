"""Export of certificates for foreign checkers: the formula in DIMACS, the proof in LRAT."""

from __future__ import annotations

import lzma
import shutil
from pathlib import Path
from typing import BinaryIO, cast

from mpinet.base.files import whole_file
from mpinet.certify.certificate import Verified, of_last
from mpinet.certify.claims import BoundClaim
from mpinet.certify.clauses import Clauses, dimacs, formula, sized
from mpinet.certify.halfclauses import half_formula
from mpinet.certify.halves import require_order
from mpinet.errors import CertificateError


def export(found: Verified, target: Path) -> None:
    """Write a verified certificate's formula, and next to it the proof with the ending ``.lrat``.

    Raises
    ------
    CertificateError
        The certificate has no formula.
    OutputError
        A file cannot be written.
    """
    if found.kind != "lrat":
        raise CertificateError(
            f"the certificate is of kind {found.kind}, but only the kind lrat has a formula to "
            "export."
        )
    network = found.network

    def written() -> Clauses:
        if isinstance(found.claim, BoundClaim):
            assert found.claim.root is not None
            return formula(network, found.claim.root, of_last(found.claim))
        order = require_order(network, found.document["order"])
        return half_formula(network, found.claim.more_than, order)

    variables, count = sized(written())
    with whole_file(target) as cnf:
        cnf.writelines(dimacs(variables, written(), count))
    with proof_of(found) as packed, whole_file(target.with_suffix(".lrat")) as lrat:
        shutil.copyfileobj(packed, lrat)


def proof_of(found: Verified) -> BinaryIO:
    """Open the proof file of a verified certificate."""
    proof = found.folder / found.document["proof"]
    return cast(BinaryIO, lzma.open(proof) if proof.suffix == ".xz" else proof.open("rb"))
