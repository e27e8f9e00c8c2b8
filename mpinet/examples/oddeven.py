"""Odd-even transposition sort (Habermann 1972) on networks that link processors i and i + 1."""


def odd_even_sort(node, keys=None):
    """Return the i-th smallest key at processor i, after one step for every processor.

    Parameters
    ----------
    keys : list, optional
        The key of every processor. Default: random numbers.
    """
    key = node.rng.integers(1000) if keys is None else keys[node.id]
    for turn in range(node.size):
        partner = node.id + (1 if (node.id + turn) % 2 == 0 else -1)
        if not 0 <= partner < node.size:
            yield node.idle()
            continue
        other = yield node.exchange(node.port_to(partner), key)
        key = min(key, other) if node.id < partner else max(key, other)
    return key
