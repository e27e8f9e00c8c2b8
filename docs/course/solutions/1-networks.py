# %% exercise 1.1
def torus_distance(u, v, rows, columns):
    """Return the distance of processors u and v of a torus, numbered row by row."""
    down, across = abs(u // columns - v // columns), abs(u % columns - v % columns)
    return min(down, rows - down) + min(across, columns - across)


# %% exercise 1.2
def moore_bound(degree, diameter):
    """Return the largest number of processors that the Moore bound allows."""
    return 1 + sum(degree * (degree - 1) ** k for k in range(diameter))


# %% exercise 1.3
def small_network():
    """Return the links of 16 processors 0..15 as pairs: degree at most 3, diameter at most 3."""
    for seed in range(100_000):
        graph = nx.random_regular_graph(3, 16, seed=seed)
        if nx.is_connected(graph) and nx.diameter(graph) <= 3:
            return list(graph.edges)
    return []


# %% exercise 1.4
class MoebiusLadder(Topology):
    """A ring of n processors, n even, with links to the opposite processors."""

    def __init__(self, n):
        super().__init__(f"{n}", size=n, ports=3)

    @rule
    def neighbor(node, port, params):
        """params[0] is the number of processors."""
        n = params[0]
        if port == 2:
            return (node + n // 2) % n
        return (node + 1) % n if port == 0 else (node + n - 1) % n


# %% exercise 1.5
def half_of_the_hypercube():
    """Return the 32 processors of one half of hypercube:6, with the fewest links to the other half."""
    return range(32)
