"""Plots: points are means over the rows that belong together, and nothing is averaged unasked."""

import csv
import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import networkx
import numpy as np
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError
from mpinet.report.curves import Curve, Dot, column, curves_of, subject
from mpinet.report.drawing.axes import figure_of

ROWS = [
    {"topology": name, "seed": seed, "option.rate": rate, "latency.mean": 10 * rate + seed**2}
    for name in ("torus:8x8", "hypercube:6")
    for rate in (0.3, 0.1, 0.2)
    for seed in range(5)
]
T_OF_FOUR = 2.776
"""Student's t of 95 % with 4 degrees of freedom, as any table prints it."""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return written(ROWS, tmp_path / "rows.csv")


def written(rows: list[dict], path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)
    return path


def plot(*words: object) -> int:
    return CommandSession(["plot", *map(str, words)]).run()


AXES = ("--x", "rate", "--y", "latency.mean", "--by", "topology")


def test_points_are_means_with_the_interval_of_student_in_the_order_of_x(table):
    found = mpinet.plot(table, x="rate", y="latency.mean", by="topology", error="seed")
    assert [one["label"] for one in found.value["curves"]] == ["torus:8x8", "hypercube:6"]
    for curve in found.value["curves"]:
        assert [dot["x"] for dot in curve["points"]] == [0.1, 0.2, 0.3]
        for dot in curve["points"]:
            values = 10 * dot["x"] + np.arange(5) ** 2
            reach = T_OF_FOUR * values.std(ddof=1) / np.sqrt(5)
            assert dot["y"] == pytest.approx(values.mean())
            assert (dot["low"], dot["high"]) == pytest.approx(
                (values.mean() - reach, values.mean() + reach)
            )
            assert dot["count"] == 5


def test_curves_are_told_apart_by_what_else_was_varied_but_never_by_the_seed(tmp_path):
    rows = [
        {"topology": name, "seed": seed, "option.pairs": pairs, "option.rate": rate, "hops": rate}
        for name, pairs, rate, seed in product("AB", ("all", "few"), (1, 2), (0, 1))
    ]
    table = written(rows, tmp_path / "rows.csv")
    found = mpinet.plot(table, x="rate", y="hops", error="seed").curves
    assert [one.label for one in found] == ["A, all", "A, few", "B, all", "B, few"]
    found = mpinet.plot(table, x="topology", y="hops", panels="pairs", error="seed").curves
    assert [(one.panel, one.label) for one in found] == [
        *(("all", "1"), ("all", "2"), ("few", "1"), ("few", "2"))
    ]
    for by in (None, "topology,pairs"):
        with pytest.raises(UsageError, match=r"2 rows would be one point at 1: .* seed\."):
            mpinet.plot(table, x="rate", y="hops", by=by)
    with pytest.raises(UsageError, match=r"differ in topology, option\.pairs"):
        mpinet.plot(table, x="rate", y="hops", by="", error="seed")


def test_a_condition_may_be_given_alone(table):
    found = mpinet.plot(table, x="rate", y="mean", where="topology=torus:8x8", error="seed")
    assert [dot.count for curve in found.curves for dot in curve.points] == [5] * 3


def test_rows_as_json_lines_and_columns_with_underlines_are_the_same_curves(table, tmp_path):
    lines = tmp_path / "rows.jsonl"
    lines.write_text(
        "".join(f"{json.dumps(row)}\n" for row in ROWS).replace("latency.m", "latency_m")
    )
    of_lines, of_table = (
        mpinet.plot(rows, x="rate", y="latency.mean", by="topology", error="seed").value["curves"]
        for rows in (lines, table)
    )
    assert of_lines == of_table


def test_a_columns_whole_name_goes_before_the_end_of_another():
    rows = [{"latency_mean": 1, "network_latency_mean": 2, "hops.mean": 3, "option.hops.mean": 4}]
    assert column(rows, "latency.mean") == "latency_mean"
    assert column(rows, "network.latency.mean") == "network_latency_mean"
    assert column(rows, "hops_mean") == "hops.mean"
    with pytest.raises(UsageError, match="'mean' may be latency_mean or network_latency_mean or"):
        column([{"latency_mean": 1, "network_latency_mean": 2, "hops_mean": 3}], "mean")


def test_rows_are_written_as_json_lines(tmp_path, capsys):
    for ending in ("csv", "jsonl"):
        assert CommandSession(["flood", "ring:6", "--out", f"{tmp_path}/rows.{ending}"]).run() == 0
    (row,) = map(json.loads, (tmp_path / "rows.jsonl").read_text().splitlines())
    (cells,) = csv.DictReader((tmp_path / "rows.csv").read_text().splitlines())
    assert {name: str(value) for name, value in row.items() if value is not None} == {
        name: cell for name, cell in cells.items() if cell
    }


@pytest.mark.parametrize(
    ("bars", "ends"),
    [
        ("range", lambda v: (v.min(), v.max())),
        ("deviation", lambda v: (v.mean() - v.std(ddof=1), v.mean() + v.std(ddof=1))),
    ],
)
def test_bars_show_what_is_asked_for(bars, ends, table):
    found = mpinet.plot(table, x="rate", y="mean", by="topology", error="seed", bars=bars)
    dot = found.curves[0].points[0]
    assert (dot.low, dot.high) == pytest.approx(ends(1 + np.arange(5) ** 2))


def test_results_of_a_sweep_are_drawn_from_its_folder_its_files_and_its_result(tmp_path):
    plan = {"command": "route", "topology": ["ring:6", "torus:3x3"], "seed": [0, 1, 2]}
    swept = mpinet.sweep(plan, folder=tmp_path / "runs")
    ways = [
        swept,
        tmp_path / "runs",
        *(tmp_path / f"runs/results.{kind}" for kind in ("csv", "json")),
    ]
    found = [mpinet.plot(way, x="topology", y="steps", error="seed").value for way in ways]
    assert all(one == found[0] for one in found)
    steps = [mpinet.route("ring:6", seed=seed).steps for seed in range(3)]
    assert found[0]["curves"][0]["points"][0]["y"] == pytest.approx(np.mean(steps))


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json"])
def test_numbers_that_have_no_place_are_left_out_and_counted(tmp_path, capsys, ending):
    pairs = [(1, "NaN"), (2, "3.5"), (3, "Infinity"), (4, "-Infinity"), ("NaN", "5")]
    objects = [f'{{"a": {a}, "b": {b}, "c": {b}}}' for a, b in pairs]
    texts = {
        "csv": "a,b,c\n" + "".join(f"{a},{b},{b}\n" for a, b in pairs),
        "jsonl": "".join(f"{line}\n" for line in objects),
        "json": f'{{"rows": [{", ".join(objects)}]}}',
    }
    file = tmp_path / f"rows.{ending}"
    file.write_text(texts[ending])
    assert plot(file, "--x", "a", "--y", "b", "--tick", "c", "--json") == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert [(dot["x"], dot["y"]) for dot in result["curves"][0]["points"]] == [(2, 3.5)]
    assert (result["rows"], result["without_value"]) == (5, 4)


@pytest.mark.parametrize("big", [10**400, -(10**400), 1e308, -1.7e308])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_numbers_beyond_any_axis_are_left_out_and_counted(tmp_path, capsys, big, ending):
    rows = [{"a": a, "b": b, "seed": 0} for a, b in ((1, big), (2, 3.5), (big, 5), (1, -big))]
    file = tmp_path / f"rows.{ending}"
    file.write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows)
        if ending == "jsonl"
        else "a,b\n" + "".join(f"{row['a']},{row['b']}\n" for row in rows)
    )
    assert plot(file, "--x", "a", "--y", "b", "--json", "-o", tmp_path / "p.svg") == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert [(dot["x"], dot["y"]) for dot in result["curves"][0]["points"]] == [(2, 3.5)]
    assert (result["rows"], result["without_value"]) == (4, 3)


def test_the_largest_numbers_that_are_drawn_have_means_and_a_picture(tmp_path):
    rows = [{"a": a, "seed": seed, "b": a * seed * 1e149} for a in (-1, 1) for seed in (1, 9)]
    table = written(rows, tmp_path / "rows.csv")
    found = mpinet.plot(table, x="a", y="b", error="seed", output=tmp_path / "p.svg")
    assert [dot.y for dot in found.curves[0].points] == [-5e149, 5e149]


@pytest.mark.parametrize("command", [[], ["mpinet"], "", "x", None, {}])
def test_a_document_without_its_command_is_no_result(tmp_path, capsys, command):
    document = mpinet.broadcast("ring:8").document() | {"command": command}
    (tmp_path / "one.json").write_text(json.dumps(document))
    assert plot(tmp_path / "one.json", "--x", "steps", "--y", "messages", "-o", "p.svg") == 2
    assert "the file has no results of mpinet" in capsys.readouterr().err


def test_results_are_put_together(tmp_path, table):
    more = written([row | {"topology": "ring:64"} for row in ROWS[:15]], tmp_path / "more.csv")
    found = mpinet.plot([table, more], x="rate", y="mean", by="topology", error="seed")
    assert [one.label for one in found.curves] == ["torus:8x8", "hypercube:6", "ring:64"]


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_a_picture_has_the_same_bytes_in_every_run(kind, table, tmp_path, capsys):
    for name in ("a", "b"):
        assert plot(table, *AXES, "--error", "seed", "-o", tmp_path / f"{name}.{kind}") == 0
    assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    marks = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
    assert (tmp_path / f"a.{kind}").read_bytes().startswith(marks[kind])


def test_a_figure_has_the_points_log_axes_panels_and_a_legend_outside():
    curves = curves_of(ROWS, "rate", "mean", ["topology"], "topology", "seed")
    figure = figure_of(curves, 5.0, ("rate", "latency"), ("y",))
    left, right = figure.axes
    assert [axes.get_title() for axes in (left, right)] == ["torus:8x8", "hypercube:6"]
    assert (left.get_xscale(), left.get_yscale()) == ("linear", "log")
    assert list(left.lines[0].get_xdata()) == [0.1, 0.2, 0.3]
    assert list(left.lines[0].get_ydata()) == pytest.approx([7.0, 8.0, 9.0])
    figure.canvas.draw()
    legend = right.get_legend()
    assert legend.get_window_extent().x0 >= right.get_window_extent().x1
    assert len(legend.get_texts()) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*AXES, "-o", "p.pdf"), "5 rows would be one point at 0.1: the rows differ in seed."),
        (("--y", "mean", "-o", "p.pdf"), "plot needs columns for the x and y axes"),
        ((*AXES, "-o", "p.gif"), "p.gif: a plot's file ends in .pdf, .svg or .png"),
        ((*AXES, "--error", "seed"), "needs a file for the picture"),
        (("--x", "rat", "--y", "mean", "-o", "p.pdf"), "The column 'rat' is none of topology"),
        (("--x", "rate", "--y", "topology", "-o", "p.pdf"), "which is not a number"),
        ((*AXES, "--where", "seed=9", "-o", "p.pdf"), "No row has seed=9"),
        ((*AXES, "--where", "seed", "-o", "p.pdf"), "--where takes COLUMN=VALUE"),
        ((*AXES, "--log", "z", "-o", "p.pdf"), "--log takes x, y or x,y, not z"),
        (("--x", "topology", "--y", "mean", "--where", "rate=0.1", "--error", "seed", "--log", "x",
          "-o", "p.pdf"), "--log x: 'torus:8x8' is not a number"),
        ((*AXES, "--width", "0", "-o", "p.pdf"), "1..50 inches, not"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_gets_a_sentence_and_no_file(
    words, said, table, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert plot(table, *words) == 2
    told = capsys.readouterr()
    assert said in told.err and told.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("none.csv", None, "No such file"),
        ("empty.csv", "", "the file has no rows"),
        ("ragged.csv", "a,b\n1,2,3\n", "no results of mpinet"),
        ("broken.json", "{", "no results of mpinet"),
        ("other.json", "[1]", "no results of mpinet"),
        ("binary.csv", b"\xff\x00", "no results of mpinet"),
    ],
)
def test_a_file_that_holds_no_results_gets_a_sentence(name, text, said, tmp_path, capsys):
    if text is not None:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    assert plot(tmp_path / name, *AXES, "-o", tmp_path / "p.pdf") == 2
    assert said in capsys.readouterr().err


def test_a_sweep_that_is_not_complete_is_not_drawn(tmp_path, capsys):
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"command": "flood", "topology": "ring:6", "root": [0, 1]}))
    runs = tmp_path / "runs"
    assert CommandSession(["sweep", str(plan), "--out", str(runs), "--shard", "1/2"]).run() == 0
    for axes in ((), ("--x", "root", "--y", "steps")):
        assert plot(runs, *axes, "-o", tmp_path / "p.pdf") == 2
        assert "the sweep is not complete" in capsys.readouterr().err


KNEE = [
    {"rate": rate, "latency": 4 + seed if rate < 0.5 else 400.0, "seed": seed, "bound": 0.6,
     "saturated": rate > 0.4 and seed == 1}
    for rate in (0.1, 0.3, 0.5) for seed in (0, 1)
]  # fmt: skip


def test_saturated_points_are_hollow_and_dashed_and_the_bound_is_a_tick():
    (curve,) = curves_of(
        KNEE, "rate", "latency", [], error="seed", hollow="saturated", tick="bound"
    )
    assert [dot.hollow for dot in curve.dots] == [False, False, True]
    assert curve.tick == 0.6
    (axes,) = figure_of([curve], 5.0, ("x", "y"), (), knees=True).axes
    lines = {line.get_linestyle(): line for line in axes.lines if len(line.get_xdata()) > 1}
    assert lines["--"].get_xdata().tolist() == [0.3, 0.5]
    assert lines["--"].get_markerfacecolor() == "white"
    solid, tick = [line for line in axes.lines if line.get_linestyle() == "-"][:2]
    assert solid.get_xdata().tolist() == [0.1, 0.3]
    assert solid.get_markerfacecolor() == solid.get_color()
    assert list(tick.get_xdata()) == [0.6, 0.6]
    assert [text.get_text() for text in axes.texts] == ["bound 0.6"]
    low, high = axes.get_ylim()
    assert low == 0 and 4 * 4.5 < high < 100
    (arrow,) = [line for line in axes.lines if line.get_marker() == "^"]
    assert arrow.get_xdata().tolist() == [0.5] and 0.9 < arrow.get_ydata()[0] < 1


@pytest.mark.parametrize("late", [8.0, 17.9, 40.0, 4000.0])
def test_each_saturated_point_lies_in_the_picture_or_has_an_arrow(late):
    rows = [{"rate": x, "y": y, "sat": y > 6} for x, y in ((0.1, 4.5), (0.2, 5), (0.3, late))]
    (curve,) = curves_of([*rows, {"rate": 0.4, "y": 9, "sat": True}], "rate", "y", hollow="sat")
    (axes,) = figure_of([curve], 5.0, ("x", "y"), (), knees=True).axes
    arrows = {x for line in axes.lines if line.get_marker() == "^" for x in line.get_xdata()}
    inside = {
        (x, y) for line in axes.lines if line.get_marker() == "o"
        for x, y in np.array(line.get_xydata())[line.get_markevery() or slice(None)].tolist()
    }  # fmt: skip
    drawn = {(dot.x, dot.y) for dot in curve.dots if dot.x not in arrows}
    assert inside == drawn and arrows == ({0.3} if late > 4 * 4.5 else set())
    assert all(y < axes.get_ylim()[1] for _, y in drawn)


def test_ticks_have_times_and_sizes_with_the_unit_that_fits_and_a_bound_has_no_markers():
    dots = [Dot(size, 2000 * size, 2000 * size, 2000 * size, 1) for size in (1, 10**3, 10**6)]
    made = [Curve("", "ring", dots), Curve("", "lower bound", dots)]
    figure = figure_of(made, 5.0, ("bytes", "time"), "xy", units=("B", "ps"))
    figure.canvas.draw()
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1 B", "1 kB", "1 MB"]
    assert {"100 ns", "10 us", "1 ms"} <= {text.get_text() for text in axes.get_yticklabels()}
    assert [line.get_marker() for line in axes.lines] == ["o", "o", "o", "", "", ""][::3]


def test_a_short_logarithmic_axis_has_plain_numbers():
    rows = [{"topology": "ring:8", "x": x, "y": 2.0 * x} for x in (1, 5, 20)]
    figure = figure_of(curves_of(rows, "x", "y", []), 5.0, ("x", "y"), ("y",))
    figure.canvas.draw()
    (axes,) = figure.axes
    shown = [text.get_text() for text in axes.get_yticklabels(which="both")]
    assert {"2", "5", "10", "20"} <= {*shown} and not any("$" in text for text in shown)


def test_the_label_of_the_lowest_bound_is_inside_the_frame_and_below_the_curves():
    curves = curves_of(KNEE, "rate", "latency", [], error="seed", hollow="saturated")
    (axes,) = figure_of(
        [replace(curve, tick=0.6) for curve in curves], 5.0, ("x", "y"), (), True
    ).axes
    (label,) = axes.texts
    axes.figure.canvas.draw()
    assert label.get_window_extent().y0 > axes.get_window_extent().y0 + 1
    assert all(label.get_zorder() < line.get_zorder() for line in axes.lines)


def test_a_title_names_what_all_rows_share_and_the_legend_does_not():
    rows = [{"network": "ring:8", "option.pattern": "uniform", "x": x, "y": x} for x in (1, 2)]
    assert subject(rows) == "ring:8, uniform"
    assert subject([*rows, {"topology": "ring:9", "pattern": "uniform"}]) == "uniform"
    assert subject([row | {"option.program": "a.goal"} for row in rows]) == "ring:8, a.goal"
    curves = curves_of(rows, "x", "y", ["network"])
    (axes,) = figure_of(curves, 5.0, ("x", "y"), (), title=subject(rows)).axes
    assert axes.get_title() == "ring:8, uniform" and axes.get_legend() is None


@pytest.mark.parametrize(("bound", "words"), [(0.6, ["bound 0.6"]), (9, [])])
def test_a_bound_has_a_label_only_if_its_tick_is_in_the_picture(bound, words):
    rows = [row | {"bound": bound} for row in KNEE]
    (curve,) = curves_of(
        rows, "rate", "latency", [], error="seed", hollow="saturated", tick="bound"
    )
    (axes,) = figure_of([curve], 5.0, ("x", "y"), (), knees=True).axes
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["saturated, above the frame"]
    assert [text.get_text() for text in axes.texts] == words


def test_a_document_tells_hollow_points_and_ticks_only_where_they_are_asked_for(tmp_path):
    table = written(KNEE, tmp_path / "rows.csv")
    asked = {"x": "rate", "y": "latency", "error": "seed"}
    (plain,) = mpinet.plot(table, **asked).value["curves"]
    assert "tick" not in plain and not any("hollow" in dot for dot in plain["points"])
    (told,) = mpinet.plot(table, hollow="saturated", tick="bound", **asked).value["curves"]
    assert told["tick"] == 0.6 and [dot.get("hollow") for dot in told["points"]] == [
        *(None, None, True)
    ]


def test_diameters_and_steps_are_plotted_over_size_by_family(tmp_path):
    names = ["ring:8", "ring:16", "torus:3x3", "torus:4x4", "hypercube:3", "hypercube:4"]
    plan = {"command": "compare", "topologies": names, "only": "diameter"}
    graphs = {
        "ring": networkx.cycle_graph,
        "torus": lambda n: networkx.grid_graph([round(n**0.5)] * 2, periodic=True),
        "hypercube": lambda n: networkx.hypercube_graph(n.bit_length() - 1),
    }
    found = mpinet.plot(mpinet.sweep(plan), x="size", y="diameter", by="family").curves
    assert [curve.label for curve in found] == [*graphs]
    for curve in found:
        for dot in curve.points:
            assert dot.y == networkx.diameter(graphs[curve.label](dot.x))
    plan = {"command": "broadcast", "topology": names[:2], "ports": ["one", "all"]}
    found = mpinet.plot(mpinet.sweep(plan), x="size", y="steps", by="family,ports").curves
    assert [[(dot.x, dot.y) for dot in one.points] for one in found] == 2 * [[(8, 4), (16, 8)]]
