"""A certificate of a few bytes takes neither an hour nor all memory, and `--effort` allows more."""

import json
import resource
import subprocess
import sys

import pytest

import mpinet
from mpinet.certify.certificate import certify
from mpinet.certify.network import Network, edges_sha256
from mpinet.certify.work import LOOKS, Budget
from mpinet.errors import CertificateError, OutOfReach, TooLarge

STEPS = {"collective": "broadcast", "ports": "one", "root": 0, "more_than": 2**20 - 1}
EXCHANGE = {"collective": "exchange", "ports": "all", "root": None, "more_than": 5}
WIDTH = {"measure": "bisection", "more_than": 5}
RING = {"network": "ring:64", "claim": STEPS}

GREEDY = {
    "formula": RING | {"kind": "lrat", "formula_sha256": "0" * 64, "proof": "p.lrat"},
    "classes": RING
    | {"kind": "class-lp", "classes": "distance,degree", "rows": 9, "multipliers": {}},
    "ways": {"network": "hypercube:12", "claim": EXCHANGE, "kind": "cut"}
    | {"parts": [0] * 2**12, "senders": [], "receivers": []},
    "rounds": {"network": "hypercube:11", "claim": WIDTH, "kind": "flow"}
    | {"side": [*range(1024)], "lengths": [[1] * (11 * 1024)] * 64},
    "large": {"network": "hypercube:19", "claim": STEPS | {"more_than": 18}, "kind": "growth"},
    "steps": RING | {"network": "ring:4096", "claim": STEPS | {"more_than": 4094}, "kind": "lrat"},
    "matrix": {"network": "hypercube:12", "claim": WIDTH, "kind": "eigenvalue"}
    | {"side": [*range(2048)], "at_least": [2, 1]},
    "cells": {"network": "torus:20x200", "claim": WIDTH, "kind": "front"}
    | {"side": [*range(2000)], "order": [*range(4000)]},
}
"""Certificates that claim much in few bytes."""

SEEN = """
import resource, sys
from pathlib import Path
from mpinet.certify.certificate import certify
from mpinet.errors import MpinetError
before = resource.getrusage(resource.RUSAGE_SELF)
for file in sys.argv[1:]:
    try:
        certify(Path(file))
    except MpinetError as error:
        print(error)
after = resource.getrusage(resource.RUSAGE_SELF)
print(after.ru_maxrss - before.ru_maxrss)
"""


def written(folder, name, **changes):
    document = {"mpinet": "certificate 1", "edges_sha256": "0" * 64, **GREEDY[name], **changes}
    file = folder / f"{name}.cert"
    file.write_text(json.dumps(document))
    return file


def test_greedy_certificates_are_refused_before_anything_is_built(tmp_path):
    files = [str(written(tmp_path, name)) for name in GREEDY if name != "cells"]
    limit = 30  # seconds of work that all of them may be; one of them alone took more than 20
    done = subprocess.run(
        [sys.executable, "-c", SEEN, *files],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
    )
    assert done.returncode == 0, done.stderr
    *said, kilobytes = done.stdout.splitlines()
    assert len(said) == len(files)
    assert int(kilobytes) < 100 * 1024
    for sentence in said[:2]:
        assert "its claim is false: a broadcast along a tree informs" in sentence
    for sentence in said[2:]:
        assert "seconds or so, and 30 are allowed" in sentence


def test_a_hash_that_is_none_is_refused_before_the_network_is_looked_at(tmp_path):
    with pytest.raises(CertificateError, match="about another network"):
        certify(written(tmp_path, "large", edges_sha256="0"), effort=1e9)


@pytest.mark.parametrize("name", ["hypercube:5", "fattree:2,3", "lens:2,3,3", "gmn:8,256"])
def test_the_hash_is_the_same_where_the_network_is_not_kept(name, monkeypatch):
    monkeypatch.setattr("mpinet.certify.network.AT_ONCE", 7)
    topology = mpinet.open(name)
    assert edges_sha256(topology) == Network.of(topology).edges_sha256


def test_more_effort_checks_what_less_does_not(tmp_path):
    file = tmp_path / "cube.cert"
    mpinet.optimum("hypercube:7", collective="exchange", ports="all", save=file)
    with pytest.raises(OutOfReach, match=r"\(cut\) takes 1 seconds or so, and 0.001 are allowed"):
        certify(file, effort=0.001)
    assert certify(file).claim.collective == "exchange"


def test_a_front_is_estimated_by_its_order(tmp_path):
    sha256 = edges_sha256(mpinet.open("torus:20x200"))
    with pytest.raises(CertificateError, match="takes more than 67108864 cells"):
        certify(written(tmp_path, "cells", edges_sha256=sha256))
    mpinet.optimum("mesh:9x9", collective="bisection", by="front", save=tmp_path / "front.cert")
    document = json.loads((tmp_path / "front.cert").read_text())
    assert document["kind"] == "front"
    with pytest.raises(OutOfReach, match=r"\(front\)"):
        certify(tmp_path / "front.cert", effort=0.002)
    assert certify(tmp_path / "front.cert").claim.more_than == 9  # n + 1 is the width, n odd


def test_a_proof_is_read_as_far_as_the_effort_goes(tmp_path, monkeypatch):
    file = tmp_path / "lens.cert"
    mpinet.optimum("lens:2,3,3", save=file)
    assert certify(file).kind == "lrat"
    monkeypatch.setattr("mpinet.certify.work.A_COUNT", 0)
    monkeypatch.setattr("mpinet.certify.work.A_PORT", 0)
    with pytest.raises(OutOfReach, match=r"lens\.lrat\.xz has more than"):
        certify(file, effort=10 / LOOKS)


def test_memory_is_asked_for_before_it_is_taken():
    with pytest.raises(TooLarge, match="The check of this claim needs"):
        Budget(1.0).require("The check of this claim", 1, 2**60)


def test_the_command_allows_more_by_an_option(tmp_path):
    file = str(written(tmp_path, "ways"))
    for words, said in (
        ((), "seconds or so, and 30 are allowed"),
        (("--effort", "1000"), "about another network"),
        (("--effort", "0"), "--effort is a number of seconds > 0"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "mpinet", "certify", file, *words],
            capture_output=True,
            text=True,
        )
        assert done.returncode == (2 if "0" in words else 1)
        assert said in done.stderr
