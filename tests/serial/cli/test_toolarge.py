"""What a rank can neither hold nor walk is refused at once, in one sentence with both numbers."""

import re

import pytest

from mpinet import effort, memory
from mpinet.cli.session import Session
from mpinet.errors import UsageError
from mpinet.networks import routing


def refusal(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a refused command prints."""
    assert Session(command.split()).run() == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    return told.err


@pytest.mark.parametrize(
    ("command", "looks"),
    [
        ("show lens:3,2,58", (2 * 2**58) * 4 - 8),
        ("show torus:4x2147483648", 2**33 * 4),
        ("flood roadrunner:3,255,3", 50329350 * 510),
        ("neighbors complete:1073741824 5", 2**30 - 1),
        ("show torus:4x2147483648 --distances", 2**33 // 512 * 2**33 * 4),
    ],
)
def test_a_walk_that_would_not_end_is_refused_with_both_numbers(command, looks, capsys):
    told = refusal(command, capsys)
    needed, most = (int(n.replace(",", "")) for n in re.findall(r"(?<= )[\d,]{9,}", told))
    assert needed == looks > most


def test_a_path_that_nobody_would_read_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(routing, "LONGEST_PATH", 2**12)
    told = refusal(f"path mesh:{2**40}x2 0 {2**41 - 1}", capsys)
    assert f"more than {2**12:,} hops from 0 to {2**41 - 1}" in told


def test_ranks_share_a_walk():
    effort.require_walk(2 * effort.LOOKS, "A ring", ranks=2)
    with pytest.raises(UsageError, match="2 ranks look at"):
        effort.require_walk(2 * effort.LOOKS + 1, "A ring", ranks=2)


def test_floods_that_do_not_fit_into_memory_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(memory, "host_memory", lambda: 2**20)
    assert "A flood of ring:9000 from each" in refusal("show ring:9000 --distances", capsys)


def test_a_step_to_all_neighbours_is_refused_before_these_are_listed(monkeypatch, capsys):
    monkeypatch.setattr(memory, "host_memory", lambda: 23 * 9000)
    told = refusal("measure ring:9000 diameter", capsys)
    assert "A step to all neighbours in ring:9000 needs" in told
