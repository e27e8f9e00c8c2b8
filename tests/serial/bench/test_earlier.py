"""Rows that fail, and rows that fell behind an earlier run, at figures of the tests' own."""

import json
from itertools import cycle
from pathlib import Path

import pytest

from mpinet.bench import catalogue
from mpinet.bench.benchmark import CLOCKS, Baseline, Benchmark, BenchSetting, Contenders, loss
from mpinet.bench.catalogue import BENCHMARKS, run_on
from mpinet.bench.earlier import read_ratios
from mpinet.cli.session import CommandSession
from mpinet.errors import MpinetError, TooLarge

RATIOS = Path(__file__).resolve().parents[3] / "docs/reference/ratios.json"
ROUNDS = ["--repeat", "3"]


def scripted(figures):
    """A contender that gives these figures, then begins again."""
    following = cycle(figures)
    return lambda: next(following)


@pytest.fixture
def sample(monkeypatch):
    """Adds a benchmark with these figures against a baseline of 1."""

    def add(name, unit, *figures):
        def contenders(setting, size):
            rounds = figures if size == "full" else [1]
            return Contenders(scripted(rounds), {"hare": lambda: 1.0})

        sizes = {"small": "small", "full": "full"}
        one = Benchmark(name, "walk {}", unit, sizes, contenders, (Baseline("hare"),))
        monkeypatch.setitem(BENCHMARKS, name, one)

    return add


@pytest.fixture
def impossible(monkeypatch):
    """A benchmark that fails at its full size."""

    def contenders(setting, size):
        if size == "full":
            raise TooLarge("The walk is too long.")
        return Contenders(lambda: 1.0, {})

    sizes = {"small": "small", "full": "full"}
    baselines = (Baseline("hare"), Baseline("snail"))
    one = Benchmark("marathon", "walk {}", "s", sizes, contenders, baselines)
    monkeypatch.setitem(BENCHMARKS, "marathon", one)


def run(capsys, *words):
    status = CommandSession(["bench", *words, "--no-progress"]).run()
    return status, *capsys.readouterr()


def test_a_row_that_fails_has_its_reason_in_its_place_and_the_others_run(
    capsys, sample, impossible
):
    sample("walk", "miles/h", 2, 2, 2)
    status, out, err = run(capsys, "marathon", "walk", *ROUNDS)
    assert (status, err) == (1, "")
    failed, snail, other = out.splitlines()[2:5]
    assert failed.startswith("marathon ") and failed.endswith("error: The walk is too long.")
    assert snail.startswith("marathon-snail ") and other.startswith("walk ")
    status, out, err = run(capsys, "marathon", "walk", *ROUNDS, "--json")
    assert (status, err) == (1, "")
    rows = {row["name"]: row for row in json.loads(out)["result"]}
    assert rows["marathon"]["figure"] is None is rows["marathon"]["absent"]
    assert rows["marathon"]["error"] == "The walk is too long."
    assert (rows["walk"]["figure"], rows["walk"]["error"]) == (2, None)


def test_a_job_on_several_ranks_that_fails_gives_its_rows_with_the_reason(monkeypatch):
    def launch(ranks, words, settings=None, printed_with=()):
        raise MpinetError("The job is gone.")

    monkeypatch.setattr(catalogue, "launch", launch)
    monkeypatch.setattr(catalogue, "find_launcher", lambda: "")
    rows = run_on(
        [2], [BENCHMARKS["ranks-w3"], BENCHMARKS["weak-w3"]], BenchSetting("small"), print
    )
    assert [(row.name, row.ranks, row.figure, row.error) for row in rows] == [
        ("ranks-w3", 2, None, "The job is gone."),
        ("weak-w3", 2, None, "The job is gone."),
    ]


def earlier(capsys, folder, *names):
    """File with the result of the benchmarks as they are."""
    status, out, _ = run(capsys, *names, *ROUNDS, "--json")
    assert status == 0
    file = folder / "earlier.json"
    file.write_text(out)
    return str(file)


@pytest.mark.parametrize(
    ("unit", "before", "after", "fell"),
    [
        ("miles/h", (10, 11, 12), (4, 5, 6), True),
        ("miles/h", (10, 11, 12), (20, 21, 22), False),
        ("miles/h", (10, 11, 12), (9, 9, 9), False),  # by as much as the spread
        ("miles/h", (10, 11, 12), (8.5, 8.9, 9), True),
        ("miles/h", (10, 11, 12), (1, 5, 8), False),  # a wide spread now
        ("s", (10, 11, 12), (20, 21, 22), True),
        ("s", (10, 11, 12), (4, 5, 6), False),
        ("B/message", (8, 8, 8), (9, 9, 9), True),
        ("flits/processor/step", (1, 1, 1), (1.25, 1.25, 1.25), True),
        ("flits/processor/step", (0.75, 0.75, 0.75), (1.25, 1.25, 1.25), False),
    ],
)
def test_a_regression_is_reported_if_it_is_larger_than_the_spread(
    capsys, tmp_path, sample, unit, before, after, fell
):
    sample("walk", unit, *before)
    sample("rest", unit, 1, 1, 1)
    file = earlier(capsys, tmp_path, "walk", "rest")
    sample("walk", unit, *after)
    status, out, err = run(capsys, "walk", "rest", *ROUNDS, "--against", file)
    assert (status, err) == (int(fell), "")
    parts = out.strip().split("\n\n")
    assert parts[-1] == f"{int(fell)} of 2 compared rows fell by more than their spread"
    named = [line.split()[0] for line in parts[1].splitlines()[3:]] if fell else []
    assert named == ["walk"] * fell
    _, out, _ = run(capsys, "walk", *ROUNDS, "--against", file, "--json")
    (row,) = json.loads(out)["result"]
    assert row["fell"] is fell
    assert row["earlier"] == {"ratio": sorted(before)[1], "spread": [before[0], before[2]]}


def test_rows_without_an_earlier_ratio_or_of_one_round_are_not_judged(capsys, tmp_path, sample):
    sample("walk", "miles/h", 9, 9, 9)
    sample("run", "miles/h", 9, 9, 9)
    file = earlier(capsys, tmp_path, "walk", "run")
    document = json.loads(Path(file).read_text())
    document["result"][1]["rounds"] = 1
    Path(file).write_text(json.dumps(document))
    for name in ("walk", "run", "swim"):
        sample(name, "miles/h", 1, 1, 1)
    status, out, _ = run(capsys, "walk", "run", "swim", *ROUNDS, "--against", file, "--json")
    rows = json.loads(out)["result"]
    assert [row["fell"] for row in rows] == [True, None, None] and status == 1
    assert [row["earlier"] is None for row in rows] == [False, False, True]


def test_an_earlier_run_of_another_size_or_clock_is_refused(capsys, tmp_path, sample):
    sample("walk", "miles/h", 9, 9, 9)
    file = earlier(capsys, tmp_path, "walk")
    for other in (["--size", "small"], ["--clock", "cpu"], ["--repeat", "1"]):
        status, out, err = run(capsys, "walk", "--against", file, *other)
        assert (status, out) == (2, "") and "--against" in err
    status, _, err = run(capsys, "idle-one", "--against", file)
    assert status == 2 and "has no ratio of these benchmarks" in err


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"result": [1]}', '{"result": [{"name": 1}]}', "[" * 100_000]
)
def test_other_files_are_refused(capsys, tmp_path, text):
    file = tmp_path / "other.json"
    file.write_text(text)
    status, _, err = run(capsys, "idle-one", "--against", str(file))
    assert status == 2 and "is not a result of mpinet bench" in err and "Traceback" not in err


def test_every_unit_has_a_direction_that_its_goals_share():
    for one in BENCHMARKS.values():
        worse = loss(one.unit, 1.0, 2.0) > 0
        for goal in (each.goal for each in one.baselines if each.goal is not None):
            assert worse is (goal.relation != ">="), one.name


def test_the_kept_ratios_are_those_of_rows_that_exist():
    setting = BenchSetting(clock=CLOCKS["cpu"])
    rows = json.loads(RATIOS.read_text())["result"]
    ratios = read_ratios(RATIOS, BENCHMARKS.values(), setting)
    assert {(row["name"], row["ranks"]) for row in rows} == set(ratios) and len(ratios) >= 100
    for row in rows:
        assert row["ratio"] == row["figure"] / row["baseline"]
        low, high = row["spread"]["ratio"]
        assert low <= high and row["rounds"] >= 2
