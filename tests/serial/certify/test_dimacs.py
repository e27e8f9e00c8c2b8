"""Formulas and proofs for checkers of others, followed by a few lines of plain Python."""

import json
from hashlib import sha256

import pytest

import mpinet
from mpinet.cli.session import Session


def refuted(clauses, proof):
    """Whether an LRAT proof leads to the empty clause, each line by unit propagation alone."""
    for line in proof:
        number, *words = line.split()
        if words[0] == "d":
            for each in words[1:-1]:
                del clauses[int(each)]
            continue
        end = words.index("0")
        learned, false = [*map(int, words[:end])], {-int(word) for word in words[:end]}
        true = set(false)
        for hint in map(int, words[end + 1 : -1]):
            left = [literal for literal in clauses[hint] if -literal not in true]
            if not left:
                break
            assert len(left) == 1
            true.add(left[0])
        else:
            return False
        if not learned:
            return True
        clauses[int(number)] = learned
    return False


@pytest.mark.parametrize("collective", ["broadcast", "bisection"])
def test_what_is_exported_is_refuted_by_its_proof(collective, tmp_path, capsys):
    file, formula = tmp_path / "proof.cert", tmp_path / "f.cnf"
    by = {"by": "lrat"} if collective == "bisection" else {}
    network = "petersen" if by else "lens:2,3,3"
    mpinet.optimum(network, collective=collective, save=file, **by)
    assert json.loads(file.read_text())["kind"] == "lrat"
    assert Session(["certify", str(file), "--export", str(formula)]).run() == 0
    text = formula.read_text()
    hashed = json.loads(file.read_text())["formula_sha256"]
    assert sha256(text.encode()).hexdigest() == hashed
    head, *lines = text.splitlines()
    clauses = {at: [*map(int, line.split()[:-1])] for at, line in enumerate(lines, 1)}
    assert head == f"p cnf {max(abs(x) for each in clauses.values() for x in each)} {len(lines)}"
    proof = formula.with_suffix(".lrat").read_text().splitlines()
    assert refuted(dict(clauses), proof)
    assert not refuted(dict(clauses), proof[:-1])


def test_a_certificate_without_a_formula_is_not_exported(tmp_path, capsys):
    file = tmp_path / "growth.cert"
    mpinet.optimum("complete:9", save=file)
    assert Session(["certify", str(file), "--export", str(tmp_path / "f.cnf")]).run() == 1
    assert "kind growth" in capsys.readouterr().err and not (tmp_path / "f.cnf").exists()
    assert Session(["certify", str(file), "--export", str(tmp_path / "f.txt")]).run() == 2
