"""What a search finds has the distances that networkx finds, and does not depend on ranks."""

import json

import networkx
import numpy as np
import pytest
from serial.cli.test_toolarge import refusal

import mpinet
from mpinet import measure
from mpinet.cli.session import CommandSession
from mpinet.errors import WiringError
from mpinet.experiments import search as searching
from mpinet.experiments.journal import Journal
from mpinet.experiments.lifts import Dice, Lift, SemidirectProduct, shapes
from mpinet.machine.transport import Local


def graph_of(lift):
    graph = networkx.empty_graph(lift.size)
    graph.add_edges_from(lift.links().tolist())
    return graph


@pytest.mark.parametrize(
    "group",
    [
        SemidirectProduct(12),
        SemidirectProduct(7, 2, 6),
        SemidirectProduct(9, 3, 4),
        SemidirectProduct(4, 2),
    ],
    ids=str,
)
def test_groups_are_groups(group):
    table = np.array([group.times(s) for s in range(group.order)]).T
    every = np.arange(group.order)
    assert (np.sort(table) == every).all()
    assert (np.sort(table.T) == every).all()
    assert (table[0] == every).all()
    assert (table[:, 0] == every).all()
    assert (table[table[:, :, None], every] == table[every[:, None, None], table[None]]).all()
    assert all(table[s, group.inverse(s)] == 0 for s in every)
    assert [s for s in every[1:] if table[s, s] == 0] == group.involutions


@pytest.mark.parametrize(("base", "group"), shapes(48, 5)[::3], ids=str)
def test_costs_are_those_of_networkx_after_moves_and_after_they_are_taken_back(base, group):
    dice = Dice("48 5")
    lift = Lift(base, group, 5)
    lift.draw(dice)
    for turn in range(12):
        graph, cost = graph_of(lift), lift.cost()
        assert max(dict(graph.degree).values()) <= 5
        reached = [networkx.single_source_shortest_path_length(graph, s) for s in graph]
        total = sum(sum(row.values()) for row in reached)
        missing = sum(len(graph) - len(row) for row in reached)
        farthest = max(max(row.values()) for row in reached)
        assert cost == (missing // group.order, farthest, total // group.order)
        assert missing % group.order == total % group.order == 0
        before = lift.move(dice)
        if turn % 2:
            lift.undo(before)
            assert (graph_of(lift).edges, lift.cost()) == (graph.edges, cost)


def test_a_search_meets_the_least_diameter_and_mean_distance():
    (found,) = mpinet.find(processors=10, degree=3, search=True, moves=2000, best=1)
    assert networkx.diameter(networkx.petersen_graph()) == found.diameter == found.moore == 2
    assert found.average_distance == found.least_average == 15 / 9


def test_what_is_listed_can_be_opened_and_measures_the_same(tmp_path):
    found = mpinet.find(
        processors=24, degree=4, search=True, moves=300, save=tmp_path / "there", seed=3
    )
    for place, row in enumerate(found, 1):
        network = mpinet.open(f"graph:{tmp_path}/there/search-{place}.edges")
        assert row.topology.startswith(("circulant:24,", f"graph:search-{place}.edges"))
        graph = networkx.Graph(measure.edges(network).tolist())
        assert row.diameter == networkx.diameter(graph)
        assert row.average_distance == networkx.average_shortest_path_length(graph)
        assert mpinet.show(network).edges_sha256 == row.edges_sha256
        if row.topology.startswith("circulant"):
            assert mpinet.show(row.topology).edges_sha256 == row.edges_sha256


def test_a_search_that_was_stopped_goes_on_to_the_same_end(tmp_path, monkeypatch):
    whole = searching.search(24, 4, 400, 5, Local())
    made = []

    def stops(*given):
        if len(made) == 9:
            raise KeyboardInterrupt
        made.append(given)
        return improved(*given)

    improved = searching.improved
    monkeypatch.setattr(searching, "improved", stops)
    with pytest.raises(KeyboardInterrupt):
        searching.search(24, 4, 400, 5, Local(), Journal(tmp_path, "rank-0", "1", "--journal"))
    monkeypatch.setattr(
        searching, "improved", lambda *given: made.append(given) or improved(*given)
    )
    again = searching.search(24, 4, 400, 5, Local(), Journal(tmp_path, "rank-1", "1", "--journal"))
    assert json.dumps(again) == json.dumps(whole)
    assert len({str(given[4]) for given in made}) == len(made)


def test_a_wrong_cost_is_found_out(monkeypatch):
    right = Lift.cost
    monkeypatch.setattr(Lift, "cost", lambda lift: (*right(lift)[:2], right(lift)[2] - 1))
    with pytest.raises(WiringError, match="was expected to have diameter"):
        mpinet.find(processors=12, degree=3, search=True, moves=40)


def test_networks_in_pieces_are_left_out(monkeypatch, capsys):
    chains = len(shapes(60, 2))
    found = mpinet.find(processors=60, degree=2, search=True, moves=4, best=chains)
    assert 0 < len(found) < chains
    assert {row.diameter for row in found} == {30}
    right = Lift.cost
    monkeypatch.setattr(Lift, "cost", lambda lift: (1, *right(lift)[1:]))
    assert CommandSession("find --processors 60 --degree 2 --search --moves 4".split()).run() == 0
    assert "none of 4 tried networks is connected" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--processors 5..9 --degree 4 --search", "one number of processors and a --degree"),
        ("--processors 9 --search", "one number of processors and a --degree"),
        ("--processors 9 --degree 3 --search", "N * degree even"),
        ("--processors 9 --degree 4 --search --moves 0", "--moves takes 1"),
        ("--processors 900000 --degree 4 --search", "ends of links"),
        ("--processors 9 --degree 4 --search --families ring", "--families does not apply"),
        ("--processors 9 --save there", "--save does not apply without --search"),
        ("--processors 9 --degree 4 --search --save no/there", "--save no/there: the folder above"),
    ],
)
def test_wrong_options_are_told(options, said, capsys):
    assert said in refusal(f"find {options}", capsys)


@pytest.mark.long
@pytest.mark.parametrize(
    ("size", "degree", "diameter", "most"),
    [(256, 16, 3, 2.12), (4096, 60, 3, 2.34), (4096, 15, 4, 3.36)],
)
def test_a_longer_search_comes_near_the_records(size, degree, diameter, most):
    (found,) = mpinet.find(processors=size, degree=degree, search=True, moves=60_000, best=1)
    assert found.diameter == diameter
    assert found.least_average < found.average_distance < most
