"""A token on a ring: only the processor that holds the token may act."""


def token_ring(node, rounds=3):
    """Return the token's count of hops at each visit here; a round takes one step per processor.

    The token starts at processor 0 and is removed from the ring there.
    """
    onward, back = node.port_to((node.id + 1) % node.size), node.port_to((node.id - 1) % node.size)
    token, held = 0, []
    for turn in range(rounds):
        if turn > 0 or node.id > 0:
            token = yield node.receive(back)
        held.append(token)
        yield node.send(onward, token + 1)
    if node.id == 0:
        yield node.receive(back)
    return held
