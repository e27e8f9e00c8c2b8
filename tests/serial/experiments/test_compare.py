"""What is compared is what networkx finds; what would take too long is left out with a reason."""

import csv
import io
import re

import networkx
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError
from mpinet.experiments.compare import moore_bound, row_of
from mpinet.measure.cuts import connectivity_work
from mpinet.measure.wiring import to_graph
from mpinet.networks.catalogue import to_networkx
from mpinet.report.envelope import digest

NETWORKS = ["torus:4x4", "debruijn:4", "fattree:2,3", "petersen", "chordalring:14,5"]
QUICK = "processors,switches,links,degree,diameter,moore,average_distance,connectivity"


@pytest.mark.parametrize("name", NETWORKS)
def test_columns_are_those_that_networkx_finds(name):
    graph, network = networkx.Graph(to_networkx(mpinet.open(name))), mpinet.open(name)
    row = mpinet.compare([name], only=f"{QUICK},degree_diameter,links_diameter").value[0]
    hosts = range(network.hosts)
    lengths = dict(networkx.all_pairs_shortest_path_length(graph))
    pairs = [lengths[u][v] for u in hosts for v in hosts if u != v]
    assert row["processors"] == network.hosts and row["switches"] == len(graph) - network.hosts
    assert row["links"] == graph.number_of_edges()
    assert row["degree"] == max(degree for _, degree in graph.degree)
    assert row["diameter"] == max(pairs)
    assert row["average_distance"] == pytest.approx(sum(pairs) / len(pairs))
    assert row["connectivity"] == networkx.node_connectivity(graph)
    assert row["degree_diameter"] == row["degree"] * row["diameter"]
    assert row["links_diameter"] == row["links"] * row["diameter"]
    assert row["left_out"] == {}


@pytest.mark.parametrize(
    "name", ["torus:4x4", "fattree:2,3", "mesh:3x3,hosts=2", "dragonfly:2,4,2"]
)
def test_what_building_costs_is_counted_of_routers(name):
    network = mpinet.open(name)
    graph = networkx.Graph(to_networkx(network))
    first = network.hosts if network.hosts < network.size else 0
    routers = range(first, network.size)
    row = mpinet.compare([name], only="routers,ports,cables").value[0]
    assert row["routers"] == len(routers)
    assert row["ports"] == sum(graph.degree[router] for router in routers)
    assert row["cables"] == graph.subgraph(routers).number_of_edges()


def test_a_bus_is_one_cable():
    row = mpinet.compare(["busstar:3,2"], only="ports,cables").value[0]
    assert row["cables"] == mpinet.open("busstar:3,2").busses


@pytest.mark.parametrize(("degree", "diameter"), [(2, 7), (3, 2), (3, 4), (4, 3), (7, 2)])
def test_the_moore_bound_is_the_least_diameter_of_a_full_tree(degree, diameter):
    tree = networkx.balanced_tree(degree - 1, diameter) if degree > 2 else networkx.path_graph(1)
    whole = 1 + degree * sum((degree - 1) ** i for i in range(diameter))
    assert moore_bound(whole, degree) == diameter == moore_bound(whole - 1, degree)
    assert moore_bound(whole + 1, degree) == diameter + 1
    assert degree == 2 or len(tree) < whole


def test_steps_are_those_of_the_commands():
    row = mpinet.compare(["hypercube:4"], only="broadcast,gossip,exchange,ascend").value[0]
    assert row["broadcast"] == mpinet.broadcast("hypercube:4").steps == 4
    assert row["gossip"] == mpinet.gossip("hypercube:4").steps == 15
    assert row["exchange"] == mpinet.exchange("hypercube:4").steps
    assert row["ascend"] == mpinet.ascend("hypercube:4", operator="prefix").steps == 4


def test_the_saturation_is_the_throughput_of_a_load_curves_overload_and_only_on_demand():
    row = mpinet.compare(["torus:4x4"], only="saturation").value[0]
    curve = mpinet.load("torus:4x4", rate="0.05,0.1").value["curves"][0]
    assert row["saturation"] == curve["saturation_throughput"] > 0.1
    assert "saturation" not in mpinet.compare(["ring:5"]).value[0]
    left = mpinet.compare(["ring:1025"], only="saturation").value[0]
    assert left["saturation"] is None and "up to 1,024" in left["left_out"]["saturation"]


FEWEST = {"hypercube:5": 5, "ring:17": 9, "debruijn:4": 5, "petersen": 4, "complete:9": 4}
"""Fewest steps of a one-port broadcast: ceil(log2 N), which nothing beats and these reach; half way
round a ring; of DB(4) 5, by a certificate of the class LP that was checked elsewhere."""


@pytest.mark.parametrize("name", FEWEST)
def test_the_optimum_is_the_fewest_steps_and_only_on_demand(name):
    row = mpinet.compare([name], only="broadcast,optimum", effort=20.0).value[0]
    assert row["optimum"] == {"lower": FEWEST[name], "upper": FEWEST[name]}
    assert row["broadcast"] >= FEWEST[name]
    assert "optimum" not in mpinet.compare(["ring:5"]).value[0]


def test_bounds_that_more_seconds_bring_closer_are_not_in_the_digest():
    exact, open_ = (
        mpinet.compare([name], only="optimum,degree", effort=0).document()
        for name in ("hypercube:4", "debruijn:6")
    )
    low, high = open_["result"][0]["optimum"].values()
    assert low < 8 <= high  # 8 is the least, as the class LP shows
    for document in (exact, open_):
        rows = document["result"]
        kept = [
            {k: v for k, v in row.items() if k != "optimum" or v["lower"] == v["upper"]}
            for row in rows
        ]
        assert document["digest"] == digest(kept)
    assert "optimum" in str(exact["result"]) and exact["digest"] == digest(exact["result"])
    left = mpinet.compare(["ring:2049"], only="optimum").value[0]
    assert left["optimum"] is None and "up to 2,048" in left["left_out"]["optimum"]


def test_what_would_take_too_long_is_left_out_with_a_reason(capsys):
    found = mpinet.compare(["hypercube:14", "ring:12"], only="degree,bisection,exchange,ascend")
    large, small = found.value
    assert large["degree"] == 14 and large["bisection"] is None and large["exchange"] is None
    assert "up to 1,024 nodes: hypercube:14 has 16,384" in large["left_out"]["bisection"]
    assert small["bisection"] == {"lower": 2, "upper": 2}
    assert small["ascend"] is None and "ascend" in small["left_out"]  # 12 is no power of two
    assert "up to 1,024 nodes" in str(found)


LIMITED = [
    ("torus:32x32", "connectivity", "0.01", 4),
    ("complete:400", "bisection", "0.02", {"lower": 200 * 200, "upper": 200 * 200}),
    ("hypercube:11", "vertex_transitive", "0.01", True),
    ("torus:16x16", "exchange", "0.04", None),
]
"""Networks, columns, efforts that are enough, and what is known to be in the column then."""


@pytest.mark.parametrize(("name", "column", "enough", "known"), LIMITED)
def test_a_column_is_left_out_until_the_effort_named_is_enough(name, column, enough, known):
    least = float(enough)
    little = round(least - 0.01, 2)
    left = mpinet.compare([name], only=column, effort=little).value[0]
    said = left["left_out"][column]
    assert left[column] is None and said.endswith(f": --effort {enough} is enough.")
    assert f"{column} takes about" in said and f"an effort of {little:g} allows" in said
    found = mpinet.compare([name], only=column, effort=least).value[0]
    assert found["left_out"] == {}
    if column == "exchange":
        known = mpinet.exchange(name, ports="one").steps
        assert known >= 256 * 8  # hops to go, from each of the processors, one in a step
    assert found[column] == known


def test_no_effort_is_named_that_the_command_would_refuse():
    said = mpinet.compare(["ring:4096"], only="exchange", effort=3600).value[0]["left_out"]
    assert said["exchange"].endswith(
        "an effort of 3600 allows 108000 s: no --effort would be enough."
    )
    with pytest.raises(UsageError, match=r"--effort is 0\.\.3600 seconds, not 3601"):
        mpinet.compare(["ring:8"], effort=3601)


def test_what_is_left_out_is_not_begun_and_asks_no_clock(monkeypatch):
    def never(*_, **__):
        raise AssertionError("This must not be called.")

    for called in ("mpinet.experiments.compare.exchange", "mpinet.measure.connectivity"):
        monkeypatch.setattr(called, never)
    for clock in ("time", "perf_counter", "process_time", "thread_time"):
        monkeypatch.setattr(f"time.{clock}", never)
    columns = ["exchange", "connectivity"]
    row = row_of("hyperx:32x32", columns, 0.1)
    assert [row[name] for name in columns] == [None, None]
    assert list(row["left_out"]) == columns
    with pytest.raises(AssertionError, match="must not be called"):
        row_of("hyperx:32x32", columns, 2.0)


@pytest.mark.parametrize("name", [*NETWORKS, "complete:7", "hyperx:4x4", "mesh:3x5"])
def test_the_work_of_a_connectivity_is_that_of_its_flows(name, monkeypatch):
    graph = to_graph(name)
    flows, flow = [], type(graph).vertex_connectivity

    def counted(self, *ends):
        flows.append(self.vcount() + 2 * self.ecount())
        return flow(self, *ends)

    monkeypatch.setattr(type(graph), "vertex_connectivity", counted)
    mpinet.measure.connectivity(name)
    assert connectivity_work(name) == sum(flows)
    assert (sum(flows) == 0) == (name == "complete:7")


def test_progress_names_the_column_and_the_network(monkeypatch, capsys):
    monkeypatch.setattr("mpinet.report.progress.PATIENCE", 0.0)
    words = ["compare", "ring:8", "petersen", "--only", "degree,gossip"]
    assert CommandSession([*words, "--progress"]).run() == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("cells ")]
    assert [line.split(" after ")[0] for line in said] == [f"cells {n} of 4" for n in range(5)]
    cells = ["degree of ring:8", "gossip of ring:8", "degree of petersen", "gossip of petersen"]
    assert all(f"; {cell}" in line for cell, line in zip(cells, said, strict=False))
    assert CommandSession([*words, "--no-progress"]).run() == 0
    assert capsys.readouterr().err == ""


def test_a_table_breaks_into_blocks_that_fit_the_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    names = [f"torus:{n}x{n}" for n in range(3, 12)]
    assert CommandSession(["compare", *names, "--only", "links,degree", "--no-progress"]).run() == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 60
    assert all(printed.count(name) == 1 for name in names)


def test_csv_and_latex_hold_the_same_numbers(tmp_path, capsys):
    words = ["compare", "torus:4x4", "gmn:8,256", "--only", "processors,links,bisection"]
    for kind in ("csv", "latex"):
        file = tmp_path / f"out.{kind}"
        assert CommandSession([*words, "--format", kind, "-o", str(file)]).run() == 0
        assert capsys.readouterr().out.strip() == file.read_text().strip()
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    text = (tmp_path / "out.latex").read_text()
    assert [row["links"] for row in rows] == ["32", "400"]
    bounds = [row["bisection.lower"] for row in rows]
    assert bounds[0] == "8" and re.search(rf"bisection & 8 & {bounds[1]}--\d+ ", text)
    body = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count("&") for line in body} == {2}
    assert text.count("{") == text.count("}") and text.count(r"\begin") == text.count(r"\end") == 1
    assert not re.search(r"(?<!\\)[_#%$](?!.*booktabs)", text)


def test_every_format_says_why_a_cell_is_empty(capsys, monkeypatch):
    def absent(*_):
        raise UsageError("This measure needs the library igraph.")

    monkeypatch.setattr("mpinet.measure.bisection_width", absent)
    words = ["compare", "ring:6", "--only", "degree,bisection", "--no-progress"]
    said = "bisection of ring:6: This measure needs the library igraph."
    told = {}
    for kind in ("table", "latex", "csv"):
        assert CommandSession([*words, "--format", kind]).run() == 0
        told[kind] = capsys.readouterr()
    assert told["table"].out.endswith(f"\n\n{said}\n") and told["table"].err == ""
    assert told["latex"].out.endswith(f"\\end{{tabular}}\n% {said}\n") and told["latex"].err == ""
    columns, row = told["csv"].out.split()
    assert columns == "topology,family,size,parameter.N,degree,bisection"
    assert row == "ring:6,ring,6,6,2,"
    assert told["csv"].err == f"mpinet: {said}\n"


@pytest.mark.parametrize(
    ("only", "said"), [("diamter", "no column 'diamter': did you mean diameter"), (",", "at least")]
)
def test_a_column_that_is_none_gets_a_sentence(only, said):
    with pytest.raises(UsageError, match=said):
        mpinet.compare(["ring:8"], only=only)
