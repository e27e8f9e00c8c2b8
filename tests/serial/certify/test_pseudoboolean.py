"""Cuts as constraints of 0 and 1: a sum in whole numbers contradicts itself, and VeriPB agrees."""

import os
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

import mpinet
from mpinet.errors import CertificateError

K39 = "".join(f"{u} {v}\n" for u in range(3) for v in range(3, 12))

VERIPB = os.environ.get("MPINET_VERIPB")
"""Program of VeriPB; it is asked, too, where it is."""

BOUNDS = [
    ("mesh:7", {}),
    ("mesh:3x3", {"items": 7, "root": 4, "ports": "all"}),
    ("debruijn:3", {"collective": "scatter", "ports": "all"}),
    ("fattree:2,2", {"collective": "gather"}),
    ("shuffleexchange:3", {"collective": "gossip"}),
    ("dgx1", {"collective": "gossip", "items": 6, "ports": "all"}),
    ("graph:k39.edges", {"collective": "gossip"}),
]


def refuted(constraints, proof):
    """Whether a sum of constraints and literals says that 0 is more than 0."""
    head, *lines = constraints.splitlines()
    first, given, sums, ends = proof.splitlines()
    assert head.split()[-1] == given.split()[1] == str(len(lines))
    assert first == "pseudo-Boolean proof version 1.0" and ends == f"c {len(lines) + 1}"
    total, right, words = defaultdict(int), 0, [w for w in sums.split()[1:] if w not in "*+"]
    for name, times in zip(words[::2], map(int, words[1::2]), strict=True):
        assert times > 0
        if "x" in name:  # x >= 0, or 1 - x >= 0
            sign = -1 if name[0] == "~" else 1
            total[name.lstrip("~")] += sign * times
            right += min(sign, 0) * times
            continue
        left, _, least = lines[int(name) - 1].rstrip(" ;").partition(" >= ")
        terms = left.split()
        for coefficient, variable in zip(terms[::2], terms[1::2], strict=True):
            total[variable] += times * int(coefficient)
        right += times * int(least)
    return not any(total.values()) and right > 0


@pytest.mark.parametrize(("network", "asked"), BOUNDS)
def test_the_constraints_of_a_cut_contradict_themselves(network, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("k39.edges").write_text(K39)
    mpinet.optimum(network, save="x.cert", **asked)
    mpinet.certify("x.cert", on=network, export="x.opb")
    constraints, proof = Path("x.opb").read_text(), Path("x.pbp").read_text()
    assert refuted(constraints, proof)
    first, least, rest = constraints.partition(" >= ")
    needed = rest.partition(" ")[0]
    Path("y.opb").write_text(first + least + "0" + rest.removeprefix(needed))
    assert not refuted(Path("y.opb").read_text(), proof)
    for file, accepted in [("x", True), ("y", False)] if VERIPB else ():
        words = [VERIPB, f"{file}.opb", "x.pbp"]
        said = subprocess.run(words, capture_output=True, text=True).stdout
        assert ("Verification succeeded." in said) == accepted


def test_a_certificate_without_cuts_has_no_constraints(tmp_path):
    for network, asked in [("complete:9", {}), ("petersen", {"collective": "bisection"})]:
        mpinet.optimum(network, save=tmp_path / "x.cert", **asked)
        with pytest.raises(CertificateError, match=r"is not based on cuts|are only for cuts"):
            mpinet.certify(tmp_path / "x.cert", export=tmp_path / "x.opb")
        assert not (tmp_path / "x.opb").exists()
