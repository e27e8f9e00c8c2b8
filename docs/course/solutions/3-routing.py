# %% exercise 3.1
def next_node(node, target, columns):
    """Return the node after `node` on the way to `target`: first along the row, then along the column."""
    if node % columns != target % columns:
        return node + 1 if node % columns < target % columns else node - 1
    if node != target:
        return node + columns if node < target else node - columns
    return target


# %% exercise 3.2
def two_classes(s, t, n):
    """Return pairs (node, class) of a message's way, with classes 0 and 1, such that no dependencies form a cycle."""
    return [((s + i) % n, 0 if s + i < n else 1) for i in range((t - s) % n)]


# %% exercise 3.3
@rule
def my_candidates(node, in_port, in_class, header, candidates, params):
    """Fill candidates with the ports that a message may take, as all_that_lead_closer does, without a deadlock."""
    if node % params[0] > header[0] % params[0]:
        candidates[0, 0], candidates[0, 1] = WEST, 0
        return 1
    return all_that_lead_closer(node, in_port, in_class, header, candidates, params)
