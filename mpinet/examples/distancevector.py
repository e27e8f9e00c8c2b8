"""Distance-vector routing (Bellman 1958, Ford 1956), all-port: tables sent to all neighbours."""


def distance_vector(node, rounds=None):
    """Return {target: (distance, first hop)} in a network whose links have lengths.

    The link between processors u and v has length 1 + (u + v) mod 3. In every round, a step each, a
    processor sends its distances to its neighbours and updates them by the received distances.

    Parameters
    ----------
    rounds : int, optional
        Number of rounds. Default: the number of processors less one, enough for any network.
    """
    table = {node.id: (0, node.id)}
    for _ in range(node.size - 1 if rounds is None else rounds):
        distances = {target: distance for target, (distance, _) in table.items()}
        received = yield node.exchange(node.ports, distances)
        for port, theirs in received.items():
            neighbor = node.neighbor(port)
            length = 1 + (node.id + neighbor) % 3
            for target, distance in theirs.items():
                if target not in table or length + distance < table[target][0]:
                    table[target] = length + distance, neighbor
    return table
