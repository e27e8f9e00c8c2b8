"""Jobs with checkpoints that are hit by signals end, leave nothing, and go on to the right digest.

A few trials here, a hundred by ``launch/test --long --only faults``; the table of what became of
them is in ``test-logs/faults/table.txt``.
"""

import os
import signal
import subprocess
import uuid
from pathlib import Path

import pytest
from faults.campaign import HEADING, Broken, Trial, comes_true, half_files, marked

SHORT, LONG = (1, 11, 12), range(100)


@pytest.mark.parametrize("number", LONG if os.environ.get("MPINET_LONG") else SHORT)
def test_a_job_that_is_hit_ends_and_goes_on(number: int, tmp_path: Path) -> None:
    row = Trial(number, tmp_path, noticed=60.0).play()
    if logs := os.environ.get("MPINET_TEST_LOGS"):
        table = Path(logs, "table.txt")
        with table.open("a") as file:
            file.write(f"{row.line()}\n" if file.tell() else f"{HEADING}\n{row.line()}\n")


def hit_where(tmp_path: Path, monkeypatch, job: str) -> Trial:
    """A trial whose job is a line of shell instead, which is killed at once."""
    made = Trial(0, tmp_path)
    made.signal, made.target, made.stage, made.later = signal.SIGKILL, "launch/run", "begun", 0.0

    def start(ranks: int, words: list[str]) -> subprocess.Popen[str]:
        for name in ("said.out", "said.err"):
            (tmp_path / name).write_text("")
        environment = {**os.environ, "MPINET_TRIAL": made.mark}
        started = subprocess.Popen(["sh", "-c", job], cwd=tmp_path, env=environment, text=True)
        assert "begun" not in job or comes_true((tmp_path / "begun").exists, 60)
        return started

    monkeypatch.setattr(made, "start", start)
    return made


def test_a_process_that_is_left_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("faults.campaign.TIME_LIMIT", 3)
    with pytest.raises(Broken, match="are left"):
        hit_where(tmp_path, monkeypatch, "sleep 99 & touch begun; wait").play()


def test_a_job_that_hangs_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("faults.campaign.TIME_LIMIT", 0.3)
    made = hit_where(tmp_path, monkeypatch, "sleep 9")
    made.signal = signal.SIGSTOP
    with pytest.raises(Broken, match="did not end"):
        made.play()


def test_half_a_result_is_noticed(tmp_path, monkeypatch):
    (tmp_path / "found.json").write_text('{"digest": ')
    assert half_files(tmp_path) == ["found.json"]
    with pytest.raises(Broken, match="half a result"):
        hit_where(tmp_path, monkeypatch, "exec sleep 9").play()


def test_manifests_are_read_where_they_are_in_place(tmp_path):
    made = Trial(0, tmp_path)
    for place, text in (("", "{"), ("writer-5e", "{"), ("part/writer-a1", ""), ("part", "{}")):
        (tmp_path / "kept" / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / "kept" / place / "manifest.json").write_text(text)
    with pytest.raises(ValueError):
        made.manifests()
    (tmp_path / "kept/manifest.json").write_text('{"state": "route-3"}')
    assert sorted(map(len, made.manifests())) == [0, 1]


def test_a_document_that_is_missing_is_told_with_the_last_words(tmp_path):
    (tmp_path / "said.out").write_text("")
    (tmp_path / "said.err").write_text("no core is free\n")
    with pytest.raises(Broken, match="resumed: no document but '': no core is free"):
        Trial(0, tmp_path).compare("said.out", "resumed")


def test_processes_are_known_by_their_mark():
    mark = uuid.uuid4().hex
    job = subprocess.Popen(["sleep", "9"], env={"MPINET_TRIAL": mark})
    assert comes_true(lambda: marked(mark) == [job.pid], 10)
    job.kill()
    assert comes_true(lambda: not marked(mark), 10)  # dead, though nobody has asked how
    job.wait()
