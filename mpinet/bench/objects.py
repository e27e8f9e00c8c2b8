"""W1's workload in naive Python: an object per node, or a simpy process per link."""

from __future__ import annotations

from collections import deque
from typing import Any


class QueueNode:
    """Node of a hypercube with one queue per port."""

    def __init__(self, number: int, n: int):
        self.number = number
        self.queues: list[deque[int]] = [deque() for _ in range(n)]

    def accept(self, target: int) -> None:
        """Queue a message at its next port, unless the message has arrived."""
        if target != self.number:
            self.queues[lowest_difference(self.number, target)].append(target)


def lowest_difference(node: int, target: int) -> int:
    """Return the lowest bit in which two numbers differ."""
    difference = node ^ target
    return (difference & -difference).bit_length() - 1


def route_by_objects(n: int, targets: list[int]) -> int:
    """Route a message from every node of a hypercube; return the number of hops."""
    nodes = [QueueNode(number, n) for number in range(1 << n)]
    for node, target in zip(nodes, targets, strict=True):
        node.accept(target)
    hops = 0
    while True:
        # All moves are taken before any message is accepted; otherwise a message could hop twice in
        # a step.
        moves = [
            (node.number ^ (1 << port), queue.popleft())
            for node in nodes
            for port, queue in enumerate(node.queues)
            if queue
        ]
        if not moves:
            return hops
        for number, target in moves:
            nodes[number].accept(target)
        hops += len(moves)


def route_by_simpy(n: int, targets: list[int]) -> int:
    """Route a message from every node of a hypercube with simpy; return the number of hops."""
    import simpy

    world: Any = simpy.Environment()
    queues = [[simpy.Store(world) for _ in range(n)] for _ in targets]
    hops = 0

    def accept(node: int, target: int) -> None:
        if target != node:
            queues[node][lowest_difference(node, target)].put(target)

    def link(node: int, port: int) -> Any:
        nonlocal hops
        while True:
            target = yield queues[node][port].get()
            # A link is busy for one step after each message: the model allows one message per link
            # and step.
            yield world.timeout(1)
            hops += 1
            accept(node ^ (1 << port), target)

    for node in range(len(targets)):
        for port in range(n):
            world.process(link(node, port))
    for node, target in enumerate(targets):
        accept(node, target)
    world.run()
    return hops
