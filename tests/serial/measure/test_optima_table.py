"""The table of optima: of every family, as its file lists them, and right where that is quick."""

import re
from pathlib import Path

import networkx
import pytest

import mpinet
from mpinet.experiments.plan import read_plan
from mpinet.networks.catalogue import FAMILIES

REFERENCE = Path(__file__).parents[3] / "docs/reference"
ROW = re.compile(r"\| `(.+?)` \| (\d+|-) \| (\S*) ?\| \*\*(\d+)\*\* \| (\S+) \| (\d+) \| (\d+) \|")
ROWS = {row[0]: row[1:] for row in ROW.findall((REFERENCE / "optima.md").read_text())}

SEARCHED = """moebius:7 rcirculant:64,4 fattree:4,2 fattree:4,3 karytree:4,2 randomregular:100,4
gmnany:50 foldedcube:7 arrangement:5,3""".split()
"""Where the solver found the schedule."""


def test_the_table_has_the_networks_of_its_file_and_these_are_of_all_families_up_to_128():
    listed = read_plan(REFERENCE / "optima.toml")["topology"]
    assert list(ROWS) == listed
    networks = [mpinet.open(name) for name in listed]
    assert {network.family for network in networks} == set(FAMILIES) - {"graph"}
    assert max(network.hosts for network in networks) <= 128


@pytest.mark.costly
@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_the_table_lies_between_its_bounds_and_schedules_that_run(name):
    own, algorithm, optimum, by, distance, growth = ROWS[name]
    network, optimum = mpinet.open(name), int(optimum)
    simple = max(int(distance), int(growth))
    assert (by in ("distance", "growth")) == (simple == optimum) and simple <= optimum
    if network.links:
        graph = mpinet.to_networkx(network)
        away = networkx.single_source_shortest_path_length(networkx.Graph(graph), 0)
        assert int(distance) == max(away[node] for node in range(network.hosts))
        assert int(growth) == (network.hosts - 1).bit_length()
    runs = [mpinet.broadcast(network, algorithm="passes").steps]
    if own != "-":
        runs.append(mpinet.broadcast(network, algorithm=algorithm).steps)
        assert runs[-1] == int(own)
    assert min(runs) == optimum or (name in SEARCHED and min(runs) > optimum)


@pytest.mark.long
@pytest.mark.parametrize("name", ROWS)
def test_a_row_of_the_table_is_found_again(name):
    found = mpinet.optimum(name, limit=300)
    own, algorithm, optimum, by, *_ = ROWS[name]
    assert (found.lower, found.upper, found.lower_by) == (int(optimum), int(optimum), by)
    assert (str(found.own), found.own_algorithm) == (own, algorithm) or own == "-"
