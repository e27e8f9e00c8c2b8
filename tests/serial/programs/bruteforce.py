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


def moves(able, one_port, used=()):
    """Yield what arcs may carry at once, as (from, to, item): each one of its choices."""
    if not able:
        yield used
        return
    (u, v, choices), *others = able
    busy = one_port and any(u == sender or v == receiver for sender, receiver, _ in used)
    for items in choices:
        if not (items and busy):
            yield from moves(others, one_port, (*used, *((u, v, item) for item in items)))


def sent(graph, states, items, one_port):
    """What nodes may have after a step, from each of these: one set of items a node."""
    after = set()
    for state in states:
        able = [
            (u, v, carried(state[u] - state[v], graph.edges[u, v].get("capacity", 1), one_port))
            for u in graph
            for v in graph[u]
            if state[u] - state[v]
        ]
        for used in moves(able, one_port):
            held = list(state)
            for _, v, item in used:
                held[v] = held[v] | {item}
            after.add(tuple(held))
    each = len(items)
    return most(
        {
            sum(1 << (each * node + i) for node, held in enumerate(state) for i in held): state
            for state in after
        }
    )


def most(states):
    """Those states of which no other has more, by the number whose bits are what a state has."""
    kept = []
    for bits in sorted(states, key=int.bit_count, reverse=True):
        if not any(bits & more == bits for more in kept):
            kept.append(bits)
    return {states[bits] for bits in kept}


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
        useful = [[i for i in items if state[u][i] & ~state[v][i]] for u, v in arcs]
        able = [
            (u, v, [(), *((i,) for i in each)]) for (u, v), each in zip(arcs, useful, strict=True)
        ]
        for used in moves(able, one_port):
            held = [list(sums) for sums in state]
            for u, v, item in used:
                held[v][item] |= state[u][item]
            after.add(tuple(map(tuple, held)))

    sums = {
        state: "".join(f"{some:0{len(state)}b}" for row in state for some in row) for state in after
    }
    return most({int(bits, 2): state for state, bits in sums.items()})


def fewest_to_combine(graph, items, one_port, root=None):
    """Brute force: steps until everybody, or the root, has the sum of everybody's items."""
    arcs = [(u, v) for u in graph for v in graph[u]]
    states, steps = {tuple((1 << u,) * items for u in graph)}, 0
    full, hearers = (2 ** len(graph) - 1,) * items, graph if root is None else [root]
    while not any(all(state[node] == full for node in hearers) for state in states):
        states, steps = told(arcs, states, one_port), steps + 1
    return steps
