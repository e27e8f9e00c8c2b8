"""Pipelines: ways, trees, rates and bounds against networkx and brute force over small graphs."""

from fractions import Fraction
from itertools import combinations, product

import networkx
import numpy as np
import pytest
from serial.programs.bruteforce import SMALL, directed, fewest, fewest_to_combine, later

import mpinet
from mpinet import Machine
from mpinet.errors import TooLarge, UsageError
from mpinet.machine.model import PortModel
from mpinet.networks.graph import from_networkx
from mpinet.programs.pipelines import bounds
from mpinet.programs.pipelines.arcs import Arcs
from mpinet.programs.pipelines.collectives import move_items
from mpinet.programs.pipelines.rates import fewest_steps, gossip_rate, ways_to_all
from mpinet.programs.pipelines.spreading import require_spread, spread
from mpinet.programs.pipelines.trees import depths, disjoint_trees, tree_rows

NETWORKS = ["ring:7", "mesh:3x4", "hypercube:4", "debruijn:4", "petersen", "fattree:2,3"]


def topologies():
    """Networks of families and of chance: with parallel links, loops, switches, cut vertices."""
    random = [networkx.gnm_random_graph(8, 12, seed) for seed in range(8)]
    return [mpinet.open(name) for name in NETWORKS] + [
        from_networkx(graph) for graph in random if networkx.is_connected(graph)
    ]


@pytest.mark.parametrize("topology", topologies(), ids=lambda topology: topology.name[:20])
def test_ways_trees_and_rates_are_those_of_networkx(topology):
    graph, arcs, root = directed(topology), Arcs.of(topology), 1
    others = [node for node in graph if node != root]
    flows = {node: networkx.maximum_flow_value(graph, root, node) for node in others}
    ways = ways_to_all(arcs, root)
    assert {node: ways[node] for node in others} == flows
    number = min(flows.values())
    trees = disjoint_trees(arcs, root, number)
    used = [arc for tree in trees for arc in tree[others].tolist()]
    assert len(trees) == number and len(set(used)) == len(used) == number * len(others)
    for tree in trees:
        ends = ((int(arcs.ends.tail[a]), int(arcs.ends.head[a])) for a in tree[others])
        own = networkx.DiGraph(ends)
        assert networkx.is_arborescence(own) and set(own) == set(graph)
        away = networkx.single_source_shortest_path_length(own, root)
        assert depths(arcs, root, tree).tolist() == [away[node] for node in graph]
    rate = bounds.broadcast_rate(Machine(topology, "all"), arcs, root)
    assert rate == min(flows[node] for node in others if node < topology.hosts)


@pytest.mark.costly
@pytest.mark.parametrize("items", [1, 2, 5])
@pytest.mark.parametrize("topology", topologies()[1::2], ids=lambda topology: topology.name[:20])
def test_no_flow_over_time_is_faster_than_the_bound_and_one_is_as_fast(topology, items):
    graph = directed(topology)
    steps = fewest_steps(Arcs.of(topology), 0, items)

    def brought(node, within):
        whole = later(graph, within)
        return networkx.maximum_flow_value(whole, (0, 0), (node, within)) >= items

    others = range(1, topology.hosts)
    assert all(brought(node, steps) for node in others)
    assert not all(brought(node, steps - 1) for node in others)


@pytest.mark.parametrize("topology", topologies()[::2], ids=lambda topology: topology.name[:20])
def test_the_rate_of_a_gossip_is_that_of_the_tightest_of_all_cuts(topology):
    if topology.size > 12:
        topology = mpinet.open("fattree:2,2")
    graph, hosts, tightest = directed(topology), topology.hosts, Fraction(0)
    for number in range(1, topology.size):
        for inside in map(set, combinations(range(topology.size), number)):
            if inside >= set(range(hosts)):
                continue
            out = sum(
                c for u, v, c in graph.edges(data="capacity") if u in inside and v not in inside
            )
            held = sum(node < hosts for node in inside)
            tightest = max(tightest, Fraction(held, out)) if held else tightest
    rate, inside = gossip_rate(Arcs.of(topology))
    out = sum(c for u, v, c in graph.edges(data="capacity") if inside[u] and not inside[v])
    assert rate == tightest == Fraction(int(inside[:hosts].sum()), out)


def test_an_inner_cut_binds_where_two_halves_hang_together_by_one_link():
    barbell = from_networkx(networkx.barbell_graph(5, 0))
    assert gossip_rate(Arcs.of(barbell))[0] == 5
    assert max(Fraction(9, degree) for degree in (4, 5)) < 5


@pytest.mark.parametrize("topology", topologies()[::3], ids=lambda topology: topology.name[:20])
def test_nodes_cut_off_pieces_as_networkx_says(topology):
    graph = networkx.Graph(directed(topology))
    found = bounds.Pieces.of(topology, 2)
    pieces, away = found.number, found.away
    assert away.tolist() == [networkx.shortest_path_length(graph, 2, node) for node in graph]
    for node in graph:
        left = graph.copy()
        left.remove_node(node)
        without = [
            part
            for part in networkx.connected_components(left)
            if 2 not in part and min(part) < topology.hosts
        ]
        assert pieces[node] == len(without)


@pytest.mark.parametrize("ports", ["one", "all"])
def test_broadcasts_of_few_items_lie_between_bound_and_optimum_of_all_small_graphs(ports):
    found = []
    for graph in SMALL:
        for root, items in product(graph, (2, 3)):
            best = fewest(graph, [root] * items, ports == "one")
            run = move_items(Machine(from_networkx(graph), ports), "broadcast", items, root)
            assert run.correct and run.lower_bound <= best <= run.steps
            back = move_items(Machine(from_networkx(graph), ports), "reduce", items, root)
            assert back.correct and back.steps == run.steps
            found.append((run.lower_bound == best, run.steps == best))
    tight, shortest = np.mean(found, axis=0)
    assert tight > 0.9 and shortest > 0.9


@pytest.mark.parametrize("ports", ["one", "all"])
def test_gossips_of_two_items_each_lie_between_bound_and_optimum_of_all_small_graphs(ports):
    for graph in [graph for graph in SMALL if len(graph) <= 3]:
        sources = [node for node in graph for _ in range(2)]
        best = fewest(graph, sources, ports == "one")
        run = move_items(Machine(from_networkx(graph), ports), "gossip", 2)
        assert run.correct and run.lower_bound <= best <= run.steps


def fewest_calls(nodes):
    """Brute force: one-way messages until everybody knows what all had."""
    states, calls = {tuple(1 << node for node in range(nodes))}, 0
    while (2**nodes - 1,) * nodes not in states:
        states = {
            (*state[:v], state[u] | state[v], *state[v + 1 :])
            for state in states
            for u, v in product(range(nodes), repeat=2)
        }
        calls += 1
    return calls


def test_an_item_of_an_allreduce_takes_two_messages_a_processor_but_one():
    assert [fewest_calls(nodes) for nodes in (2, 3, 4)] == [2, 4, 6]


@pytest.mark.parametrize(
    ("name", "ports", "items", "steps"),
    [
        ("hypercube:4", "one", 16, 19),  # M + log N - 1: nothing is faster
        ("hypercube:6", "one", 100, 105),
        ("ring:8", "one", 10, 13),
        ("hypercube:4", "all", 100, 28),  # M / log N, and three more until the last is there
        ("petersen", "all", 16, 8),
    ],
)
def test_broadcasts_that_meet_their_bounds(name, ports, items, steps):
    found = move_items(Machine(name, ports), "broadcast", items, 0)
    assert (found.steps, found.lower_bound, found.correct) == (steps, steps, True)


@pytest.mark.parametrize("ports", ["one", "all"])
def test_along_a_path_one_item_follows_the_other(ports):
    found = move_items(Machine(from_networkx(networkx.path_graph(9)), ports), "broadcast", 10, 0)
    assert found.steps == found.lower_bound == 10 + 9 - 2


def test_the_hub_of_a_star_sends_every_item_to_everybody():
    star = from_networkx(networkx.star_graph(6))
    from_hub, from_leaf = (
        move_items(Machine(star, "one"), "broadcast", 5, root) for root in (0, 1)
    )
    assert (from_hub.steps, from_hub.lower_bound, from_hub.lower_by) == (30, 30, "cut")
    assert (from_leaf.lower_bound, from_leaf.rate) == (26, Fraction(1, 5))
    assert from_leaf.steps == 26


def test_trees_take_their_depth_and_a_step_for_each_item_that_follows():
    topology = mpinet.open("torus:4x4")
    arcs = Arcs.of(topology)
    trees = disjoint_trees(arcs, 0, 4)
    deepest = sorted(int(depths(arcs, 0, tree).max()) for tree in trees)
    for items in (1, 4, 30):
        rows, ports = tree_rows(arcs, 0, trees, items)
        loads = [sum(max(0, t - d + 1) for d in deepest) for t in range(99)]
        assert rows[:, 0].max() == next(t for t, load in enumerate(loads) if load >= items)
        assert np.array_equal(topology.neighbor(rows[:, 1], ports), rows[:, 2])
        assert len({tuple(row) for row in rows[:, [2, 3]].tolist()}) == 15 * items == len(rows)


@pytest.mark.parametrize("ports", ["one", "all"])
def test_allreduces_lie_between_bound_and_optimum_of_all_small_graphs(ports):
    found = []
    for graph in SMALL:
        for items in (1, 2) if len(graph) < 4 else (1,):
            best = fewest_to_combine(graph, items, ports == "one")
            run = move_items(Machine(from_networkx(graph), ports), "allreduce", items)
            assert run.correct and run.lower_bound <= best <= run.steps
            found.append(run.lower_bound == best)
    assert np.mean(found) > 0.7


def test_the_hub_of_a_star_hears_all_but_one_before_it_has_anything_to_tell():
    for leaves, items in ((3, 1), (3, 2), (5, 1), (5, 4)):
        star = from_networkx(networkx.star_graph(leaves))
        found = move_items(Machine(star, "one"), "allreduce", items)
        assert (found.lower_bound, found.lower_by) == (leaves - 1 + leaves * items, "cut")
    assert fewest_to_combine(networkx.star_graph(3), 1, True) == 5


def test_what_comes_last_into_a_deep_piece_has_all_of_it_to_go():
    """A hub with two paths of 4 and a leaf: two pieces get every item, each 3 hops late."""
    spider = networkx.Graph([(0, 1), (1, 2), (2, 3), (3, 4), (0, 5), (0, 9)])
    spider.add_edges_from([(5, 6), (6, 7), (7, 8)])
    found = move_items(Machine(from_networkx(spider), "one"), "broadcast", 6, 0)
    assert (found.lower_bound, found.lower_by) == (max(3 * 6, 2 * 6 + 4 - 1), "cut")
    assert (
        move_items(Machine(from_networkx(spider), "one"), "broadcast", 2, 0).lower_bound
        == 2 * 2 + 3
    )


def test_an_allreduce_on_a_ring_takes_twice_the_others_shares():
    for size, rounds in ((5, 2), (8, 1)):
        found = move_items(
            Machine(f"ring:{size}", "one"), "allreduce", size * rounds, operator="sum"
        )
        assert found.steps == found.lower_bound == 2 * (size - 1) * rounds


@pytest.mark.parametrize(
    ("name", "model", "items", "algorithm", "said"),
    [
        ("lens:2,2,2", (1, 1), 2, "trees", "has no pipeline 'trees' on one port; it has: match"),
        ("ring:6", (1, 1, True), 2, None, "need full-duplex links"),
        ("ring:6", (1, None), 2, None, "one port or all"),
        ("ring:6", (1, 1), 0, None, "1 to 1,048,576 items, not 0"),
        ("ring:6", (1, 1), 2**21, None, "1 to 1,048,576 items, not 2097152"),
        ("ring:6", (1, 1), 2, "trees", "has no pipeline 'trees' on one port; it has: cycle, match"),
        ("mesh:3x3", (None, None), 2, "cycle", "on all ports; it has: rarest, trees"),
        ("torus:5000x5000", (1, 1), 3, None, "75,000,000 pairs; at most 16,777,216 are held"),
    ],
)
def test_what_no_pipeline_can_do_is_refused(name, model, items, algorithm, said):
    with pytest.raises((UsageError, TooLarge)) as error:
        require_spread(mpinet.open(name), PortModel(*model), items, True, algorithm)
    assert said in str(error.value)


def over_busses(topology):
    """A bus network with both sides of its busses, asked port by port."""
    graph = networkx.DiGraph()
    for node, port in product(range(topology.size), range(topology.ports)):
        other = int(topology.neighbor(node, port))
        if other >= 0:
            bus = int(topology.channel(node, port))
            graph.add_edge(node, ("on", bus))
            graph.add_edge(("on", bus), ("off", bus), capacity=1)
            graph.add_edge(("off", bus), node)
    return graph


@pytest.mark.parametrize("name", ["lens:2,3,3", "clens:3,2", "plens:3,9", "busstar:3,2"])
def test_ways_over_busses_are_those_of_networkx(name):
    topology = mpinet.open(name)
    graph, arcs = over_busses(topology), Arcs.of(topology)
    others = range(1, topology.size)
    ways = ways_to_all(arcs, 0)
    assert [ways[v] for v in others] == [networkx.maximum_flow_value(graph, 0, v) for v in others]
    whole = {steps: networkx.DiGraph() for steps in range(1, 16)}
    for steps, later_graph in whole.items():
        for step in range(steps):
            for node in range(topology.size):
                later_graph.add_edge((node, step), (node, step + 1))
            for one, other, capacity in graph.edges(data="capacity"):
                moves = isinstance(other, int)
                after = (other, step + 1) if moves else (other, step)
                extra = {} if capacity is None else {"capacity": capacity}
                later_graph.add_edge((one, step), after, **extra)
    steps = fewest_steps(arcs, 0, 5)
    for within, enough in ((steps, True), (steps - 1, False)):
        brought = [
            networkx.maximum_flow_value(whole[within], (0, 0), (v, within)) >= 5 for v in others
        ]
        assert all(brought) == enough


@pytest.mark.parametrize("name", ["lens:2,3,2", "clens:3,2", "plens:3,5", "snowflake:2,2"])
def test_the_rate_of_a_gossip_over_busses_is_that_of_the_tightest_of_all_cuts(name):
    topology, tightest = mpinet.open(name), Fraction(0)
    size, ports = topology.size, range(topology.ports)
    ends = {(u, int(topology.neighbor(u, p)), int(topology.channel(u, p)))
            for u in range(size) for p in ports if topology.neighbor(u, p) >= 0}  # fmt: skip
    for number in range(1, size):
        for inside in map(set, combinations(range(size), number)):
            crossed = {bus for u, v, bus in ends if u in inside and v not in inside}
            tightest = max(tightest, Fraction(number, len(crossed)))
    assert gossip_rate(Arcs.of(topology))[0] == tightest


def loud(busses, states, one_port):
    """What is known after a step in which each bus carries one sum of one member, or nothing."""
    after = set()
    for state in states:
        each = [[None, *((u, i) for u in bus for i in range(len(state[u])))] for bus in busses]
        for chosen in product(*each):
            senders = [send[0] for send in chosen if send]
            if one_port and len(set(senders)) < len(senders):
                continue
            hears = [
                [s for s, bus in zip(chosen, busses, strict=True) if s and v in bus and s[0] != v]
                for v in range(len(state))
            ]
            takes = [[(h,) for h in heard] or [()] if one_port else [heard] for heard in hears]
            for taken in product(*takes):
                held = [list(sums) for sums in state]
                for v, came in enumerate(taken):
                    for u, item in came:
                        held[v][item] |= state[u][item]
                after.add(tuple(map(tuple, held)))
    return after


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("name", ["lens:2,3,2", "plens:3,3", "lens:2,2,3"])
def test_collectives_over_busses_lie_between_bound_and_optimum(name, ports):
    topology, one_port = mpinet.open(name), ports == "one"
    machine, size, items = Machine(topology, ports), topology.size, 2
    over = {}
    for node, port in product(range(size), range(topology.ports)):
        if topology.neighbor(node, port) >= 0:
            over.setdefault(int(topology.channel(node, port)), set()).add(node)
    busses, full = list(over.values()), 2**size - 1
    ends = {
        "broadcast": [(1,) * items, *[(0,) * items] * (size - 1)],
        "reduce": [(1 << u,) * items for u in range(size)],
        "allreduce": [(1 << u,) * items for u in range(size)],
    }
    done = {
        "broadcast": lambda state: all(sums == (1,) * items for sums in state),
        "reduce": lambda state: state[0] == (full,) * items,
        "allreduce": lambda state: state == ((full,) * items,) * size,
    }
    runs = {
        "broadcast": move_items(machine, "broadcast", items, 0),
        "reduce": move_items(machine, "reduce", items, 0, operator="sum"),
        "allreduce": move_items(machine, "allreduce", items, operator="sum"),
    }
    for collective, run in runs.items():
        states, steps = {tuple(ends[collective])}, 0
        while not any(map(done[collective], states)):
            states, steps = loud(busses, states, one_port), steps + 1
        assert run.correct and run.lower_bound <= steps <= run.steps
    gossip = move_items(machine, "gossip", items)
    assert gossip.correct and gossip.lower_bound <= gossip.steps


def test_a_search_that_would_take_too_long_is_refused():
    topology = mpinet.open("mesh:101x101")
    with pytest.raises(TooLarge, match=r"too long to find: give fewer items or a smaller network"):
        spread(topology, Arcs.of(topology), PortModel(1, 1), np.zeros(900, np.int64), 1100)
