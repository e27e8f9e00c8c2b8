"""The closed forms of the gallery are what networkx counts on the networks themselves."""

import runpy
from pathlib import Path

import networkx as nx
import pytest

import mpinet
from mpinet.networks.arguments import read_declared
from mpinet.networks.catalogue import FAMILIES, family_class, to_networkx

MADE = runpy.run_path(str(Path(__file__).parents[3] / "docs/_extensions/formulae.py"))
FORMULAE, value, shown = MADE["FORMULAE"], MADE["value"], MADE["shown"]

MORE = (
    *("ccc:3", "ccc:5", "mesh:2x3x4", "torus:2x3", "torus:4x5x3", "debruijn:2", "debruijn:3"),
    *("slimfly:3", "slimfly:7", "dragonfly:1,3,1", "tq:5", "tq:6", "cq:4", "cq:6", "kautz:2,2"),
    *("kautz:2,3", "kautz:3,2", "shuffleexchange:4", "hhc:1", "pancake:4", "megafly:3,2,1"),
    *("gmn:4,32", "lst:2", "lst:5", "dualcube:2", "dualcube:4", "butterfly:2", "clens:3,3"),
    *("karytree:3,2", "hyperx:3x2x2", "polarfly:3", "bubblesort:5", "stargraph:4", "hp:4"),
)
"""Further networks, small ones and those at the edge of a range among them."""

EXAMPLES = [family_class(name).example for name in FORMULAE]
TOO_LARGE = 130
"""Processors beyond which distances are taken from processor 0 alone."""


@pytest.mark.parametrize("name", [*EXAMPLES, *MORE])
def test_a_closed_form_is_what_networkx_counts(name):
    family, _, arguments = name.partition(":")
    network = mpinet.open(name)
    read = read_declared(family, family_class(family).parameters, arguments)
    parameters = {"S" if key == "SIDES" else key: number for key, number in read.items()}
    graph, hosts = to_networkx(network), range(network.hosts)
    sources = hosts if network.hosts <= TOO_LARGE else [0]
    distances = [nx.single_source_shortest_path_length(graph, source) for source in sources]
    counted = (
        network.hosts,
        max(degree for _, degree in graph.degree),
        max(found[host] for found in distances for host in hosts),
    )
    for formula, number in zip(FORMULAE[family], counted, strict=True):
        assert not formula or value(formula, parameters) == number, formula


def test_every_formula_is_of_a_family_and_can_be_shown():
    names = {*FORMULAE, *MADE["IN_USE"], *MADE["CONSTANT"], *MADE["ANY_SIZE"]}
    assert names <= set(FAMILIES)
    assert all("**" not in shown(form) for forms in FORMULAE.values() for form in forms if form)


def test_a_wrong_formula_is_not_the_value():
    assert value("2*q**2", {"q": 5}) == 50 != value("2*q**2 + 1", {"q": 5})
