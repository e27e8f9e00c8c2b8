"""Sweeps: every point is a run of its command, kept at once and never run twice."""

import csv
import itertools
import json
from pathlib import Path

import pytest
from serial.cli.test_contract import HALF

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError
from mpinet.jobs import sweep as sweeping

AXES = {
    "topology": ["ring:8", "hypercube:3"],
    "pairs": ["permutation", "complement"],
    "seed": [0, 1, 2],
}
PLAN = {"command": "route", **AXES}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(PLAN))
    return path


def run(file: Path, *options: str) -> int:
    return CommandSession(["sweep", str(file), "--out", f"{file.parent}/runs", *options]).run()


def table(folder: Path) -> list[dict[str, str]]:
    with (folder / "runs/results.csv").open(newline="") as text:
        return list(csv.DictReader(text))


@pytest.fixture
def plays(monkeypatch) -> list[str]:
    """The points that are played from now on."""
    played = []
    usual = sweeping.SweepJob._play

    def noted(one, ranks):
        played.append(str(one.point))
        return usual(one, ranks)

    monkeypatch.setattr(sweeping.SweepJob, "_play", staticmethod(noted))
    return played


def test_each_row_is_what_its_command_finds_with_all_that_identifies_it(file, tmp_path):
    assert run(file) == 0
    rows = table(tmp_path)
    combinations = list(itertools.product(*AXES.values()))
    assert len(rows) == len(combinations) == len({row["point"] for row in rows})
    for row, (topology, pairs, seed) in zip(rows, combinations, strict=True):
        found = mpinet.route(topology, pairs=pairs, seed=seed)
        told = (row["command"], row["topology"], row["option.pairs"], row["seed"], row["mpinet"])
        assert told == ("route", topology, pairs, str(seed), mpinet.__version__)
        assert row["digest"] == found.digest
        assert float(row["latency.mean"]) == found.latency.mean


def test_what_is_there_is_not_run_again_and_a_changed_file_runs_what_changed(file, plays, tmp_path):
    assert run(file) == 0
    assert len(plays) == 12
    before = (tmp_path / "runs/results.csv").read_bytes()
    assert run(file) == 0
    assert len(plays) == 12
    assert (tmp_path / "runs/results.csv").read_bytes() == before
    file.write_text(json.dumps(PLAN | {"seed": [1, 2, 3]}))
    assert run(file) == 0
    assert [point.split("seed=")[1] for point in plays[12:]] == ["3"] * 4
    assert [row["seed"] for row in table(tmp_path)] == ["1", "2", "3"] * 4


def test_a_sweep_goes_on_behind_any_accident_with_its_journal(file, plays, tmp_path):
    assert run(file) == 0
    whole = (tmp_path / "runs/results.csv").read_bytes()
    journal = tmp_path / "runs/journal/rank-0.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    accidents = {
        "torn": ([*lines[:5], lines[5][:40]], 7),
        "torn before its end": ([*lines[:5], lines[5][:-1]], 6),
        "a letter changed": ([lines[0].replace(b"steps", b"stops"), *lines[1:]], 1),
        "a line of something else": ([b"\xff\n", *lines], 0),
        "a line twice": (lines[:3] + lines[:3], 9),
        "empty": ([], 12),
    }  # fmt: skip
    for left, missing in accidents.values():
        journal.write_bytes(b"".join(left))
        plays.clear()
        assert run(file) == 0
        assert len(plays) == missing
        assert (tmp_path / "runs/results.csv").read_bytes() == whole


def test_shards_meet_in_one_table(file, plays, tmp_path):
    assert run(file) == 0
    whole = (tmp_path / "runs/results.csv").read_bytes()
    (tmp_path / "runs").rename(tmp_path / "alone")
    for shard in ("2/3", "1/3", "3/3"):
        assert not (tmp_path / "runs/results.csv").exists()
        plays.clear()
        assert run(file, "--shard", shard) == 0
        assert len(plays) == 4
    assert (tmp_path / "runs/results.csv").read_bytes() == whole


def test_a_point_that_fails_is_a_row_and_is_tried_again(tmp_path, plays, capsys):
    (tmp_path / "own.py").write_text("def talk(node, port):\n    yield node.send(port, 1)\n")
    plan = {"command": "run", "program": f"{tmp_path}/own.py:talk", "topology": "ring:4"}
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan | {"arguments": [["0"], ["9"]]}))
    for _ in range(2):
        assert run(file) == 1
        assert "1 of 2 points failed" in capsys.readouterr().err
    assert len(plays) == 3
    *good, bad = table(tmp_path)
    assert {row["error"] for row in good} == {""}
    assert bad["error"] and bad["option.arguments"] == "9"


def test_a_run_that_is_incomplete_is_a_row_that_says_so_and_no_plot_takes_it(file, plays, tmp_path):
    (tmp_path / "half.py").write_text(HALF)
    plan = {"command": "broadcast", "topology": ["ring:6", f"{tmp_path}/half.py:Half:6"]}
    file.write_text(json.dumps(plan))
    for _ in range(2):
        assert run(file) == 1
    assert len(plays) == 2
    whole, half = table(tmp_path)
    assert whole["error"] == "" and "incomplete: 2 of 6" in half["error"]
    assert mpinet.plot(tmp_path / "runs", x="topology", y="steps").value["failed"] == 1


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (PLAN | {"pair": "all"}, "route has no option 'pair': did you mean pairs?"),
        (PLAN | {"ports": ["one", "two"]}, "ports is one or all, not 'two'"),
        (PLAN | {"topology": "tors:4"}, "route topology=tors:4 pairs=permutation seed=0: "),
        (PLAN | {"command": "rout"}, "There is no command 'rout'"),
        (PLAN | {"command": "bench"}, "bench cannot be swept"),
        (PLAN | {"command": "sweep"}, "sweep cannot be swept"),
        ({"command": "route", "pairs": "all"}, "route needs the option topology"),
    ],
)
def test_a_plan_that_cannot_be_run_gets_a_sentence_before_anything_is_written(
    plan, said, file, tmp_path, capsys
):
    file.write_text(json.dumps(plan))
    assert run(file) == 2
    told = capsys.readouterr()
    assert said in told.err and told.err.count("\n") == 1 and told.out == ""
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("notes.txt", "mine", "contains other files than a sweep"),
        ("sweep.json", '{"sweep": 9}', "of another version"),
        ("sweep.json", "", "contains other files than a sweep"),
    ],
)
def test_a_folder_that_is_no_sweeps_is_left_alone(name, text, said, file, tmp_path, capsys):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / name).write_text(text)
    assert run(file) == 2
    assert said in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [name]


DRAWN = {"x": "topology", "y": "latency.mean", "by": ["pairs"], "error": "seed"}


def test_a_plan_says_how_its_results_are_drawn(file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file.write_text(json.dumps(PLAN | {"plot": DRAWN | {"output": "latency.svg"}}))
    assert run(file) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"mpinet plot {tmp_path}/runs draws it."
    assert CommandSession(["plot", "runs"]).run() == 0
    planned = (tmp_path / "latency.svg").read_bytes()
    told = ["--x", "topology", "--y", "latency.mean", "--by", "pairs", "--error", "seed"]
    alone = tmp_path / "rows.csv"
    alone.write_bytes((tmp_path / "runs/results.csv").read_bytes())
    assert CommandSession(["plot", str(alone), *told, "-o", "told.svg"]).run() == 0
    assert planned == (tmp_path / "told.svg").read_bytes()


def test_what_is_told_goes_before_the_plan_and_an_empty_word_takes_it_away(file, tmp_path):
    file.write_text(json.dumps(PLAN | {"plot": DRAWN | {"where": "pairs=complement"}}))
    swept = mpinet.sweep(file, folder=tmp_path / "runs")
    found = mpinet.plot(swept, y="steps", by="seed", error="")
    steps = [mpinet.route(name, pairs="complement").steps for name in AXES["topology"]]
    assert [curve.label for curve in found.curves] == ["0", "1", "2"]
    assert all([dot.y for dot in curve.points] == steps for curve in found.curves)
    assert mpinet.plot(tmp_path / "runs").value == mpinet.plot(swept).value
    assert [curve.label for curve in mpinet.plot(swept).curves] == ["complement"]


def test_a_changed_plot_runs_nothing_and_one_that_is_gone_is_forgotten(
    file, plays, tmp_path, capsys
):
    for plot, status in ((DRAWN, 0), (DRAWN | {"bars": "range"}, 0), ({}, 2)):
        file.write_text(json.dumps(PLAN | ({"plot": plot} if plot else {})))
        assert run(file) == 0
        assert len(plays) == 12
        assert CommandSession(["plot", f"{tmp_path}/runs", "--json"]).run() == status
    assert "plot needs columns for the x and y axes" in capsys.readouterr().err


def test_plans_that_differ_say_nothing_of_their_common_plot(file, tmp_path):
    for folder, y in (("a", "steps"), ("b", "steps"), ("c", "latency.mean")):
        mpinet.sweep(
            PLAN | {"plot": DRAWN | {"y": y}, "seed": ord(folder)}, folder=tmp_path / folder
        )
    both = mpinet.plot([tmp_path / "a", tmp_path / "b"])
    assert [dot.count for curve in both.curves for dot in curve.points] == [2] * 4
    with pytest.raises(UsageError, match="plot needs columns for the x and y axes"):
        mpinet.plot([tmp_path / "a", tmp_path / "c"])


@pytest.mark.parametrize(
    ("plot", "said"),
    [
        (DRAWN | {"colur": "pairs"}, "[plot] has no key 'colur': did you mean colour?"),
        (DRAWN | {"results": "runs"}, "[plot] has no key 'results': it has x, y, by, panels"),
        (DRAWN | {"colour": "pairs"}, "[plot] gives by twice, once as 'colour'"),
        ({"x": "topology"}, "[plot]: plot needs columns for the x and y axes"),
        ({}, "[plot]: plot needs columns for the x and y axes"),
        (DRAWN | {"y": 3}, "[plot]: plot: y is text, not 3"),
        (DRAWN | {"bars": "error"}, "confidence or deviation or range, not 'error'"),
        (DRAWN | {"width": 0}, "[plot]: --width is 1..50 inches, not 0"),
        (DRAWN | {"log": ["x", "z"]}, "[plot]: --log takes x, y or x,y, not x,z"),
        (DRAWN | {"where": ["pairs"]}, "[plot]: --where takes COLUMN=VALUE, not 'pairs'"),
        (DRAWN | {"where": [4]}, "[plot]: --where takes COLUMN=VALUE, not '4'"),
        (DRAWN | {"out": "fig.gif"}, "[plot]: output fig.gif does not end in .pdf, .svg or .png"),
        ("latency.pdf", "the plan needs a table for the plot"),
        ([DRAWN, DRAWN], "the plan needs a table for the plot"),
    ],
)
def test_a_plot_that_cannot_be_gets_a_sentence_before_anything_is_run(
    plot, said, file, tmp_path, capsys
):
    file.write_text(json.dumps(PLAN | {"plot": plot}))
    assert run(file) == 2
    told = capsys.readouterr()
    assert said in told.err and told.err.count("\n") == 1 and told.out == ""
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("text", ["{", "[1]", '{"x": "topology"}', '{"z": 1}', "\x00"])
def test_a_damaged_plot_in_the_folder_gets_a_sentence(text, file, tmp_path, capsys):
    assert run(file) == 0
    (tmp_path / "runs/plot.json").write_text(text)
    capsys.readouterr()
    assert CommandSession(["plot", f"{tmp_path}/runs", "-o", f"{tmp_path}/p.pdf"]).run() == 2
    assert "plot.json is damaged: run the sweep again" in capsys.readouterr().err
    assert not (tmp_path / "p.pdf").exists()


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "a/b", "1/2/3"])
def test_a_wrong_shard_gets_a_sentence(shard, file, capsys):
    assert run(file, "--shard", shard) == 2
    assert "--shard takes K/N" in capsys.readouterr().err


def test_a_second_run_that_writes_the_same_file_is_refused_but_not_that_of_a_requeued_job(
    file, tmp_path, capsys, monkeypatch
):
    from mpinet.experiments.journal import Journal

    assert run(file) == 0
    other = Journal(tmp_path / "runs/journal", "rank-0", "v", "--out")
    assert run(file) == 2
    assert "another run is writing it" in capsys.readouterr().err
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    assert run(file) == 0
    other.close()
