"""Formulas and proofs for checkers of others, followed by a few lines of plain Python."""

import json
import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

import mpinet
from mpinet.cli.session import CommandSession


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
    assert CommandSession(["certify", str(file), "--export", str(formula)]).run() == 0
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
    assert CommandSession(["certify", str(file), "--export", str(tmp_path / "f.cnf")]).run() == 1
    assert "kind growth" in capsys.readouterr().err and not (tmp_path / "f.cnf").exists()
    assert CommandSession(["certify", str(file), "--export", str(tmp_path / "f.txt")]).run() == 2


CAKE_LPR = os.environ.get("MPINET_CAKE_LPR")
"""Folder of cake_lpr's public source; the test that builds and asks it is there where it is."""

if CAKE_LPR:

    @pytest.fixture(scope="module")
    def cake_lpr(tmp_path_factory):
        """The checker whose machine code is verified, built from its source."""
        program = tmp_path_factory.mktemp("cake") / "cake_lpr"
        sources = [str(Path(CAKE_LPR) / name) for name in ("basis_ffi.c", "cake_lpr.S")]
        subprocess.run(["cc", "-O2", *sources, "-o", str(program)], check=True, capture_output=True)
        return str(program)

    @pytest.mark.long
    @pytest.mark.parametrize(
        ("network", "asked"),
        [
            ("lens:2,3,3", {}),
            ("roadrunner:3,2,3", {}),
            ("hdn:2x3,super=-", {"limit": 60}),
            ("petersen", {"collective": "bisection", "by": "lrat"}),
        ],
    )
    def test_a_verified_checker_accepts_what_is_exported(network, asked, cake_lpr, tmp_path):
        file, formula = tmp_path / "proof.cert", tmp_path / "f.cnf"
        mpinet.optimum(network, save=file, **asked)
        mpinet.certify(file, export=formula)
        proof, shorter = formula.with_suffix(".lrat"), tmp_path / "shorter.lrat"
        *lines, last = proof.read_text().splitlines(keepends=True)
        shorter.write_text("".join(lines))
        assert last.split()[1] == "0"
        for given, said in [(proof, "s VERIFIED UNSAT\n"), (shorter, "")]:
            words = [cake_lpr, str(formula), str(given)]
            assert subprocess.run(words, capture_output=True, text=True).stdout == said
