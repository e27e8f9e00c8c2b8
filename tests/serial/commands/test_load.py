"""Several curves by one command: each is that of its own command, its runs kept as they come."""

import json
from itertools import product
from pathlib import Path

import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.experiments import load
from mpinet.experiments.load import TrafficSetting

SHORT = {"rate": "0.1,0.3", "warmup": 20, "steps": 40}
WORDS = "--rate 0.1,0.3 --warmup 20 --steps 40"


def typed(words: str) -> int:
    return CommandSession(["load", *words.split()]).run()


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


def test_a_stopped_command_makes_only_the_runs_that_are_not_there(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    made, run = [], TrafficSetting.run

    def counted(self, machine, seed, rate):
        made.append((seed, rate))
        if len(made) == 5:
            raise KeyboardInterrupt
        return run(self, machine, seed, rate)

    monkeypatch.setattr(TrafficSetting, "run", counted)
    words = f"ring:6 --seeds 4 {WORDS} --out curves.jsonl"
    every = [(seed, rate) for seed in range(4) for rate in (0.1, 0.3, 1.0)]  # 1: overload
    assert typed(words) == 130
    assert not Path("curves.jsonl").exists()
    assert typed(words) == 0
    assert made == every[:5] + every[4:]
    rows = [json.loads(line) for line in Path("curves.jsonl").read_text().splitlines()]
    assert [(row["seed"], row["rate"]) for row in rows] == [
        (seed, rate) for seed in range(4) for rate in (0.1, 0.3)
    ]
    assert typed(words) == 0 and len(made) == 13
    assert (
        typed(words.replace("--rate 0.1,0.3", "--rate 0.1,0.2").replace("seeds 4", "seeds 1")) == 0
    )
    assert made[13:] == [(0, 0.2)]


def test_curves_share_what_no_seed_decides_and_only_that(monkeypatch):
    """A permutation or a drawn processor is another one for every seed; uniform traffic is not."""
    bounds, bound = [], load.saturation_bound
    seen = lambda *given, **limits: bounds.append(given[3]) or bound(*given, **limits)  # noqa: E731
    monkeypatch.setattr(load, "saturation_bound", seen)
    short = SHORT | {"rate": 0.1, "seeds": 3}
    for asked, shared in (
        ({"pattern": "uniform"}, True),
        ({"pattern": "permutation"}, False),
        ({"pattern": "tornado", "routing": "valiant"}, False),
    ):
        bounds.clear()
        curves = mpinet.load("ring:7", **asked, **short).value["curves"]
        assert set(bounds) == ({0} if shared else {0, 1, 2})
        for curve in curves:
            (alone,) = mpinet.load(
                "ring:7", **asked, **SHORT | {"rate": 0.1}, seed=curve["seed"]
            ).value["curves"]
            assert curve["bound"] == alone["bound"]


def test_classes_and_virtual_channels_that_nobody_has_named_are_shown(capsys):
    """Dragonflies came to a deadlock by default; the classes are named and need no word of care."""
    assert typed("dragonfly:1,2,1 debruijn:7 --rate 0.1 --steps 20 --warmup 0 --json") == 0
    shown = capsys.readouterr()
    document = json.loads(shown.out)
    curves = document["result"]["curves"]
    assert [(curve["classes"], curve["vcs"]) for curve in curves] == [
        ("ordered", 2),
        ("ordered", 3),
    ]
    assert document["model"]["vcs"] == [2, 3]
    assert shown.err == ""
    assert typed("debruijn:7 --rate 0.1 --steps 20 --warmup 0") == 0
    assert "routing shortest, classes ordered, 3 virtual channels\n" in capsys.readouterr().out


@pytest.mark.parametrize("seeds", ["", " --seeds 2"])
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("ring:5 --classes none", "classes none: channels wait for each other in a cycle"),
        (
            "dragonfly:1,2,1 --vcs 3",
            "The 2 classes ordered cannot deadlock: give a multiple of 2 as --vcs",
        ),
        ("pancake:7", "the routes are unknown or too many to find the necessary classes"),
    ],
)
def test_what_can_come_to_a_deadlock_is_said_before_the_first_run(
    words, sentence, seeds, capsys, monkeypatch
):
    monkeypatch.setattr("mpinet.experiments.load._curves", interrupted)
    assert typed(f"{words} --rate 0.1 --steps 5 --warmup 0{seeds}") == 130
    assert capsys.readouterr().err.count(sentence) == 1


def interrupted(*anything):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "words", ["ring:5", "torus:4x4", "ring:5 --classes hops --vcs 2", "mesh:3x3 --classes none"]
)
def test_what_cannot_come_to_a_deadlock_is_not_warned_of(words, capsys):
    assert typed(f"{words} --rate 0.1 --steps 5 --warmup 0") == 0
    assert capsys.readouterr().err == ""


def test_python_is_warned_too():
    with pytest.warns(UserWarning, match="ring:5, routing shortest, classes none: channels wait"):
        mpinet.load("ring:5", classes="none", **SHORT)


STOPS = "torus:4x4 --flits 6 --vcs 1 --buffers 2 --classes none --warmup 0 --steps 300"


def test_a_point_in_a_deadlock_shows_no_measure_and_the_others_go_on(capsys):
    assert typed(f"{STOPS} --rate 0.001,0.2") == 1
    shown = capsys.readouterr()
    first, last = shown.out.splitlines()[3:5]
    assert first.split()[0] == "0.001" and first.split()[-1] == "no"
    assert last.split()[0] == "0.2" and last.split()[2:] == ["-"] * 8 + ["deadlock"]
    assert "last stable rate 0.001, throughput in overload -" in shown.out
    assert "Deadlock on torus:4x4 at rate 0.2" in shown.err
    assert typed(f"{STOPS} --rate 0.2 --json") == 1
    (curve,) = json.loads(capsys.readouterr().out)["result"]["curves"]
    assert curve["points"][0]["saturated"]


def test_a_point_without_deliveries_has_no_latency(capsys, tmp_path):
    words = "ring:6 --rate 0.001 --flits 1:0.5,2:0.5 --warmup 0 --steps 10"
    assert typed(f"{words} --json") == 0
    (curve,) = json.loads(capsys.readouterr().out)["result"]["curves"]
    (point,) = curve["points"]
    assert point["delivered"] == point["latency_sum"] == point["hops_sum"] == 0
    names = [f"latency_{part}" for part in ("mean", "max", "p50", "p95", "p99")]
    assert {point[name] for name in (*names, "network_latency_mean", "hops_mean")} == {None}
    for kind in point["latency_by_kind"].values():
        assert {kind[part] for part in ("mean", "max", "p50", "p95", "p99")} == {None}
    picture = tmp_path / "empty.svg"
    assert typed(f"{words} --plot {picture}") == 0
    shown = capsys.readouterr().out
    assert shown.splitlines()[3].split()[3:9] == ["-"] * 6
    assert "no plot: no run has a latency" in shown and not picture.exists()


@pytest.mark.parametrize(
    ("rates", "said", "cell"),
    [
        ("0.05,0.1", "no rate is saturated (highest 0.1)", ">= 0.1"),
        ("0.05,0.4", "last stable rate 0.05", "0.05"),
        ("0.4,0.5", "every rate is saturated (lowest 0.4)", "< 0.4"),
    ],
)
def test_a_stable_rate_is_called_the_last_one_only_below_a_saturated_one(rates, said, cell, capsys):
    """Six processors send all their flits to one, which takes one a step: 1/6 is the most."""
    words = f"star:6 --pattern hotspot:0,100 --rate {rates} --steps 2000"
    assert typed(words) == 0
    assert f"saturation: {said}, throughput in overload" in capsys.readouterr().out
    assert typed(f"{words} --seeds 2") == 0
    row = capsys.readouterr().out.splitlines()[5].removeprefix("star:6")
    assert row.strip().split("  ")[0] == cell


@pytest.mark.parametrize("flits", [1, 2])
def test_without_rates_a_curve_goes_from_a_tenth_of_its_bound_to_saturation(flits):
    """On a torus of 8x8 a channel forward carries 10 hops of 8 sources' 64 targets: 1.25 flits."""
    (curve,) = mpinet.load("torus:8x8", flits=flits, warmup=100, steps=200, limit=300).curves
    rates = [point.rate for point in curve.points]
    assert rates == pytest.approx([0.08 * tenth / flits for tenth in range(1, 12)])
    assert not curve.points[0].saturated and curve.points[-1].saturated


def test_without_rates_and_bound_a_curve_has_rates_of_two_decades():
    (curve,) = mpinet.load("dragonfly:1,2,2", routing="ugal-l", flits=2, steps=200).curves
    rates = [point.rate for point in curve.points]
    assert curve.bound is None and (rates[0], rates[-1]) == (0.005, 0.5)
    assert not curve.points[0].saturated and curve.points[-1].saturated


@pytest.mark.parametrize("more", [{"routing": "valiant"}, {"pattern": "permutation"}])
def test_seeds_share_the_default_rates(more):
    found = mpinet.load("torus:4x4", seeds=3, warmup=10, steps=30, limit=30, **more)
    assert {row.seeds for row in found.between_seeds} == {3}
    assert len({tuple(point.rate for point in curve.points) for curve in found.curves}) == 1


@pytest.mark.parametrize(
    "more",
    [{"bursts": "5:0.3"}, {"replies": 3}, {"faults": "node:5"}, {"flits": "1:0.5,7:0.5"}],
)
def test_default_rates_are_possible_rates(more):
    (curve,) = mpinet.load("mesh:4x4", warmup=10, steps=40, limit=40, **more).curves
    rates = [point.rate for point in curve.points]
    assert rates == sorted(set(rates)) and len(rates) >= 9
    assert rates[0] > 0 and rates[-1] <= 1


def test_no_rate_above_the_bound_is_called_stable():
    """Of 64 sources a few are in overload at 0.15, and 99 % of the flits are accepted."""
    (curve,) = mpinet.load(
        "mesh:8x8", pattern="transpose", rate="0.1,0.14,0.15,0.16", vcs=4, buffers=8
    ).curves
    point = curve.points[2]
    assert curve.bound == pytest.approx(1 / 7)
    assert point.accepted_flits > 0.95 * point.generated_flits and point.saturated
    assert curve.saturation_point <= curve.bound


def test_a_channel_that_is_never_idle_while_sources_fall_behind_is_saturated():
    """Two links lead to the processor to which three others send 0.7 flits a step each."""
    (curve,) = mpinet.load(
        "mesh:2x2",
        pattern="hotspot:0,100",
        routing="adaptive",
        rate="0.6,0.7",
        eject="all",
        steps=2000,
    ).curves
    below, above = curve.points
    assert above.rate < curve.bound and above.accepted_flits > 0.95 * above.generated_flits
    assert (below.saturated, above.saturated) == (False, True)


def test_what_is_dead_leaves_no_bound_and_what_is_lost_does_not_saturate():
    more = SHORT | {"rate": "0.05,0.9", "steps": 400}
    (curve,) = mpinet.load("torus:4x4", faults="node:5,link:2-3@100-200", **more).curves
    low, high = curve.points
    assert curve.bound is None and low.undeliverable > 0.05 * low.generated
    assert (low.saturated, high.saturated) == (False, True)


@pytest.mark.parametrize(
    ("network", "pattern"),
    [
        ("hypercube:4", "tornado"),
        ("mesh:2x2", "tornado"),
        ("hypercube:1", "shuffle"),
        ("hypercube:1", "bitreversal"),
    ],
)
def test_a_pattern_that_moves_nothing_is_refused(network, pattern, capsys):
    assert typed(f"{network} --pattern {pattern}") == 2
    sentence = f"The pattern {pattern} moves nothing on {network}: every target is its source."
    assert sentence in capsys.readouterr().err


def test_a_pattern_that_moves_something_in_one_dimension_is_not_refused(capsys):
    assert typed("mesh:2x3 --pattern tornado --rate 0.1 --steps 5 --warmup 0") == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("ring:6 --seeds 0", "--seeds is 1..10000 seeds, not 0"),
        (f"ring:6 --seeds 3 --seed {2**63 - 2}", "the largest seed is 2^63-1"),
        ("ring:6 --pattern uniform,unform", "There is no traffic pattern 'unform'"),
        ("ring:6 --plot curve.txt", "a plot's file ends in .pdf, .svg or .png"),
        ("ring:6 --out none/c.jsonl", "Cannot write none/c.jsonl"),
        ("ring:6 --buffers 10000000000", "buffers is a whole number 0..2147483647, not 1000000000"),
        ("ring:6 --limit 10000000000", "limit is a whole number 0..536870911, not 10000000000"),
        ("ring:6 --flits 10000000000", "flits is a whole number 1..2147483647, not 10000000000"),
        (
            "ring:6 --flits 99999999 --limit 50",
            "A message of 99999999 flits takes at least 99999999 steps",
        ),
    ],
)
def test_wrong_words_are_refused_before_the_first_run(
    words, sentence, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert typed(words) == 2
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_every_combination_of_lists_is_a_curve_that_a_command_of_its_own_makes():
    varied = {"routing": ["shortest", "parity"], "vcs": [2, 4], "flits": ["1", "3"]}
    found = mpinet.load(
        "ring:6", routing="shortest,parity", vcs=[2, 4], flits="1,3", buffers=3, **SHORT
    )
    curves = iter(found.value["curves"])
    for chosen in product(*varied.values()):
        given = dict(zip(varied, chosen, strict=True))
        (alone,) = mpinet.load("ring:6", buffers=3, **given, **SHORT).value["curves"]
        assert next(curves) == alone | given
    assert not [*curves]
    assert {(row["routing"], row["vcs"], row["flits"]) for row in found.records()} == {
        *product(*varied.values())
    }


def test_a_run_of_a_list_is_that_of_a_command_of_its_own_in_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made, run = [], TrafficSetting.run

    def counted(self, machine, seed, rate):
        made.append((self.routing.name, self.buffering.vcs, rate))
        return run(self, machine, seed, rate)

    monkeypatch.setattr(TrafficSetting, "run", counted)
    words = f"ring:6 {WORDS} --out c.jsonl"
    assert typed(f"{words} --routing parity --vcs 4") == 0
    assert typed(f"{words} --routing shortest,parity --vcs 2,4") == 0
    assert len(made) == len(set(made)) == 4 * 3


@pytest.mark.parametrize(
    "words",
    [
        "ring:6 mesh:3x3 --routing shortest,parity,dimensions",
        "torus:3x3 --vcs 2,4 --flits 1,3",
        "ring:8 hypercube:3 --pattern uniform,complement --seeds 2",
    ],
)
def test_the_plan_beside_a_plot_makes_it_again(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rates = "--rate 0.1,0.5,0.9 --warmup 20 --steps 60 --limit 300"
    assert typed(f"{words} {rates} --plot curves.svg") == 0
    assert "curves.toml makes it again" in capsys.readouterr().out
    drawn = Path("curves.svg").read_bytes()
    Path("curves.svg").unlink()
    assert CommandSession(["sweep", "curves.toml", "--out", "runs", "--json"]).run() == 0
    assert CommandSession(["plot", "runs", "--json"]).run() == 0
    assert Path("curves.svg").read_bytes() == drawn


def test_a_routing_that_a_network_lacks_is_left_out_with_a_sentence(capsys):
    words = f"ring:6 mesh:3x3 --routing parity,dimensions {WORDS} --json"
    assert typed(words) == 0
    said = capsys.readouterr()
    curves = json.loads(said.out)["result"]["curves"]
    assert [(curve["network"], curve["routing"]) for curve in curves] == [
        ("ring:6", "parity"),
        ("mesh:3x3", "dimensions"),
    ]
    assert "ring:6 has no routing dimensions: this curve is left out." in said.err
    assert "mesh:3x3 has no routing parity: this curve is left out." in said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("ring:6 --routing parity,none", "ring:6 has no routing 'none'"),
        ("ring:6 mesh:3x3 --routing parity,shortest", "mesh:3x3 has none of the routings parity"),
        ("ring:6 --vcs 2,x", "'x' is not a whole number"),
        ("ring:6 --vcs 2,2", "--vcs: give one value, or several different values."),
        ("ring:6 --plot mine.svg", "the plan of the plot would overwrite your file mine.toml"),
    ],
)
def test_lists_that_cannot_be_are_refused_before_the_first_run(
    words, said, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text('command = "flood"')
    assert typed(words) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1
    assert [path.read_text() for path in tmp_path.iterdir()] == ['command = "flood"']
