"""Lower bounds lie below the optima that a search finds on all small networks, and runs above."""

from functools import cache
from itertools import combinations, product

import networkx
import numpy as np
import pytest
from mpi.machine.ranks import machine_of

from mpinet.machine.model import PortModel
from mpinet.networks.graph import from_networkx
from mpinet.programs.bounds import gather_bound, scatter_bound
from mpinet.programs.broadcast import broadcast
from mpinet.programs.exchange import exchange
from mpinet.programs.gather import gather
from mpinet.programs.gossip import gossip
from mpinet.programs.scatter import scatter


@cache
def connected(most):
    """All connected graphs of 2..most nodes, no two alike."""
    atlas = networkx.graph_atlas_g()
    return [g for g in atlas if 2 <= len(g) <= most and networkx.is_connected(g)]


def called(graph, informed, one_port):
    """Who may know it after a step in which these tell others."""
    if not one_port:
        return {informed | {v for u in informed for v in graph[u]}}
    callers = sorted(u for u in informed if set(graph[u]) - informed)
    calls = [[None, *(set(graph[u]) - informed)] for u in callers]
    return {informed | (set(call) - {None}) for call in product(*calls)}


def fewest_to_inform(graph, root, one_port):
    """Search: steps of the fastest broadcast."""
    states, steps = {frozenset([root])}, 0
    while frozenset(graph) not in states:
        states = {new for state in states for new in called(graph, state, one_port)}
        steps += 1
    return steps


@pytest.mark.parametrize("ports", ["one", "all"])
def test_a_broadcast_s_bound_is_at_most_the_optimum_and_its_steps_at_least(ports):
    found = []
    for graph in connected(5):
        for root in graph:
            best = fewest_to_inform(graph, root, ports == "one")
            run = broadcast(machine_of(from_networkx(graph), ports), root)
            assert run.lower_bound <= best <= run.steps
            found.append(run.lower_bound == best)
    assert np.mean(found) > 0.9


def moved(graph, places, sends, receives):
    """Where the items may be after a step: each stays or goes over a link, one a direction."""

    def rest(item, used):
        if item == len(places):
            yield ()
            return
        u = places[item]
        for v in [u, *graph[u]]:
            if v == u:
                yield from ((u, *others) for others in rest(item + 1, used))
                continue
            sent = sum(a == u for a, _ in used)
            received = sum(b == v for _, b in used)
            if (u, v) in used or (sends and sent >= sends) or (receives and received >= receives):
                continue
            yield from ((v, *others) for others in rest(item + 1, used | {(u, v)}))

    return rest(0, frozenset())


def fewest_to_move(graph, items, sends=None, receives=None):
    """Search: steps until items (source, target) that need no copies are where they belong."""
    goal = tuple(target for _, target in items)
    states = {tuple(source for source, _ in items)}
    known, steps = set(states), 0
    while goal not in states:
        states = {new for at in states for new in moved(graph, at, sends, receives)} - known
        known |= states
        steps += 1
    return steps


MODELS = [(1, 1), (1, None), (None, 1), (None, None)]
"""Most messages that a processor sends and receives in a step."""


@pytest.mark.parametrize(("sends", "receives"), MODELS)
def test_the_bounds_of_scatter_and_gather_are_at_most_the_optima(sends, receives):
    model = PortModel(sends, receives)
    for graph in connected(4):
        for root in graph:
            others = sorted(set(graph) - {root})
            machine = machine_of(from_networkx(graph), model)
            out = fewest_to_move(graph, [(root, v) for v in others], sends, receives)
            back = fewest_to_move(graph, [(v, root) for v in others], sends, receives)
            assert scatter_bound(machine, root) <= out <= scatter(machine, root).steps
            assert gather_bound(machine, root) <= back <= gather(machine, root).steps
            assert scatter(machine, root, "flow").steps == out
            assert gather(machine, root, "flow").steps == back
            assert scatter_bound(machine, root) == out or sends is None
            assert gather_bound(machine, root) == back or receives is None


def test_a_gather_is_bound_by_what_the_root_may_receive_and_a_scatter_by_what_it_may_send():
    star = from_networkx(networkx.star_graph(6))
    narrow_in, narrow_out = (machine_of(star, PortModel(*m)) for m in ((None, 1), (1, None)))
    assert (gather_bound(narrow_in, 0), scatter_bound(narrow_in, 0)) == (6, 1)
    assert (gather_bound(narrow_out, 0), scatter_bound(narrow_out, 0)) == (1, 6)


@pytest.mark.parametrize(("sends", "receives"), MODELS)
def test_the_bound_of_total_exchange_is_at_most_the_optimum(sends, receives):
    for graph in connected(3):
        pairs = [(u, v) for u in graph for v in graph if u != v]
        best = fewest_to_move(graph, pairs, sends, receives)
        machine = machine_of(from_networkx(graph), PortModel(sends, receives))
        algorithms = [None, "farthest"] if sends == receives else [None]
        for run in [exchange(machine, algorithm=name) for name in algorithms]:
            assert run.correct
            assert run.lower_bound <= best <= run.steps


def learned(graph, known, one_port):
    """What nodes may know after a step of gossip: of each item a copy goes over each link."""
    ways = []
    for u in graph:
        over = [[None, *((u, v, i) for i in known[u] - known[v])] for v in sorted(graph[u])]
        choices = [tuple(s for s in c if s) for c in product(*over)]
        ways.append([c for c in choices if not one_port or len(c) <= 1])
    for sends in product(*ways):
        each = [send for some in sends for send in some]
        if one_port and any(a[1] == b[1] for a, b in combinations(each, 2)):
            continue
        after = [set(items) for items in known]
        for _, v, item in each:
            after[v].add(item)
        yield tuple(map(frozenset, after))


@pytest.mark.parametrize("ports", ["one", "all"])
def test_the_bound_of_gossip_is_at_most_the_optimum(ports):
    for graph in connected(3):
        everything = (frozenset(graph),) * len(graph)
        states, steps = {tuple(frozenset([u]) for u in graph)}, 0
        while everything not in states:
            states = {new for state in states for new in learned(graph, state, ports == "one")}
            steps += 1
        machine = machine_of(from_networkx(graph), ports)
        for run in [gossip(machine), gossip(machine, "matching" if ports == "one" else "rarest")]:
            assert run.correct
            assert run.lower_bound <= steps <= run.steps
