"""Progress tells steps' time: what is compiled for a first run is said, and counts apart."""

import pytest

from mpinet import compiled
from mpinet.compiled import kernel, watching
from mpinet.report import progress


@kernel("int64(int64)")
def once_more(number):
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
