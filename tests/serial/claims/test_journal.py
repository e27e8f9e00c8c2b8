"""A journal's lines are findings or nothing: whatever an accident or an editor has left there."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from mpinet.claims.finding import Finding
from mpinet.claims.journal import Journal, findings_in
from mpinet.cli.session import Session

GOOD = {"claimed": 3, "measured": 3, "holds": True, "where": {}, "seconds": 0.5}

UNSOUND = {
    "nan claimed": '{"claimed": NaN}',
    "infinity claimed": '{"claimed": Infinity}',
    "a number too large for a float": '{"claimed": [1e999]}',
    "nan measured deep down": '{"measured": {"a": [-Infinity]}}',
    "nan seconds": '{"seconds": NaN}',
    "seconds whose sum is infinite": '{"seconds": 1e308}',
    "negative seconds": '{"seconds": -1}',
    "seconds as a text": '{"seconds": "1"}',
    "a list for where": '{"where": []}',
    "a number for holds": '{"holds": 1}',
    "a number for an error": '{"error": 1}',
    "an unknown field": '{"colour": 1}',
    "no object": "[]",
    "more digits than Python reads": f'{{"claimed": {"9" * 5000}}}',
    "endless brackets": f'{{"claimed": {"[" * 100_000}',
}


def line(finding: str, key: str = '["a claim", "a point"]') -> str:
    return f'{{"version": "v", "key": {key}, "finding": {finding}}}\n'


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    found = Journal(tmp_path, "v", 0)
    yield found
    found.close()


@pytest.mark.parametrize("what", UNSOUND)
def test_an_unsound_line_is_passed_over(what: str, journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "rank-7.jsonl").write_text(
        line(UNSOUND[what]) + line(json.dumps(GOOD), '["another", ""]')
    )
    assert findings_in(journal.known()) == {("another", ""): Finding(**GOOD)}


@pytest.mark.parametrize("key", ['"ab"', "[1, 2]", '["a"]', '["a", "b", "c"]', "null"])
def test_a_line_without_a_sound_key_is_passed_over(
    key: str, journal: Journal, tmp_path: Path
) -> None:
    (tmp_path / "rank-7.jsonl").write_text(line(json.dumps(GOOD), key))
    assert findings_in(journal.known()) == {}


def test_bytes_that_are_no_text_are_passed_over(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "rank-7.jsonl").write_bytes(b"\xff\xfe\n" + line(json.dumps(GOOD)).encode())
    assert len(findings_in(journal.known())) == 1


@pytest.mark.parametrize("left", [0, 1, 20, -2, -1])
def test_a_finding_behind_a_torn_line_is_found(left: int, tmp_path: Path) -> None:
    """A stopped run may leave any part of its last line, and the next one writes behind it."""
    whole = line(json.dumps(GOOD), '["first", ""]')
    torn = line(json.dumps(GOOD), '["second", ""]')[:left]
    (tmp_path / "rank-0.jsonl").write_text(whole + torn)
    journal = Journal(tmp_path, "v", 0)
    journal.write(("third", ""), Finding(**GOOD))
    journal.close()
    sound = ["first", "second", "third"] if left == -1 else ["first", "third"]
    assert list(findings_in(journal.known())) == [(name, "") for name in sound]


def test_a_folder_where_a_journal_is_expected_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rank-3.jsonl").mkdir()
    assert Session(["verify", "gbsn", "--journal", str(tmp_path)]).run() == 2
    assert "rank-3.jsonl: this is no file" in capsys.readouterr().err


def test_a_journal_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    words = ["verify", "GBSN-S3-degree-bsn", "--journal", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "mpinet", *words],
        capture_output=True,
        text=True,
        timeout=150,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)),
    )
    assert done.returncode == 1
    assert done.stderr == f"mpinet: Cannot write {tmp_path}/rank-0.jsonl: File too large.\n"
