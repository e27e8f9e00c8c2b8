"""Warm-up, window and saturation that a command finds are those that a command may name."""

import numpy as np
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.experiments.steady import LEFT, batch_means, truncation
from mpinet.machine.traffic.parameters import Window

SHORT = {"warmup": 20, "steps": 60}
FOUND = ("warmup", "warmup_found", "window", "converged")


def without(point, names=FOUND):
    return {name: value for name, value in point.items() if name not in names}


def by_definition(means):
    """MSER: every truncation's standard error; the first of the least."""
    every = [np.array(means[d:], float) for d in range(len(means) - LEFT + 1)]
    errors = [((left - left.mean()) ** 2).sum() / len(left) ** 2 for left in every]
    return errors.index(min(errors))


@pytest.mark.parametrize(
    "means",
    [
        [9, 7, 5, 4, 3, 3, 3, 4, 3, 3, 4, 3],
        [3] * 8,
        [1, 2, 3, 4, 5, 6, 7, 8, 9],
        [100, 1, 2, 1, 2, 1, 2, 1, 50],
        [(7 * i * i + 3) % 11 + 90 // (i + 1) for i in range(60)],
    ],
)
def test_the_truncation_is_that_of_the_definition(means):
    assert truncation(means) == by_definition(means)


def test_batches_without_births_are_left_out():
    assert batch_means(Window(10, 15, 0, 3), [[2, 8], [0, 0], [1, 3]]) == [(10, 4.0), (20, 3.0)]


CROWD = {"pattern": "hotspot:0,50", "rate": "0.02,0.2", "steps": 200}
"""The second rate is more than the processor takes."""


def test_a_run_with_a_found_warm_up_is_the_one_that_names_it():
    (curve,) = mpinet.load("mesh:4x4", warmup="auto", **CROWD).curves
    calm, flooded = curve.points
    for point in (calm, flooded):
        (named,) = mpinet.load(
            "mesh:4x4", warmup=point.warmup, **CROWD | {"rate": point.rate}
        ).curves
        assert without(point) == named.points[0]
    assert calm.warmup_found and not flooded.warmup_found
    assert flooded.saturated and flooded.warmup == 200


def test_a_warm_up_begins_where_the_pilots_latencies_settle():
    """A pilot without warm-up, of parts of five steps, gives the batches that MSER-5 looks at."""
    from mpinet.machine import Machine
    from mpinet.machine.traffic.parameters import Buffering, Generation
    from mpinet.machine.traffic.results import results
    from mpinet.machine.traffic.run import OpenLoop
    from mpinet.measure.deadlock import counted_classes
    from mpinet.programs.patterns import pattern_of

    given = {"rate": 0.2, "flits": "2", "steps": 300, "vcs": 1, "seed": 4}
    (curve,) = mpinet.load("mesh:5x5", warmup="auto", **given).curves
    topology = mpinet.open("mesh:5x5")
    pattern, routing = pattern_of(topology, "uniform"), topology.routing()
    length = 300
    while True:
        pilot = OpenLoop(
            Machine(topology), routing, counted_classes(topology, routing, None),
            Buffering(vcs=1), Generation(pattern.rule, pattern.params, 0.2, 2),
            Window(0, length, 5000, length // 5), 4,
        )  # fmt: skip
        batches = results(pilot.run())["batches"]
        means = [total / count for count, total in batches if count]
        begins = [5 * i for i, (count, _) in enumerate(batches) if count]
        if 2 * by_definition(means) <= len(means):
            break
        length *= 2
    cut = by_definition(means)
    assert curve.points[0].warmup == (begins[cut] if cut else 0)


def test_a_window_is_doubled_until_the_interval_is_narrow_and_is_the_one_that_names_it():
    (curve,) = mpinet.load("mesh:4x4", until="3%", rate=0.1, **SHORT).curves
    (point,) = curve.points
    reaches, steps = [], 60
    while True:
        (named,) = mpinet.load("mesh:4x4", rate=0.1, warmup=20, steps=steps).curves
        alone = named.points[0]
        reaches.append(alone.latency_ci95 / alone.latency_mean)
        if reaches[-1] <= 0.03:
            break
        steps *= 2
    assert len(reaches) > 1 and point.converged
    assert point.window == steps and without(point) == alone


def test_a_window_that_never_is_long_enough_says_so():
    (curve,) = mpinet.load("mesh:3x3", until=0.0001, rate="0.2,1", warmup=20, steps=80).curves
    assert [(p.window, p.converged) for p in curve.points] == [(5120, False), (160, False)]


def test_bisection_finds_the_rate_that_trying_them_all_does():
    given = {"pattern": "transpose", "warmup": 50, "steps": 600}
    (curve,) = mpinet.load("mesh:4x4", saturation=0.05, rate=0.1, **given).curves
    stable = {}
    for k in range(1, 21):
        rate = round(k * 0.05, 12)
        (tried,) = mpinet.load("mesh:4x4", rate=rate, **given).curves
        stable[rate] = not tried.points[0].saturated
    least = min(rate for rate, is_stable in stable.items() if not is_stable)
    assert curve.saturation.saturated == least
    assert curve.saturation.stable == round(least - 0.05, 12)
    assert 4 <= curve.saturation.runs <= 5


def test_a_network_that_never_saturates_is_stable_at_the_highest_rate():
    (curve,) = mpinet.load("complete:4", pattern="alltoall", eject="all",
                           saturation=0.25, rate=0.1, **SHORT).curves  # fmt: skip
    assert curve.saturation == {"stable": 1.0, "saturated": None, "runs": 3}


def test_named_seeds_are_the_curves_and_intervals_are_between_them():
    from statistics import fmean, stdev

    given = {"rate": "0.1,0.2", **SHORT}
    found = mpinet.load("mesh:3x3", seeds="3..6", **given)
    alone = [mpinet.load("mesh:3x3", seed=seed, **given).curves[0] for seed in range(3, 7)]
    assert [curve["points"] for curve in found.value["curves"]] == [c["points"] for c in alone]
    assert mpinet.load("mesh:3x3", seeds=[3, 4, 5, 6], **given).digest == found.digest
    for number, row in enumerate(found.between_seeds):
        values = [curve.points[number].latency_mean for curve in alone]
        assert row.latency == pytest.approx(fmean(values))
        # Student's t with three degrees of freedom.
        assert row.latency_ci95 == pytest.approx(3.182 * stdev(values) / 2)
        assert (row.rate, row.seeds, row.saturated) == ((0.1, 0.2)[number], 4, 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--warmup soon", "give a number of steps, or auto"),
        ("--warmup auto --steps 40", "--warmup auto needs --steps 50 or more"),
        ("--warmup auto --steps 10000000", "give at most 8388607 steps"),
        ("--until 200%", "give a part of the mean latency, as in 2% or 0.02"),
        ("--until narrow", "give a part of the mean latency"),
        ("--saturation 0.9", "give the resolution, 0.0001..0.5"),
        ("--seeds 5..3", "different seeds, the lower end first"),
        ("--seeds 1,1", "different seeds"),
        ("--seeds one", "give K, A..B or A,B,.."),
        ("--seeds 1..3 --seed 2", "names the seeds: leave out --seed"),
        ("--pattern t.csv --until 2%", "do not apply to a trace, which has no steady state"),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("0,0,1,1\n")
    assert CommandSession(["load", "ring:6", *words.split()]).run() == 2
    assert said in capsys.readouterr().err


def test_what_was_found_is_told(capsys):
    words = "load mesh:3x3 --rate 0.1,1 --warmup auto --until 9% --saturation 0.5 --steps 60"
    assert CommandSession(words.split()).run() == 0
    told = capsys.readouterr().out
    assert "warm-up by MSER-5: " in told and "(not found) steps" in told
    assert "(not narrow) steps" in told and "saturation by bisection: stable at 0.5" in told


def test_intervals_are_tables_below_the_curve_and_are_refused_without_steps(capsys):
    words = "load mesh:2 --pattern neighbour --rate 1 --warmup 3 --steps 5 --intervals"
    assert CommandSession([*words.split(), "2"]).run() == 0
    told = capsys.readouterr().out
    rows = [line.split() for line in told.partition("intervals at rate 1\n")[2].splitlines()[2:]]
    assert [row[:4] + row[5:] for row in rows] == [
        [begin, steps, "1", "1", "1", "0:0"]
        for begin, steps in (("3", "2"), ("5", "2"), ("7", "1"))
    ]
    assert CommandSession([*words.split(), "0"]).run() == 2
    assert "--intervals is a whole number of steps" in capsys.readouterr().err
