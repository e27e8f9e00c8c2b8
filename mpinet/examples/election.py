"""Leader election on a ring (Chang, Roberts 1979): the largest label goes all the way round."""


def election(node, labels=None):
    """Return the leader, which every processor knows after two rounds.

    Parameters
    ----------
    labels : list, optional
        The label of every processor. Processor numbers break ties between equal labels.
        Default: random numbers.
    """
    own = (node.rng.integers(1000) if labels is None else labels[node.id], node.id)
    onward, back = node.port_to((node.id + 1) % node.size), node.port_to((node.id - 1) % node.size)
    yield node.send(onward, ("candidate", own))
    while True:
        kind, label = yield node.receive(back)
        if kind == "leader":
            if label != own:
                yield node.send(onward, ("leader", label))
            return label[1]
        if label == own:
            yield node.send(onward, ("leader", own))
        elif label > own:
            yield node.send(onward, ("candidate", label))
