"""Certificates are checked against the network itself; whatever is changed in one is refused."""

import json
import lzma
import subprocess
import sys

import pytest
from serial.certify.changes import changed

import mpinet
from mpinet.certify.certificate import certify
from mpinet.errors import CertificateError, FileError

PIPELINES = {
    "last": ("debruijn:3", "broadcast", 5, "one"),  # the class LP of one item
    "front": ("mesh:3x3", "broadcast", 7, "all"),  # a flow over time
    "tree": ("lens:2,3,3", "reduce", 5, "one"),  # a node that leaves pieces
    "parts": ("petersen", "gossip", 4, "all"),
    "sums": ("ring:6", "allreduce", 12, "one"),
    "hub": ("fattree:2,3", "allreduce", 4, "one"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Certificates of each kind."""
    found = tmp_path_factory.mktemp("certificates")
    mpinet.optimum("debruijn:4", save=found / "classes.cert")
    mpinet.optimum("lens:2,3,3", save=found / "proof.cert")
    mpinet.optimum("mesh:7", save=found / "distance.cert")
    mpinet.optimum("complete:9", save=found / "growth.cert")
    mpinet.optimum("debruijn:3", collective="scatter", ports="all", save=found / "flow.cert")
    mpinet.optimum("fattree:2,2", collective="gather", save=found / "gates.cert")
    mpinet.optimum("shuffleexchange:3", collective="gossip", save=found / "pieces.cert")
    mpinet.optimum("mesh:2x3", collective="exchange", ports="all", save=found / "bridge.cert")
    mpinet.optimum("clens:3,2", collective="gather", ports="all", save=found / "busses.cert")
    mpinet.optimum("lens:2,3,3", collective="gossip", save=found / "heard.cert")
    mpinet.optimum("lens:2,3,3", collective="exchange", save=found / "bused.cert")
    for name, (network, collective, items, ports) in PIPELINES.items():
        given = {"collective": collective, "items": items, "ports": ports}
        given["root"] = 4 if name == "front" else 0
        mpinet.optimum(network, **given, save=found / f"{name}.cert")
    return found


@pytest.mark.parametrize(
    ("kind", "more_than"),
    [
        *(("classes", 4), ("proof", 4), ("distance", 5), ("growth", 3)),
        *(("flow", 3), ("gates", 4), ("pieces", 8), ("bridge", 3)),
        *(("busses", 2), ("heard", 14), ("bused", 23)),
        *(("last", 7), ("front", 4), ("tree", 12), ("parts", 11), ("sums", 19), ("hub", 13)),
    ],
)
def test_what_was_found_is_accepted(folder, kind, more_than):
    assert certify(folder / f"{kind}.cert").claim.more_than == more_than


@pytest.mark.parametrize(
    ("kind", "changes", "sentence"),
    [
        ("classes", {"network": "debruijn:5"}, "it is about another network: debruijn:5"),
        ("classes", {"network": "mine.py:Mine:4"}, "not a family of mpinet"),
        ("classes", {"network": "debruijn:x"}, "network of the certificate cannot be opened"),
        ("classes", {"claim__more_than": 5}, "the certificate has|the multipliers name"),
        ("classes", {"claim__root": 3}, "the certificate has|no contradiction|negative"),
        ("classes", {"claim__root": 99}, "has no processor 99"),
        ("classes", {"claim__ports": "all"}, "this kind is for one port"),
        ("classes", {"claim__collective": "gossip"}, "names a root, but gossip has no root"),
        ("classes", {"claim__collective": "sorting"}, "collective is unknown"),
        ("classes", {"claim__collective": "scatter"}, "this kind is for broadcast and reduce"),
        ("growth", {"claim__collective": "gather"}, "growth is a bound for broadcast"),
        ("growth", {"kind": "cut"}, "needs a field node or since"),
        ("flow", {"claim__more_than": 4}, "the cut proves nothing"),
        ("flow", {"claim__root": 3}, "the root belongs to the set"),
        ("flow", {"claim__root": None}, "root is not a number"),
        ("flow", {"network": "debruijn:4"}, "about another network: debruijn:4"),
        ("flow", {"since": [0] * 8}, "the root belongs to the set"),
        ("flow", {"since": [-1] * 8}, "0 items must leave the set"),
        ("flow", {"since": [-1] * 7}, "since does not have one number per node"),
        ("flow", {"since": [-1] * 7 + [9]}, "number of since is not -1..3"),
        ("flow", {"senders": [[0, 1]]}, "no limit if all ports may be used"),
        ("gates", {"claim__ports": "all"}, "no limit if all ports may be used"),
        ("gates", {"receivers": [], "senders": []}, "the cut proves nothing"),
        ("gates", {"receivers": [[0, 0]]}, "not a list of nodes and steps"),
        ("gates", {"receivers": [[99, 1]]}, "not a list of nodes and steps"),
        ("gates", {"receivers": [3]}, "not a list of nodes and steps"),
        ("pieces", {"claim__more_than": 9}, "this takes no more than 9 steps"),
        ("pieces", {"claim__collective": "broadcast"}, "root is not a number"),
        ("pieces", {"claim__ports": "all"}, "no limit if all ports may be used"),
        ("pieces", {"senders": []}, "enters a part, but neither end is a named"),
        ("pieces", {"senders": [0, 1, 2]}, "this takes no more than 8 steps"),
        ("pieces", {"senders": [True]}, "senders are not a list of nodes"),
        ("pieces", {"parts": [-1] * 8}, "this takes no more than 8 steps"),
        ("pieces", {"parts": "nodes"}, "parts does not have one number per node"),
        ("bridge", {"parts": [0] * 6}, "this takes no more than"),
        ("busses", {"claim__more_than": 3}, "the cut proves nothing"),
        ("busses", {"busses": "0"}, "about another network"),
        ("busses", {"senders": [[0, 1]]}, "no limit if all ports may be used"),
        ("heard", {"claim__more_than": 15}, "this takes no more than 15 steps"),
        ("heard", {"senders": [], "receivers": []}, "this takes no more than 14 steps"),
        ("heard", {"claim__collective": "exchange", "claim__more_than": 24}, "no more than 24"),
        ("bused", {"claim__collective": "gossip"}, "this takes no more than 23 steps"),
        ("bused", {"claim__more_than": 24}, "this takes no more than 24 steps"),
        ("last", {"claim__more_than": 8}, "the certificate has|the multipliers name"),
        ("last", {"claim__items": 4}, "the certificate has|the multipliers name"),
        ("last", {"claim__items": 9}, "9 items alone take more than 7 steps"),
        ("last", {"claim__items": 0}, "items are not a number 1..1048576"),
        ("last", {"claim__items": 5.0}, "items are not a number"),
        ("last", {"claim__rounds": 5}, "the claim must have the fields"),
        (
            "last",
            {"claim__collective": "scatter"},
            "several items are only for broadcast, reduce, gossip",
        ),
        ("front", {"claim__more_than": 5}, "the cut proves nothing"),
        ("front", {"claim__items": 6}, "6 items must leave the set, but 6 or more can"),
        ("front", {"claim__root": 0}, "the root does not belong to the set"),
        ("front", {"since": [0] * 9}, "every processor belongs to the set"),
        ("front", {"since": [-1] * 9}, "the root does not belong to the set"),
        ("front", {"network": "mesh:3x4"}, "about another network"),
        ("front", {"senders": [[0, 1]]}, "no limit if all ports may be used"),
        ("tree", {"claim__more_than": 13}, "this takes no more than 13"),
        ("tree", {"claim__items": 4}, "this takes no more than 12"),
        ("tree", {"node": 0}, "this takes no more than 12"),
        ("tree", {"node": 7}, "not in the network"),
        ("tree", {"node": True}, "not in the network"),
        ("tree", {"claim__ports": "all"}, "a node is no limit"),
        ("tree", {"kind": "growth"}, "growth gives no bound on reductions over busses"),
        ("tree", {"kind": "distance"}, "steps away from the last of the items"),
        ("parts", {"claim__items": 3}, "this takes no more than 11 steps"),
        ("parts", {"claim__more_than": 12}, "this takes no more than 12 steps"),
        ("sums", {"claim__more_than": 20}, "this takes no more than 20"),
        ("sums", {"claim__items": 11}, "this takes no more than 19"),
        ("sums", {"claim__ports": "all"}, "at 12 messages per step"),
        ("sums", {"kind": "growth"}, "growth proves no more"),
        ("hub", {"kind": "hops"}, "this takes no more than 13"),
        ("hub", {"claim__more_than": 14}, "this takes no more than 14"),
        ("hub", {"claim__items": 3}, "this takes no more than 13"),
        (
            "hub",
            {"claim__collective": "exchange", "claim__items": 1},
            "parts does not have one number",
        ),
        ("classes", {"rows": 7}, "the certificate has 7 rows"),
        ("classes", {"multipliers": {"0": 1}}, "no contradiction"),
        ("classes", {"multipliers": {"0": 1.5}}, "multiplier of row 0 is not an integer"),
        ("classes", {"multipliers": {"99999": 1}}, "name row 99999"),
        ("classes", {"multipliers": [1]}, "not an object of row numbers"),
        ("classes", {"classes": [0] * 16}, "class 0 has nodes of different distances"),
        ("classes", {"classes": [0]}, "neither"),
        ("classes", {"kind": "oracle"}, "kind of the certificate is unknown"),
        ("proof", {"claim__more_than": 5}, "for another formula"),
        ("proof", {"proof": "../proof.lrat.xz"}, "not a file next to the certificate"),
        ("proof", {"proof_sha256": "0"}, "not the proof of this certificate"),
        ("proof", {"busses": "0"}, "about another network"),
        ("distance", {"claim__more_than": 6}, "farthest processor is 6 hops away"),
        ("growth", {"claim__more_than": 4}, "growth proves no more"),
    ],
)
def test_every_change_is_refused_by_its_sentence(folder, kind, changes, sentence):
    with pytest.raises(CertificateError, match=sentence):
        certify(changed(folder, kind, **changes))


def test_each_multiplier_counts(folder):
    mpinet.optimum("debruijn:3", save=folder / "six.cert")
    document = json.loads((folder / "six.cert").read_text())
    assert len(document["multipliers"]) == 6
    for row in document["multipliers"]:
        fewer = {key: many for key, many in document["multipliers"].items() if key != row}
        with pytest.raises(CertificateError, match="no contradiction"):
            certify(changed(folder, "six", multipliers=fewer))


def test_truncated_and_huge_files_are_refused(folder, monkeypatch):
    text = (folder / "classes.cert").read_text()
    (folder / "half.cert").write_text(text[: len(text) // 2])
    with pytest.raises(CertificateError, match="not a JSON document, or truncated"):
        certify(folder / "half.cert")
    with pytest.raises(FileError, match="cannot be read"):
        certify(folder / "none.cert")
    monkeypatch.setattr("mpinet.certify.certificate.MOST_BYTES", 100)
    with pytest.raises(FileError, match="more than 100 bytes"):
        certify(folder / "classes.cert")


def test_a_proof_s_lines_are_read_up_to_a_bound(folder, monkeypatch):
    monkeypatch.setattr("mpinet.certify.certificate.MOST_PROOF", 3)
    with pytest.raises(CertificateError, match="is too large: more than 3 bytes"):
        certify(folder / "proof.cert")


@pytest.mark.parametrize(
    ("packed", "sentence"),
    [
        (lambda text: text[:30], "is not an xz file, or truncated"),
        (lambda text: b"plain", "is not an xz file"),
        (lambda text: lzma.compress(b""), "ends before the empty clause"),
    ],
)
def test_a_proof_that_was_exchanged_with_its_hash_is_followed(folder, packed, sentence):
    from hashlib import sha256

    text = packed((folder / "proof.lrat.xz").read_bytes())
    (folder / "other.xz").write_bytes(text)
    hashed = sha256(text).hexdigest()
    with pytest.raises(CertificateError, match=sentence):
        certify(changed(folder, "proof", proof="other.xz", proof_sha256=hashed))


def test_no_solver_is_imported(folder):
    code = (
        "import sys; from pathlib import Path; from mpinet.certify.certificate import certify; "
        f"[certify(Path({str(folder)!r}) / (k + '.cert')) for k in ('classes', 'proof')]; "
        "print(sorted({'highspy', 'pysat', 'ortools', 'mpinet.measure'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
