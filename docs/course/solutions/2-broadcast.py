# %% exercise 2.1
def growth_bound(n):
    """Return the fewest steps in which n processors can be informed by doubling alone."""
    return (n - 1).bit_length()


# %% exercise 2.2
def petersen_schedule():
    """Return a broadcast from 0 on the Petersen graph, as a list of triples (step, sender, receiver)."""

    def extended(schedule, informed, step):
        if len(informed) == 10:
            return schedule
        if step > 4 or len(informed) * 2 ** (5 - step) < 10:
            return None
        pairs = [(u, v) for u in informed for v in petersen[u] if v not in informed]
        graph = nx.Graph()
        graph.add_edges_from((("from", u), ("to", v)) for u, v in pairs)
        for seed in range(20):
            weights = {edge: hash((seed, *edge)) % 97 + 100 for edge in graph.edges}
            nx.set_edge_attributes(graph, weights, "weight")
            matched = nx.max_weight_matching(graph, maxcardinality=True)
            now = [tuple(node for _, node in sorted(pair)) for pair in matched]
            found = extended(
                schedule + [(step, *pair) for pair in now], informed | {v for _, v in now}, step + 1
            )
            if found:
                return found
        return None

    return extended([], frozenset({0}), 1)


# %% exercise 2.3
def ring_schedule(n):
    """Return a broadcast from 0 on a ring of n processors, in as few steps as possible."""
    right = [(k, k - 1, k) for k in range(1, n // 2 + 1)]
    left = [(k + 1, (n - k + 1) % n, n - k) for k in range(1, (n - 1) // 2 + 1)]
    return right + left


# %% exercise 2.4
def write_schedule(schedule, file):
    """Write a broadcast as a CSV file: a line step,from,to,chunk, then a line per message. The only chunk is 0."""
    with open(file, "w") as out:
        print("step,from,to,chunk", file=out)
        for step, sender, receiver in schedule:
            print(step, sender, receiver, 0, sep=",", file=out)


# %% exercise 2.5
def simple_bound(graph, root=0):
    """Return the larger of the bounds by growth and by distance."""
    return max(
        growth_bound(len(graph)), max(nx.single_source_shortest_path_length(graph, root).values())
    )


# %% exercise 2.6
WHERE_IT_IS_NOT_THE_TRUTH = ["ring:9", "debruijn:3"]
