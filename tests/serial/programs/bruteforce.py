"""The fewest steps of collectives on small graphs, by trying all; networks as digraphs."""

from itertools import combinations, product

import networkx

SMALL = [g for g in networkx.graph_atlas_g() if 2 <= len(g) <= 4 and networkx.is_connected(g)]


def directed(topology):
    """The network with the number of its links as capacities, asked port by port."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(topology.size))
    for node, port in product(range(topology.size), range(topology.ports)):
        other = int(topology.neighbor(node, port))
        if other >= 0 and other != node:
            before = graph.get_edge_data(node, other, {"capacity": 0})["capacity"]
            graph.add_edge(node, other, capacity=before + 1)
    return graph


def later(graph, steps):
    """The graph in time: who has an item keeps it, and every arc carries its capacity a step."""
    whole = networkx.DiGraph()
    for step in range(steps):
        for node in graph:
            whole.add_edge((node, step), (node, step + 1))
        for one, other, capacity in graph.edges(data="capacity"):
            whole.add_edge((one, step), (other, step + 1), capacity=capacity)
    return whole


def carried(useful, capacity, one_port):
    """What an arc may carry in a step: with all ports as much as it can, as more never harms."""
    if one_port:
        return [(), *((item,) for item in useful)]
    return [*combinations(sorted(useful), min(capacity, len(useful)))]


def sent(graph, states, items, one_port):
    """What nodes may have after a step, from each of these: one set of items a node."""
    after = set()
    for state in states:
        arcs = [(u, v) for u in graph for v in graph[u] if state[u] - state[v]]
        choices = [
            carried(state[u] - state[v], graph.edges[u, v].get("capacity", 1), one_port)
            for u, v in arcs
        ]
        for chosen in product(*choices):
            used = [
                (u, v, item) for (u, v), taken in zip(arcs, chosen, strict=True) for item in taken
            ]
            if one_port and any(len({m[end] for m in used}) < len(used) for end in (0, 1)):
                continue
            held = list(state)
            for _, v, item in used:
                held[v] = held[v] | {item}
            after.add(tuple(held))
    return {
        one
        for one in after
        if not any(
            one != two and all(a <= b for a, b in zip(one, two, strict=True)) for two in after
        )
    }


def fewest(graph, sources, one_port, done=None):
    """Brute force: steps until everybody has every item, or `done` says so of who holds what."""
    everything = frozenset(range(len(sources)))
    done = done or (lambda held_by: all(held == everything for held in held_by))
    states = {tuple(frozenset(i for i in everything if sources[i] == u) for u in graph)}
    steps = 0
    while not any(map(done, states)):
        states, steps = sent(graph, states, everything, one_port), steps + 1
    return steps


def told(arcs, states, one_port):
    """What is known after a step: of each node and item, whose contributions are in its sum."""
    after = set()
    for state in states:
        items = range(len(state[0]))
        able = [[i for i in items if state[u][i] & ~state[v][i]] for u, v in arcs]
        for chosen in product(*([None, *each] for each in able)):
            used = [(u, v, i) for (u, v), i in zip(arcs, chosen, strict=True) if i is not None]
            if one_port and any(len({m[end] for m in used}) < len(used) for end in (0, 1)):
                continue
            held = [list(sums) for sums in state]
            for u, v, item in used:
                held[v][item] |= state[u][item]
            after.add(tuple(map(tuple, held)))

    def less(one, two):
        pairs = zip(sum(one, ()), sum(two, ()), strict=True)
        return all(a & b == a for a, b in pairs)

    return {one for one in after if not any(one != two and less(one, two) for two in after)}


def fewest_to_combine(graph, items, one_port, root=None):
    """Brute force: steps until everybody, or the root, has the sum of everybody's items."""
    arcs = [(u, v) for u in graph for v in graph[u]]
    states, steps = {tuple((1 << u,) * items for u in graph)}, 0
    full, hearers = (2 ** len(graph) - 1,) * items, graph if root is None else [root]
    while not any(all(state[node] == full for node in hearers) for state in states):
        states, steps = told(arcs, states, one_port), steps + 1
    return steps
