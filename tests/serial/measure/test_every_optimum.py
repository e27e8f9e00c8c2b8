"""`optimum` of every collective, port model and number of items, beside brute force and flows.

Nothing that the search claims is refused by its own check; and where the check does say no, the
user gets his run all the same.
"""

import json
from functools import cache
from itertools import count, permutations, product

import networkx
import pytest
from networkx.algorithms.isomorphism import GraphMatcher
from serial.programs.bruteforce import SMALL, directed, fewest, fewest_to_combine, later
from shares import some

import mpinet
from mpinet.certify.certificate import certify
from mpinet.cli.session import CommandSession
from mpinet.measure.optimum import certified, items, pipelined, search
from mpinet.measure.optimum.pipelined import PipelinedSearch
from mpinet.networks.graph import from_networkx

COMBINING = ("reduce", "allreduce")
ROOTED = ("broadcast", "reduce", "scatter", "gather")
PIPELINED = ("broadcast", "reduce", "gossip", "allreduce")


@cache
def fewest_of(collective, graph, root, number, one_port):
    """Brute force over what nodes may hold."""
    nodes = range(len(graph))
    if collective in COMBINING:
        return fewest_to_combine(graph, number, one_port, root)
    if collective == "broadcast":
        return fewest(graph, [root] * number, one_port)
    if collective == "gossip":
        return fewest(graph, [node for node in nodes for _ in range(number)], one_port)
    if collective == "gather":
        everything = frozenset(nodes)
        return fewest(graph, nodes, one_port, lambda state: state[root] == everything)
    if collective == "scatter":
        sources = [root] * len(graph)
        return fewest(graph, sources, one_port, lambda state: all(v in state[v] for v in nodes))
    pairs = [pair for pair in permutations(nodes, 2) for _ in range(number)]
    wanted = [{i for i, (_, target) in enumerate(pairs) if target == node} for node in nodes]
    return fewest(
        graph,
        [source for source, _ in pairs],
        one_port,
        lambda state: all(state[node] >= wanted[node] for node in nodes),
    )


@cache
def alike(graph):
    """Of each node, the least one that it can be exchanged for: both take the same steps."""
    ways = [*GraphMatcher(graph, graph).isomorphisms_iter()]
    return {node: min(way[node] for way in ways) for node in graph}


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("collective", [*ROOTED, "gossip", "exchange", "allreduce"])
def test_every_optimum_of_small_graphs_has_the_true_one_between_its_sides(collective, ports):
    largest = 3 if collective in ("exchange", "gossip") else 4
    for graph in [graph for graph in SMALL if len(graph) <= largest]:
        for root, number in product(graph if collective in ROOTED else [0], (1, 2)):
            large = number > 1 and len(graph) > 3 and collective in COMBINING
            large |= number > 1 and len(graph) > 2 and collective == "exchange"
            if large or (number > 1 and collective not in (*PIPELINED, "exchange")):
                continue
            options = {"collective": collective, "root": root, "ports": ports}
            found = mpinet.optimum(from_networkx(graph), items=number, **options).value
            place = alike(graph)[root] if collective in ROOTED else None
            best = fewest_of(collective, graph, place, number, ports == "one")
            assert "refused" not in found and found["correct"]
            assert found["lower"] <= best <= found["upper"]
            assert best == found["lower"] or collective not in ("scatter", "gather")


GRAPHS = [g for g in networkx.graph_atlas_g() if 3 <= len(g) <= 5 and networkx.is_connected(g)]
NETWORKS = (
    "ring:8 mesh:3x3 torus:5x5 hypercube:4 debruijn:4 kautz:2,3 ccc:3 petersen shuffleexchange:3 "
    "lst:4 hexcell:2 gmnany:37 hdn:2x2,super=0 stargraph:4 chordalring:16,5 fattree:2,3 "
    "dragonfly:1,2,1 multistage:omega,2 butterfly:2 hhc:2 lens:2,3,3 clens:3,2 plens:3,9"
).split()


def test_no_bound_of_many_items_is_refused_by_its_own_check():
    cases = [(from_networkx(graph), root) for graph in GRAPHS for root in graph]
    cases += [(mpinet.open(name), root) for name in NETWORKS for root in (0, 3)]
    checked = 0
    for (topology, root), collective, ports in product(some(cases, 5), PIPELINED, ("one", "all")):
        place = root if collective in ROOTED else None
        if place is None and root:
            continue
        for number in (1, 2, 3, 5, 8):
            known = PipelinedSearch(topology, collective, place, ports, number)
            known.run(0, 0)
            assert known.selfcheck.refused == []
            assert known.certificate and known.lower == max(known.bounds.values())
            checked += 1
    assert checked > len(some(range(2000), 5))


@pytest.mark.parametrize("number", [2, 5])
def test_a_broadcast_on_all_ports_is_bounded_as_tightly_as_flows_over_time_say(number):
    for graph, root in [(graph, root) for graph in GRAPHS[::3] for root in (0, 2)]:
        arcs = directed(from_networkx(graph))

        def brought(node, steps, arcs=arcs, root=root):
            whole = later(arcs, steps)
            return networkx.maximum_flow_value(whole, (root, 0), (node, steps)) >= number

        others = set(graph) - {root}
        best = next(s for s in count(1) if all(brought(node, s) for node in others))
        known = PipelinedSearch(from_networkx(graph), "broadcast", root, "all", number)
        known.run(0, 0)
        assert known.lower == best


def refusing(function, monkeypatch, module, name):
    """Put a wrong answer in the place of what a search finds, where it finds something."""
    right = getattr(module, name)

    def wrong(*given):
        found = right(*given)
        return None if found is None else function(found)

    monkeypatch.setattr(module, name, wrong)


def without_cut(since):
    """A cut which nothing has to leave: everybody belongs to the set from the beginning."""
    return [0] * len(since)


def without_parts(cut):
    """A cut whose parts are the whole network."""
    cut.parts[:] = 0
    return cut


def without_time(cut):
    """A cut in time which the root belongs to."""
    cut.since[:] = [0] * len(cut.since)
    return cut


def with_no_lines(proof):
    """A proof that proves nothing."""
    return []


def with_one_more(found):
    """Multipliers of which one is too large."""
    found.of[max(found.of)] += 1
    return found


@pytest.mark.parametrize(
    ("line", "module", "name", "wrong", "by", "left"),
    [
        ("broadcast ring:5 --items 2 --ports all", pipelined, "cut_over_time", without_cut, "flow",
         ("distance", 2, 3)),
        ("gossip shuffleexchange:3", items, "best_cut", without_parts, "cut", ("ends", 7, 9)),
        ("scatter hypercube:3", items, "minimum_cut", without_time, "cut", ("ends", 7, 7)),
        ("scatter hypercube:3", items, "minimum_cut", lambda cut: None, "cut", ("ends", 7, 7)),
        ("broadcast lens:2,3,3", certified, "lrat_of", with_no_lines, "lrat", ("distance", 4, 5)),
        ("broadcast debruijn:3 --limit 0", search, "refutation", with_one_more, "class-lp",
         ("distance", 3, 4)),
        ("broadcast debruijn:3 --items 5 --limit 0", search, "refutation", with_one_more,
         "class-lp", ("distance", 7, 8)),
        ("bisection hexcell:3 --by lrat", certified, "lrat_of", with_no_lines, "lrat",
         (None, 0, 6)),
    ],
)  # fmt: skip
def test_a_refused_certificate_costs_nobody_his_run(
    line, module, name, wrong, by, left, tmp_path, monkeypatch, capsys
):
    refusing(wrong, monkeypatch, module, name)
    file = tmp_path / "left.cert"
    status = CommandSession(["optimum", *line.split(), "--json", "--save", f"{file}"]).run()
    said = capsys.readouterr()
    found = json.loads(said.out)["result"]
    (refused,) = found["refused"]
    assert status == 1
    assert (found["lower_by"], found["lower"], found["upper"]) == left
    assert refused["by"] == by and refused["lower"] >= found["lower"]
    assert f"Bound rejected by the checker: {refused['lower']} by {by}." in said.err
    assert refused["reason"] in said.err
    assert by not in found["bounds"] or found["bounds"][by] <= found["lower"]
    assert file.exists() == (left[0] == "distance")
    if file.exists():
        assert certify(file).claim.more_than == found["lower"] - 1
