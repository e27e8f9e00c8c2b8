"""Progress tells steps' time: what is compiled for a first run is said, and counts apart."""

import json
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

import mpinet
from mpinet.base.native import background
from mpinet.cli.commands import parse
from mpinet.cli.session import CommandSession
from mpinet.compiled import kernel
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


def test_waiting_for_the_compiler_is_no_steps_time(clock, capsys):
    with progress.Progress("steps", wanted=True, launched=True) as shown:
        for _ in range(4):
            with shown.waiting():
                clock[0] += 6
        clock[0] += 3
        shown.update(1)
    assert capsys.readouterr().err.splitlines() == ["steps 1 after 3 s"]


class Slow:
    """A kernel whose compiler takes its time: the test's clock goes on while it is asked."""

    name = fingerprint = "slow"

    def __init__(self, clock, seconds):
        self.clock, self.left = clock, seconds
        self.asked, self.done = range(23), 6

    def look(self):
        self.clock[0] += 0.5
        self.left -= 0.5

    def has(self, _fingerprint):
        return self.left <= 0


@pytest.fixture
def waiting(clock, monkeypatch):
    """Wait for a compiler that takes so many seconds, with six of 23 kernels made."""

    def wait(*seconds):
        watch = background.Watch()
        watch._waited, watch._next_told = 0.0, 1.0
        monkeypatch.setattr(watch, "_pause", lambda: None)
        monkeypatch.setattr(watch, "_compile", lambda: None)
        for each in seconds:
            watch.compiler = slow = Slow(clock, each)
            monkeypatch.setattr(background, "kept", lambda slow=slow: slow)
            watch._sleep(lambda: False, slow)

    monkeypatch.setattr(background, "TOLD", (1.0, 5.0))
    monkeypatch.setattr(background.time, "monotonic", lambda: clock[0])
    return wait


LINES = ["compiling 7 of 23 kernels, 2 s", "compiling 7 of 23 kernels, 7 s"]


def test_a_wait_for_the_compiler_is_told_on_any_stderr(waiting, capsys):
    waiting(0.5)
    assert capsys.readouterr().err == ""
    waiting(8)
    assert capsys.readouterr().err.splitlines() == [f"mpinet: {line}" for line in LINES]
    waiting(2, 2, 2, 2, 2)  # the time of all waits counts
    assert len(capsys.readouterr().err.splitlines()) == 2


@pytest.mark.parametrize(
    ("wanted", "launched", "lines"),
    [
        (None, False, [f"mpinet: {line}" for line in LINES]),  # a pipe: no progress is shown
        (None, True, LINES),
        (True, True, LINES),
        (False, True, []),
        (False, False, []),
        ("json", True, [json.dumps({"command": "route", "note": line}) for line in LINES]),
    ],
)
def test_a_command_tells_waits_as_it_tells_its_progress(
    waiting, clock, capsys, wanted, launched, lines
):
    with progress.Progress("steps", wanted=wanted, launched=launched) as shown:
        shown.command = "route"
        began = shown._began
        with background.waiting_by(shown.waiting, shown.tell_wait):
            waiting(8)
        assert shown._began == began + 8
    assert capsys.readouterr().err.splitlines() == lines


def test_one_rank_tells_that_all_wait(waiting, monkeypatch, capsys):
    monkeypatch.setattr(background, "launched_rank", lambda: 1)
    waiting(8)
    assert capsys.readouterr().err == ""


def test_a_job_that_finds_its_code_waits_for_nothing(capsys):
    entered = []

    @contextmanager
    def watch():
        entered.append("begun")
        yield
        entered.append("ended")

    with background.waiting_by(watch, entered.append):
        assert once_more.bind("again")(41) == 42
        before = len(entered)
        assert once_more.bind("another")(41) == 42  # the same code under another name
    assert before in (0, 2) and len(entered) == before


def test_a_bar_names_what_is_measured_now(monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(progress, "_is_terminal", lambda: True)
    with progress.Progress("cells", wanted=None, launched=False) as shown:
        shown.update(1, 4, None, "gossip of ring:8")
        assert shown._bar.tasks[0].description == "cells (gossip of ring:8)"
        shown.update(2, 4, 7)
        assert shown._bar.tasks[0].description == "cells (at step 7 of the next)"
        shown.update(4, 4)
        assert shown._bar.tasks[0].description == "cells"


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
        **{"rate": 1.0, "left": 8.0, "step": None, "moving": 7},
        "checkpoint": {"step": 3, "ago": 1.5},
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
    assert CommandSession(["route", "ring:12", "--pairs", "all", *kept, *words]).run() == 0
    said = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert (said["command"], said["unit"]) == ("route", "steps")
    assert said["done"] >= 6 and said["moving"] >= 0 and said["checkpoint"]["step"] >= 5


def test_a_long_run_of_several_tells_its_steps(clock, capsys):
    for wanted in (True, "json"):
        with progress.Progress("runs", wanted=wanted, launched=True) as shown:
            clock[0] += 4
            shown.update(1, 4, 5230)
    people, programs = capsys.readouterr().err.splitlines()
    assert people == "runs 1 of 4 after 4 s, 12 s left; at step 5230 of the next"
    assert json.loads(programs)["step"] == 5230


@pytest.mark.parametrize("rates", ["0.1", "0.1,0.2"])
def test_load_tells_how_far_its_runs_are(rates, capsys):
    run = ["load", "ring:8", "--rate", rates, "--warmup", "5", "--steps", "20"]
    assert CommandSession([*run, "--progress", "json"]).run() == 0
    said = json.loads(capsys.readouterr().err.splitlines()[-1])
    runs = 1 + 2 * ("," in rates)  # several end with one in overload
    assert (said["unit"], said["done"], said["total"]) == ("runs", runs, runs)


def test_load_tells_the_steps_of_the_run_under_way(monkeypatch, capsys):
    told = []
    monkeypatch.setattr(progress.Progress, "update", lambda self, *far: told.append(far))
    assert (
        CommandSession(["load", "ring:8", "--rate", "0.1", "--warmup", "5", "--steps", "20"]).run()
        == 0
    )
    done, total, steps = told[-2]
    assert (done, total, told[-1]) == (0, 1, (1, 1)) and steps >= 25


def test_the_words_of_a_script_are_its_own():
    words = ["exec", "--on", "ring:4", "a.py", "--progress", "json"]
    assert parse(words).script[-2:] == ["--progress", "json"]
    assert parse(["show", "--progress", "ring:4"]).line.progress is True
    assert parse(["show", "--progress", "json", "ring:4"]).line.progress == "json"
    assert parse(["show", "--no-progress", "ring:4"]).line.progress is False
    assert parse(["show", "ring:4"]).line.progress is None


class Frontend:
    """What a notebook shows below a cell, by IPython's protocol: new data replace the former."""

    def __init__(self):
        self.states = []
        self.displays = 0

    def display(self, data, *, raw, display_id):
        assert raw and display_id
        self.displays += 1
        self.update(data, raw=True)
        return self

    def update(self, data, *, raw):
        assert raw
        self.states.append(data)


@pytest.fixture
def frontend(monkeypatch):
    """The stand-in for IPython within a notebook's kernel."""
    there = Frontend()
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    shown = SimpleNamespace(display=there.display)
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    return there


def test_a_notebook_shows_one_line_that_is_written_anew(frontend, clock):
    with progress.Progress("steps", wanted="notebook", launched=False) as shown:
        for done in (1, 2, 3, 4):
            clock[0] += 1
            shown.update(done, 8)
        clock[0] += 0.1
        shown.update(5, 8)
    assert [state["text/plain"] for state in frontend.states] == [
        "steps 2 of 8 after 2 s, 6 s left",
        "steps 3 of 8 after 3 s, 5 s left",
        "steps 4 of 8 after 4 s, 4 s left",
        "",
    ]
    assert '<progress max="1" value="0.2500">' in frontend.states[0]["text/html"]
    assert "<progress" not in frontend.states[-1]["text/html"]
    assert frontend.displays == 1


def test_a_notebook_shows_nothing_of_what_is_quick_and_leaves_a_failures_last_state(
    frontend, clock
):
    with progress.Progress("steps", wanted="notebook", launched=False) as shown:
        clock[0] += 1
        shown.update(1)
    assert frontend.states == []
    with (
        pytest.raises(KeyboardInterrupt),
        progress.Progress("steps", wanted="notebook", launched=False) as shown,
    ):
        clock[0] += 4
        shown.update(2)
        raise KeyboardInterrupt
    assert [state["text/plain"] for state in frontend.states] == ["steps 2 after 4 s"]


def test_notes_stand_above_the_line_as_text(frontend, clock):
    with progress.Progress("steps", wanted="notebook", launched=False) as shown:
        shown.say("<b>&")
        clock[0] += 3
        shown.update(1)
    assert frontend.states[-2]["text/plain"] == "<b>&\nsteps 1 after 3 s"
    assert "&lt;b&gt;&amp;<br>steps" in frontend.states[-2]["text/html"]
    assert frontend.states[-1]["text/plain"] == "<b>&"


def test_functions_show_their_progress_in_a_notebook_and_nowhere_else(frontend, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0)
    monkeypatch.setattr(progress, "BLINK", 0)
    found = mpinet.route("ring:12", pairs="all")
    steps = [state["text/plain"].split(" after")[0] for state in frontend.states]
    assert steps[-2:] == [f"steps {found.steps}", ""]
    assert f"steps {found.steps - 1}" in steps and frontend.displays == 1
    swept = mpinet.sweep({"command": "flood", "topology": ["ring:6", "ring:8"]})
    assert frontend.states[-2]["text/plain"].startswith("points 2 of 2 after ")
    assert swept.points == 2 and frontend.displays == 2
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: object()))
    mpinet.route("ring:12", pairs="all")  # in a terminal's IPython
    assert frontend.displays == 2


def test_a_cell_is_told_from_where_it_runs_also_by_others(frontend, clock, monkeypatch):
    from contextvars import ContextVar

    cell = ContextVar("cell", default="none")
    cell.set("the one that runs")
    seen = []
    monkeypatch.setattr(frontend, "update", lambda *state, raw: seen.append(cell.get()))
    with progress.Progress("steps", wanted="notebook", launched=False) as shown:
        clock[0] += 3
        other = threading.Thread(target=shown.update, args=(1,))  # as a script's fiber: no context
        other.start()
        other.join()
    assert set(seen) == {"the one that runs"}
