"""The list of networks: what a family has, and its members of a size."""

import re

import networkx
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError


def said(capsys, typed: str) -> str:
    assert CommandSession(typed.split()).run() == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("family", ["torus", "debruijn", "doubleloop"])
def test_a_member_of_a_size_has_the_degree_and_diameter_that_its_graph_has(family):
    (row,) = mpinet.topologies(family, size="20..36", degree="..4").value
    graph = mpinet.to_networkx(row["topology"])
    assert 20 <= graph.number_of_nodes() == row["processors"] <= 36
    assert row["degree"] == max(degree for _, degree in graph.degree) <= 4
    assert row["diameter"] == networkx.diameter(graph)


def test_the_torus_of_least_diameter_is_the_squarest_one_within_the_degree():
    (row,) = mpinet.topologies("torus", size="36", degree="4").value
    assert row["topology"] == "torus:6x6"
    assert mpinet.topologies("hypercube", size="33..63").value == []


def test_list_and_describe_are_words_for_topologies(capsys):
    assert said(capsys, "list ring --json").count('"name": "ring"') == 1
    told = said(capsys, "describe gmn:8,256")
    assert "routings       source, shortest" in told and "mpinet draw gmn:8,256" in told
    assert "gmn" not in said(capsys, "list hypercube --size 8..8")
    assert CommandSession(["lits"]).run() == 2
    assert "did you mean list?" in capsys.readouterr().err


def listed_routings(family, capsys):
    """The names behind the lines of routings, which go on in lines that begin with spaces."""
    told = re.sub(r"\n +", " ", said(capsys, f"topologies {family}"))
    lines = re.findall(r"^(?:load )?routings +(.*)$", told, re.MULTILINE)
    return [name for line in lines for name in line.split(", ")]


@pytest.mark.parametrize("family", ["dragonfly", "lens", "torus", "hyperx", "tree"])
def test_all_routings_that_a_family_takes_are_listed(family, capsys):
    listed = listed_routings(family, capsys)
    network = mpinet.open(mpinet.topologies(family).value[0]["example"])
    for name in listed:
        assert network.routing(name, 1).name
    with pytest.raises(UsageError) as error:
        network.routing("no such routing")
    assert str(error.value).endswith(f"it has: {', '.join(listed)}.")


@pytest.mark.parametrize(
    ("family", "names"),
    [
        ("lens", {"fair", "regular"}),
        ("dragonfly", {"ugal-l", "par", "valiant"}),
        ("torus", {"adaptive", "adaptive-bubble"}),
    ],
)
def test_routings_of_a_paper_and_of_open_loop_traffic_are_among_them(family, names, capsys):
    assert names <= {*listed_routings(family, capsys)}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"degree": "4"}, "--degree applies only with --size"),
        ({"size": "5..4"}, "at least 1 upwards"),
        ({"size": "8", "degree": "some"}, "A degree is a largest degree"),
        ({"family": "rign"}, "did you mean ring"),
    ],
)
def test_what_cannot_be_listed_is_refused(options, sentence):
    with pytest.raises(UsageError, match=sentence):
        mpinet.topologies(**options)
