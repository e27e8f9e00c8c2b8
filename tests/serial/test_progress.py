"""Progress tells steps' time: what is compiled for a first run is said, and counts apart."""

import json

import pytest

from mpinet import compiled
from mpinet.cli.commands import parse
from mpinet.cli.session import Session
from mpinet.compiled import kernel, watching
from mpinet.report import progress


@kernel
def once_more(number: int) -> int:
    """One more."""
    return number + 1


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the test turns: ``clock[0] += seconds``."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_compiling_is_said_once_and_is_no_steps_time(clock, capsys):
    with progress.Progress("steps", wanted=True, launched=True) as shown:
        for _ in range(4):
            with shown.compiling():
                clock[0] += 6
        clock[0] += 3
        shown.update(1)
    said = capsys.readouterr().err.splitlines()
    assert said == ["compiling (once; it is kept for later runs)", "steps 1 after 3 s"]


def test_short_compiling_and_unwanted_progress_say_nothing(clock, capsys):
    for wanted, seconds in ((True, 0.4), (False, 9)):
        with progress.Progress("steps", wanted=wanted, launched=True) as shown:
            for _ in range(4):
                with shown.compiling():
                    clock[0] += seconds
    assert capsys.readouterr().err == ""


def test_what_is_loaded_is_not_compiled(tmp_path, monkeypatch):
    monkeypatch.setattr(compiled.numba().config, "CACHE_DIR", str(tmp_path))
    entered = []

    class Watch:
        def __enter__(self):
            entered.append("begun")

        def __exit__(self, *error):
            entered.append("ended")

    with watching(Watch):
        for _ in range(2):
            assert once_more.bind("again")(41) == 42
    assert entered == ["begun", "ended"] * (not compiled.numba().config.DISABLE_JIT)


def test_json_is_an_object_a_line_with_what_programs_ask_for(clock, capsys):
    with progress.Progress("steps", wanted="json", launched=True) as shown:
        shown.command = "route"
        shown.facts = lambda: {"moving": 7, "checkpoint": {"step": 3, "ago": 1.5}}
        for done in range(1, 6):
            clock[0] += 1
            shown.update(done, 10)
        shown.say("a word")
    first, second, note, last = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["done"], second["done"], last["done"]) == (2, 4, 5)
    assert first == {
        **{"command": "route", "unit": "steps", "done": 2, "total": 10, "seconds": 2.0},
        **{"rate": 1.0, "left": 8.0, "moving": 7, "checkpoint": {"step": 3, "ago": 1.5}},
    }
    assert note == {"command": "route", "note": "a word"}


def test_people_are_told_the_same(clock, capsys):
    with progress.Progress("steps", wanted=True, launched=True) as shown:
        shown.facts = lambda: {"moving": 7, "checkpoint": {"step": 3, "ago": 1.5}}
        clock[0] += 4
        shown.update(2, 4)
    told = "steps 2 of 4 after 4 s, 4 s left; 7 messages moving; checkpoint at step 3, 2 s ago\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize("words", [["--progress", "json"], ["--progress=json"]])
def test_a_command_tells_its_progress_as_json(words, tmp_path, capsys):
    kept = ["--checkpoint", str(tmp_path / "kept"), "--every", "0"]
    assert Session(["route", "ring:12", "--pairs", "all", *kept, *words]).run() == 0
    said = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert (said["command"], said["unit"]) == ("route", "steps")
    assert said["done"] >= 6 and said["moving"] >= 0 and said["checkpoint"]["step"] >= 5


def test_the_words_of_a_script_are_its_own():
    words = ["exec", "--on", "ring:4", "a.py", "--progress", "json"]
    assert parse(words).script[-2:] == ["--progress", "json"]
    assert parse(["show", "--progress", "ring:4"]).progress is True
    assert parse(["show", "--progress", "json", "ring:4"]).progress == "json"
    assert parse(["show", "--no-progress", "ring:4"]).progress is False
    assert parse(["show", "ring:4"]).progress is None
