"""What commands read from ``--faults``."""

import pytest

from mpinet.errors import MpinetError
from mpinet.jobs.faults import failures_of, parse_faults
from mpinet.networks.catalogue import open_topology


def test_words_of_the_command_and_of_a_file_are_one(tmp_path):
    torus = open_topology("torus:4x4")
    words = "node:5,link:0-1,link:10-11@4-9,node:3@7"
    (tmp_path / "dead.txt").write_text("node:5\nlink:0-1 link:10-11@4-9\n\nnode:3@7\n")
    for text in (words, str(tmp_path / "dead.txt")):
        faults = parse_faults(torus, text)
        assert (faults.dead.tolist(), faults.changes) == ([5], [4, 7, 9])
        assert faults.cut.tolist() == [[0, 1], [1, 0]]
        dead, cut = faults.at(8)
        assert (dead.tolist(), len(cut)) == ([3, 5], 4)


def test_scripts_fail_for_good_and_at_a_step():
    assert failures_of(open_topology("ring:5"), "node:1@4,node:0@0") == {1: 4, 0: 0}
    assert failures_of(open_topology("ring:5"), None) == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("node:1", "'node:1' is not node:U@STEP"),
        ("node:1@x", "'node:1@x': give the steps as @FROM"),
        ("link:0-1@4", "'link:0-1@4' is not node:U@STEP"),
        ("node:1@5,node:1@6-8", "is not node:U@STEP"),
        ("node:99@1", "Node 99 is not in fattree:2,2"),
        ("node:5@1", "is a switch, not a processor of the script"),
        ("none", "--faults none: give node:U, link:U-V"),
        ("node:1,none", "'none' is none of node:U, link:U-V and bus:B"),
    ],
)
def test_other_words_of_scripts_are_refused_in_a_sentence(words, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MpinetError, match=said):
        failures_of(open_topology("fattree:2,2"), words)
