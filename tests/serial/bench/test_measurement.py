"""Contenders take turns; rows have medians, the medians' ratio, the spread, and the goal's verdict.

All figures come from scripts and clocks of the tests' own.
"""

from itertools import accumulate, cycle

import pytest

from mpinet.bench.benchmark import (
    Absent,
    Baseline,
    Benchmark,
    BenchSetting,
    Contenders,
    Goal,
    speed,
)
from mpinet.bench.measurement import measure, take_turns
from mpinet.machine.transport import Local

SIZES = {"small": 4, "full": 20}


def scripted(figures):
    """A contender that gives these figures, then begins again."""
    following = cycle(figures)
    return lambda: next(following)


def benchmark(contenders, *baselines, **settings):
    """A benchmark whose contenders do not depend on the setting."""
    return Benchmark(
        "sample", "walk {} miles", "miles/h", SIZES, lambda *_: contenders(), baselines, **settings
    )


def test_contenders_take_turns():
    said = []
    one, other = (lambda name=name: said.append(name) or 1.0 for name in "AB")
    contenders = Contenders(one, {"B": other, "C": Absent("is ill")})
    assert take_turns(contenders, 3) == {"mpinet": [1.0] * 3, "B": [1.0] * 3}
    assert said == ["A", "B", "A", "B", "A", "B"]


def test_a_row_has_medians_their_ratio_and_the_range_of_the_rounds():
    pair = benchmark(
        lambda: Contenders(scripted([9, 3, 6]), {"hare": scripted([12, 12, 24])}),
        Baseline("hare", Goal("ratio", ">=", 0.5)),
    )
    (row,) = measure(pair, BenchSetting(repeat=3))
    assert (row.name, row.workload, row.unit) == ("sample", "walk 20 miles", "miles/h")
    assert (row.figure, row.baseline, row.ratio) == (6, 12, 0.5)
    assert row.spread.figure == (3, 9)
    assert row.spread.baseline == (12, 24)
    assert row.spread.ratio == (3 / 12, 9 / 12)
    assert (row.goal, row.reached, row.rounds) == ("ratio >= 0.5", True, 3)
    assert (row.against, row.ranks, row.command) == ("hare", 1, "mpinet bench sample")


@pytest.mark.parametrize(
    ("goal", "attained", "reached"),
    [
        (Goal("ratio", ">=", 0.625), 0.8, False),
        (Goal("ratio", "<=", 0.5), 1, True),
        (Goal("figure", ">=", 6), 1, True),
        (Goal("figure", ">=", 2), 3, True),
        (Goal("figure", "<=", 4.5), 0.75, False),
        (Goal("ratio", ">=", 0.1, ranks=2), None, None),
        (None, None, None),
    ],
)
def test_a_goal_is_for_the_ratio_or_the_figure_on_its_number_of_ranks(goal, attained, reached):
    pair = benchmark(
        lambda: Contenders(lambda: 6.0, {"hare": lambda: 12.0}), Baseline("hare", goal)
    )
    (row,) = measure(pair, BenchSetting(repeat=1))
    assert (row.attained, row.reached) == (attained, reached)
    assert (row.goal is None) == (reached is None)


def test_goals_are_not_for_small_sizes():
    pair = benchmark(
        lambda: Contenders(lambda: 6.0, {"hare": lambda: 12.0}),
        Baseline("hare", Goal("ratio", ">=", 0.1)),
    )
    (row,) = measure(pair, BenchSetting(size="small", repeat=1))
    assert (row.workload, row.ratio, row.goal, row.reached) == ("walk 4 miles", 0.5, None, None)
    assert row.command == "mpinet bench sample --size small"


def test_every_baseline_has_its_row_and_a_missing_one_says_why():
    several = benchmark(
        lambda: Contenders(
            lambda: 6.0, {"hare": lambda: 2.0, "mock turtle": Absent("not installed")}
        ),
        Baseline("hare"),
        Baseline("mock turtle", Goal("ratio", ">=", 10)),
    )
    first, second = measure(several, BenchSetting(repeat=2))
    assert (first.name, first.ratio, first.absent) == ("sample", 3, None)
    assert second.name == "sample-mock-turtle"
    assert (second.figure, second.baseline, second.ratio) == (6, None, None)
    assert (second.reached, second.absent) == (None, "not installed")


def test_long_benchmarks_make_fewer_rounds_and_all_warm_up_at_the_small_size():
    asked = []

    def contenders(setting, size):
        asked.append((setting.size, size))
        return Contenders(lambda: 1.0, {"hare": lambda: 1.0})

    long = Benchmark("long", "{}", "s", SIZES, contenders, (Baseline("hare"),), most_rounds=2)
    (row,) = measure(long, BenchSetting(repeat=9))
    assert row.rounds == 2
    assert asked == [("small", 4), ("full", 20)]


def test_the_ranks_of_a_benchmark_that_starts_processes_are_those_it_gives_them():
    both = Contenders(lambda: 1.0, {"hare": lambda: 2.0})
    goal = Goal("figure", "<=", 1.5, ranks=2)
    pair = benchmark(lambda: both, Baseline("hare", goal), several=True, starts=True)
    (row,) = measure(pair, BenchSetting(repeat=1, ranks=2))
    assert (row.ranks, row.reached, row.command) == (2, True, "mpinet bench sample --ranks 2")


def test_seconds_are_those_of_the_setting_s_clocks():
    ticks = accumulate([10, 0.25, 7, 0.5])
    watches = {"clock": lambda: next(ticks), "wall": lambda: 2 * next(ticks)}
    setting = BenchSetting(transport=Local(), **watches)
    assert setting.seconds(lambda: None) == 0.25
    assert setting.seconds_together(lambda: None) == 2 * 0.5
    assert speed(3_000_000, 0.25) == 12
