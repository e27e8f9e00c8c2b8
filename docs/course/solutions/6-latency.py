# %% exercise 6.1
def zero_load(hops, flits):
    """Return the steps from the birth of a lone message to the arrival of its last flit."""
    return hops + flits - 1


# %% exercise 6.2
def channel_bound(name, n):
    """Return the largest rate that the busiest channel of a network of n processors allows, under uniform traffic."""
    uses = {}
    for source in range(n):
        for target in range(n):
            if source != target:
                nodes = way(name, source, target)
                for channel in zip(nodes, nodes[1:]):
                    uses[channel] = uses.get(channel, 0) + 1
    return min(1, n / max(uses.values()))


# %% exercise 6.3
def saturation(name):
    """Return two rates at most 0.02 apart: the network is not saturated at the lower one, and is at the upper one."""
    low, high = 0.0, 1.0
    while high - low > 0.02:
        middle = (low + high) / 2
        low, high = (low, middle) if saturated(name, middle) else (middle, high)
    return low, high


# %% exercise 6.4
def interval(values, t=2.776):
    """Return the mean of five values and the half width of its 95 % interval."""
    return statistics.fmean(values), t * statistics.stdev(values) / len(values) ** 0.5


# %% exercise 6.5
def cut_bound(rows, columns):
    """Return the bound of a mesh with an even number of columns under complement, by the cut between its left and right half."""
    return min(1, rows / (rows * columns / 2))
