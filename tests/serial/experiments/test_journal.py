"""A journal's lines are what was found or nothing: whatever an accident or an editor has left."""

import json
import os
import resource
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from mpinet.cli.session import CommandSession
from mpinet.experiments.journal import Journal

GOOD = {"claimed": 3, "measured": 3, "holds": True}

UNSOUND = {
    "another checksum": '["0123456789abcdef", "[1, 2]"]',
    "no text": "[1, 2]",
    "no list": "{}",
    "three things": '["a", "b", "c"]',
    "nothing": "null",
    "more digits than Python reads": "9" * 5000,
    "endless brackets": "[" * 100_000,
}


def line(key: object = "a key", found: object = GOOD, version: object = "v") -> str:
    text = json.dumps([version, key, found])
    return json.dumps([sha256(text.encode()).hexdigest()[:16], text]) + "\n"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    found = Journal(tmp_path, "rank-0", "v", "--journal")
    yield found
    found.close()


@pytest.mark.parametrize("what", UNSOUND)
def test_an_unsound_line_is_passed_over_and_counted(
    what: str, journal: Journal, tmp_path: Path
) -> None:
    (tmp_path / "rank-7.jsonl").write_text(f"{UNSOUND[what]}\n{line('another')}")
    assert journal.known() == ({"another": GOOD}, 1)


def test_a_line_in_which_a_figure_was_changed_is_passed_over(
    journal: Journal, tmp_path: Path
) -> None:
    (tmp_path / "rank-7.jsonl").write_text(line().replace("3", "4", 1))
    assert journal.known() == ({}, 1)


def test_what_another_version_has_found_is_passed_over(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "rank-7.jsonl").write_text(line(version="older"))
    assert journal.known() == ({}, 0)


def test_bytes_that_are_no_text_are_passed_over(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "rank-7.jsonl").write_bytes(b"\xff\xfe\n" + line().encode())
    assert journal.known() == ({"a key": GOOD}, 1)


def test_what_json_cannot_say_is_not_written(journal: Journal) -> None:
    journal.write("odd", {"measured": float("nan")})
    journal.write("sound", GOOD)
    assert journal.known() == ({"sound": GOOD}, 0)


@pytest.mark.parametrize("left", [0, 1, 20, -2, -1])
def test_a_finding_behind_a_torn_line_is_found(left: int, tmp_path: Path) -> None:
    """A stopped run may leave any part of its last line, and the next one writes behind it."""
    (tmp_path / "rank-0.jsonl").write_text(line("first") + line("second")[:left])
    journal = Journal(tmp_path, "rank-0", "v", "--journal")
    journal.write("third", GOOD)
    journal.close()
    sound = ["first", "second", "third"] if left == -1 else ["first", "third"]
    assert list(journal.known()[0]) == sound


def test_a_folder_where_a_journal_is_expected_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rank-3.jsonl").mkdir()
    assert CommandSession(["verify", "gbsn", "--journal", str(tmp_path)]).run() == 2
    assert "rank-3.jsonl: this is not a file" in capsys.readouterr().err


def test_a_journal_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    words = ["verify", "GBSN-S3-degree-bsn", "--journal", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "mpinet", *words],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)),
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # Python keeps bytecode that is cut off
    )
    assert done.returncode == 1
    assert done.stderr == f"mpinet: Cannot write {tmp_path}/rank-0.jsonl: File too large.\n"
