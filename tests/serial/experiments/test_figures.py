"""Plans of docs/figures: published figures, and that no cycle of dependencies means no deadlock."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mpinet
from mpinet import measure
from mpinet.experiments.plan import read_plan

CHECKOUT = Path(__file__).resolve().parents[3]
PLANS = CHECKOUT / "docs/figures"

PAPERS = "dragonfly flatbutterfly slimfly hyperx meshes caminos".split()

TRIED = {"ring:8", "torus:4x4", "debruijn:4", "dragonfly:1,2,1", "slimfly:3", "mesh:4x4"}
"""Networks of deadlock.toml that are run in every test, on a hundredth of the steps."""

BRIEF = {"warmup": 40, "steps": 80, "limit": 400}


def parts(name: str) -> Iterator[dict[str, Any]]:
    """The plans that a plan stands for, without their pictures."""
    plan = dict(read_plan(PLANS / f"{name}.toml"))
    plan.pop("plot", None)
    for part in plan.pop("part", [{}]):
        yield plan | part


def values(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def rows(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return list(mpinet.sweep(plan).records())


@pytest.fixture(autouse=True)
def checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans name files from the checkout on."""
    monkeypatch.chdir(CHECKOUT)


@pytest.mark.costly
@pytest.mark.parametrize("name", PAPERS)
def test_a_published_figure_is_a_plan_whose_lightest_load_is_accepted(name: str) -> None:
    for plan in parts(name):
        rate = plan["rate"]
        least = rate[0] if isinstance(rate, list) else rate["linear"][0]
        first = {key: values(plan[key])[0] for key in ("topology", "routing")}
        # As many messages in a window, however long they are.
        brief = {key: steps * plan.get("flits", 1) for key, steps in BRIEF.items()}
        found = rows(plan | first | brief | {"rate": least})
        assert len(found) == len(values(plan["pattern"]))
        for row in found:
            share = row["throughput"] / row["offered"]
            # Flits of the window's begin and end, and the worst case of a dragonfly: 1/32.
            assert share == pytest.approx(1, abs=0.3) or row["bound"] < row["offered"]
            assert not row["deadlock"] and row["stuck_flits"] == 0


def test_the_plan_of_dally_and_towles_is_bounded_as_their_book_says() -> None:
    bounds = {}
    for plan in parts("meshes"):
        brief = plan | BRIEF | {"rate": 0.01, "routing": "dimensions"}
        bounds |= {(row["topology"], row["option.pattern"]): row["bound"] for row in rows(brief)}
    # Of a k-ary n-cube: 8 / k, of a mesh 4 / k; a row's k - 1 turn at its corner; k / 2 - 1 hops.
    assert bounds["mesh:8x8", "uniform"] == pytest.approx(4 / 8)
    assert bounds["mesh:8x8", "transpose"] == pytest.approx(1 / 7)
    assert bounds["mesh:8x8", "complement"] == pytest.approx(1 / 4)
    assert bounds["torus:8x8", "tornado"] == pytest.approx(1 / 3)
    assert bounds["torus:8x8", "complement"] == pytest.approx(1 / 2)


def test_the_worst_cases_load_a_channel_as_their_papers_say() -> None:
    worst = {
        ("dragonfly", "adversarial"): 1 / 32,
        ("flatbutterfly", "docs/figures/next-router.csv"): 1 / 32,
        ("hyperx", "complement"): 1 / 8,
        ("caminos", "docs/figures/shift-3-2x8x8.csv"): 1 / 6,
    }
    for (name, pattern), bound in worst.items():
        plan = next(parts(name))
        brief = {"pattern": pattern, "routing": values(plan["routing"])[0], "rate": 0.001}
        (row,) = rows(plan | brief | {"warmup": 0, "steps": 20, "limit": 20})
        assert row["bound"] == pytest.approx(bound)


def test_a_routers_heads_go_round_a_channel_that_all_would_take_and_pass_more_than_it() -> None:
    brief = {"pattern": "complement", "rate": 0.4, "vcs": 4, "warmup": 200, "steps": 200}
    accepted = {}
    for routing in ("dimensions", "valiant", "ugal-l", "dimwar", "omniwar", "polarized"):
        (curve,) = mpinet.load("hyperx:4,hosts=4", routing=routing, limit=200, **brief).curves
        accepted[routing] = curve.points[0].throughput
    # Four processors send over one channel, or over three of which those astray take two: 1/2.
    assert accepted.pop("dimensions") == pytest.approx(1 / 4)
    assert all(each == pytest.approx(0.4, rel=0.05) for each in accepted.values())


def tried(plan: dict[str, Any], some: set[str]) -> dict[str, Any]:
    """A plan for those of its networks that are among some."""
    return plan | {"topology": [each for each in values(plan["topology"]) if each in some]}


def everything() -> set[str]:
    return {each for plan in parts("deadlock") for each in values(plan["topology"])}


@pytest.mark.parametrize(
    ("some", "steps"),
    [(TRIED, 1000), pytest.param(everything(), 100_000, marks=pytest.mark.long)],
    ids=["some", "all"],
)
def test_no_cycle_of_dependencies_is_never_a_deadlock(some: set[str], steps: int) -> None:
    seen = set()
    for plan in parts("deadlock"):
        chosen = tried(plan, some)
        for name, routing in itertools.product(chosen["topology"], values(chosen.get("routing"))):
            if some == TRIED and routing not in (None, "minimal"):
                continue
            assert measure.channel_dependency_cycle(name, routing) is None
            play = chosen | {"topology": name, "steps": steps} | {"seed": [0, 1, 2, 3, 4]}
            for row in rows(play | ({"routing": routing} if routing else {})):
                assert not row["deadlock"] and row["stuck_flits"] == 0
                assert row["steps"] >= steps and row["loads_sum"] > steps / 4
            seen.add((name, routing))
    assert len(seen) == (37 if some != TRIED else len(TRIED))


def test_with_one_class_the_machine_stops_where_the_prover_finds_a_cycle() -> None:
    (plan,) = parts("one-class")
    brief = plan | {"steps": 1500, "seed": [0, 1]}
    for name in sorted(TRIED):
        cycle = measure.channel_dependency_cycle(name, classes="none")
        found = mpinet.load(
            name, **{key: value for key, value in brief.items() if key in ONE_RUN}, seeds=2
        )
        stops = [point.deadlock for curve in found.curves for point in curve.points]
        if cycle is None:
            assert name == "mesh:4x4" and not any(stops)
        elif any(stops):
            assert name != "mesh:4x4"
        else:
            # Random traffic hardly ever fills such a circle: the search finds what does.
            assert name == "slimfly:3"
            assert measure.find_deadlock(name, classes="none", buffers=1).verdict == "deadlock"


ONE_RUN = "pattern classes vcs rate flits buffers warmup steps limit".split()
