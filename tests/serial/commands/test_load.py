"""Several curves by one command: each is the curve of its own command, kept as it comes."""

import json
from pathlib import Path

import pytest

import mpinet
from mpinet.cli.session import Session
from mpinet.commands.load import Load

SHORT = {"rate": "0.1,0.3", "warmup": 20, "steps": 40}
WORDS = "--rate 0.1,0.3 --warmup 20 --steps 40"


def typed(words: str) -> int:
    return Session(["load", *words.split()]).run()


def test_every_curve_is_that_of_a_command_of_its_own(tmp_path):
    found = mpinet.load(
        ["ring:6", "mesh:3x3"], pattern="neighbour,hotspot:0,50", seeds=2, seed=5, **SHORT
    )
    curves = iter(found.value["curves"])
    for pattern in ("neighbour", "hotspot:0,50"):
        for network in ("ring:6", "mesh:3x3"):
            for seed in (5, 6):
                (alone,) = mpinet.load(network, pattern=pattern, seed=seed, **SHORT).value["curves"]
                assert next(curves) == alone | {"pattern": pattern, "seed": seed}
    rows = found.records()
    assert len(rows) == 2 * 2 * 2 * 2
    assert {(row["network"], row["pattern"], row["seed"]) for row in rows} == {
        (network, pattern, seed)
        for network in ("ring:6", "mesh:3x3")
        for pattern in ("neighbour", "hotspot:0,50")
        for seed in (5, 6)
    }


def test_a_plot_changes_no_result(tmp_path):
    plain = mpinet.load("ring:6", **SHORT)
    drawn = mpinet.load("ring:6", plot=tmp_path / "curve.svg", **SHORT)
    assert drawn.digest == plain.digest
    assert "<svg" in (tmp_path / "curve.svg").read_text()


def test_a_stopped_command_makes_only_the_curves_that_are_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made, run = [], Load.run

    def counted(self, *ranks):
        made.append(self.options.seed)
        if len(made) == 3:
            raise KeyboardInterrupt
        return run(self, *ranks)

    monkeypatch.setattr(Load, "run", counted)
    words = f"ring:6 --seeds 4 {WORDS} --out curves.jsonl"
    assert typed(words) == 130
    assert not Path("curves.jsonl").exists()
    assert typed(words) == 0
    assert made == [0, 1, 2, 2, 3]
    rows = [json.loads(line) for line in Path("curves.jsonl").read_text().splitlines()]
    assert [(row["seed"], row["rate"]) for row in rows] == [
        (seed, rate) for seed in range(4) for rate in (0.1, 0.3)
    ]
    assert typed(words) == 0 and len(made) == 5


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("ring:6 --seeds 0", "load takes 1..10000 seeds, not 0"),
        (f"ring:6 --seeds 3 --seed {2**63 - 2}", "seeds end at 2^63-1: 3 of them cannot begin"),
        ("ring:6 --pattern uniform,unform", "There is no traffic pattern 'unform'"),
        ("ring:6 --plot curve.txt", "a plot's file ends in .pdf, .svg or .png"),
        ("ring:6 --out none/c.jsonl", "Cannot write none/c.jsonl"),
    ],
)
def test_wrong_words_are_refused_before_the_first_run(
    words, sentence, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert typed(words) == 2
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
