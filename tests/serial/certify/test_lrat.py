"""LRAT proofs are followed to the letter: what is changed in them is refused with its line."""

import pytest

from mpinet.certify.lrat import refuted
from mpinet.errors import CertificateError

FORMULA = [(1, 2), (-1, 2), (1, -2), (-1, -2)]
PROOF = ["5 2 0 1 2 0", "5 d 1 2 0", "6 0 5 3 4 0"]


def test_a_formula_without_a_solution_is_refuted():
    assert refuted(FORMULA, PROOF) == 2


@pytest.mark.parametrize(
    ("proof", "sentence"),
    [
        (["5 2 0 1 0", *PROOF[1:]], "line 1 of the proof: the hints lead to no conflict"),
        (
            ["5 2 0 1 3 0", *PROOF[1:]],
            "line 1 of the proof: hint 3 does not leave exactly one literal",
        ),
        ([*PROOF[:2], "6 0 5 1 4 0"], "line 3 of the proof: clause 1 does not exist"),
        (["5 1 0 -2 4 0", *PROOF[1:]], "line 1 of the proof is a RAT step"),
        (
            ["4 2 0 1 2 0", *PROOF[1:]],
            "line 1 of the proof adds clause 4, but clause 4 already exists",
        ),
        ([PROOF[0], "5 d 9 0"], "line 2 of the proof deletes clause 9"),
        (["5 2 0 1 2 4 0", *PROOF[1:]], "continues after its conflict, at hint 2"),
        (["5 2 0 1 2", *PROOF[1:]], "line 1 of the proof is not a line of an LRAT proof"),
        (["5 2 0 1 x 0", *PROOF[1:]], "line 1 of the proof is not a line of an LRAT proof"),
        (PROOF[:2], "the proof ends before the empty clause"),
        ([], "the proof ends before the empty clause"),
    ],
)
def test_what_is_no_proof_is_refused(proof, sentence):
    with pytest.raises(CertificateError, match=sentence):
        refuted(FORMULA, proof)


def test_a_formula_with_a_solution_has_no_proof():
    with pytest.raises(CertificateError, match=r"hint 4 does not|clause 4 does not exist"):
        refuted(FORMULA[:3], PROOF)
