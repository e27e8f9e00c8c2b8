"""All connected graphs of 3 to 6 nodes, and the fewest steps of a one-port broadcast on them."""

import networkx

ROOTED = [
    (graph, root)
    for graph in networkx.graph_atlas_g()
    if 3 <= len(graph) <= 6 and networkx.is_connected(graph)
    for root in graph
]
"""Every graph with every root: 807 cases."""


def fewest_steps(graph, root):
    """Brute force over sets of informed nodes, breadth first."""
    everybody, sets, steps = frozenset(graph), {frozenset([root])}, 0
    while everybody not in sets:
        steps += 1
        sets = {after for informed in sets for after in _largest(_told(graph, informed))}
    return steps


def _told(graph, informed):
    """Who may be informed after another step."""
    states = {informed}
    for sender in informed:
        targets = set(graph[sender]) - informed
        states |= {state | {target} for state in states for target in targets}
    return states


def _largest(states):
    """Those sets that are part of no other: to know more never takes longer."""
    return [state for state in states if not any(state < other for other in states)]
