"""ASCEND and DESCEND on rows of the completed lens, for any radix R = p-1, run on the machine.

An element's index has n digits of radix R, lowest digit first. In dimension t the R elements whose
indices differ in digit t are combined by a nonlinear function. A wrong order of dimensions or
operands therefore gives wrong values.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.machine import Machine
from mpinet.papers.lens.symmetry import lens
from mpinet.papers.lens.words import digits, dots

PRIME = 10007


def combined(dimension: int, digit: Ints, operands: Ints) -> Ints:
    """Return the element with this digit, combined from operands of shape (k, R) in a dimension."""
    count = operands.shape[1]
    weights = 1 + dimension + (digit[:, np.newaxis] + 2) * np.arange(1, count + 1) ** 2
    total = (operands * weights).sum(axis=1) % PRIME
    # The function is nonlinear, because a linear function could hide a wrong order of dimensions.
    return (total * total + digit + 3 * dimension) % PRIME


def serially(values: Ints, R: int, dimensions: range) -> Ints:
    """Return the elements' values after all dimensions, one after another."""
    index = np.arange(len(values))
    for t in dimensions:
        digit = index // R**t % R
        first = index - digit * R**t
        values = combined(t, digit, values[first[:, np.newaxis] + np.arange(R) * R**t])
    return values


class RowSweep:
    """Sweep of elements through all rows, from their home row back to it.

    Parameters
    ----------
    topology : str
        A completed lens.
    ports : str
        ``"all"``: a processor accepts from all its busses in a step; ``"one"``: from one bus.
    instances : tuple of int
        Home rows, dots 1..n, each with R^n elements. Digit j of an index is at the position j + 1
        places right of the dot.
    """

    def __init__(self, topology: str, ports: str, instances: tuple[int, ...]):
        self.machine = Machine(topology, ports)
        self.network = lens(topology)
        self.n, self.R = self.network.level, self.network.radices[0]
        self.dot, self.digit = dots(topology), digits(topology)
        self.all_busses = ports == "all"
        self.instances = instances
        places = (self.dot[:, np.newaxis] + np.arange(self.n)) % self.n
        near = np.take_along_axis(self.digit, places, axis=1)
        self.index = near @ self.R ** np.arange(self.n)
        at_home = np.isin(self.dot, instances)
        self.values = np.where(at_home, (self.index * 37 + self.dot * 101 + 5) % PRIME, -1)
        self.began = self.values.copy()
        self.channels = self.network.channel(
            np.arange(len(self.dot))[:, np.newaxis], np.arange(self.network.ports)
        )

    def is_right(self, dimensions: range) -> bool:
        """Return whether all elements are back home with the values of the serial computation."""
        for home in self.instances:
            here = np.flatnonzero(self.dot == home)
            here = here[np.argsort(self.index[here])]
            wanted = serially(self.began[here], self.R, dimensions)
            if not np.array_equal(self.values[here], wanted):
                return False
        return True

    def bus(self, nodes: Ints, place: int | Ints) -> Ints:
        """Return a bus of each processor: place 0 is its own bus, place 1 + c the lower bus c."""
        listed = np.array([self.network.busses_of(int(node)) for node in nodes])
        return listed[np.arange(len(nodes)), place]

    def step(
        self, senders: Ints, busses: Ints, receivers: Ints, listened: Ints
    ) -> dict[tuple[int, int], int]:
        """Make one step; return the values accepted from busses, by (processor, bus)."""
        rows, ports = np.nonzero(self.channels[senders] == busses[:, np.newaxis])
        at, by = np.nonzero(self.channels[receivers] == listened[:, np.newaxis])
        inbox = self.machine.step(
            senders[rows], ports, self.values[senders[rows]], listen=(receivers[at], by)
        )
        channels = self.channels[inbox.nodes, inbox.ports]
        keys = zip(inbox.nodes.tolist(), channels.tolist(), strict=True)
        return dict(zip(keys, inbox.payload.tolist(), strict=True))

    def ascend(self) -> int:
        """Sweep to the right, dimension 0 first; return the number of steps."""
        rows = np.array(self.instances)
        for t in range(self.n):
            following = rows % self.n + 1
            self.cross(t, self.in_rows(rows), self.in_rows(following))
            rows = following
        return self.machine.steps

    def in_rows(self, rows: Ints) -> Ints:
        """Return the processors of some rows."""
        return np.flatnonzero(np.isin(self.dot, rows))

    def own_digit(self, nodes: Ints) -> Ints:
        """Return the digit left of the dot."""
        return self.digit[nodes, self.dot[nodes] - 1]

    def cross(self, t: int, senders: Ints, receivers: Ints) -> None:
        """Send on all own busses; the next row receives on R lower ones, at once or in turn."""
        own = self.own_digit(receivers)
        lower = np.stack([self.bus(receivers, 1 + c) for c in range(self.R)], axis=1)
        every = np.repeat(receivers, self.R), lower.ravel()
        turns = [every]
        if not self.all_busses:
            turn = np.arange(len(receivers))
            turns = [(receivers, lower[turn, (own + r) % self.R]) for r in range(self.R)]
        received: dict[tuple[int, int], int] = {}
        for nodes, busses in turns:
            received |= self.step(senders, self.bus(senders, 0), nodes, busses)
        keys = zip(*(part.tolist() for part in every), strict=True)
        operands = np.array([received[key] for key in keys]).reshape(-1, self.R)
        self.values[senders] = -1
        self.values[receivers] = combined(t, own, operands)

    def descend(self) -> int:
        """Sweep to the left, the last dimension first; return the number of steps."""
        rows = np.array(self.instances)
        for t in range(self.n - 1, -1, -1):
            here = self.in_rows(rows)
            rows = (rows - 2) % self.n + 1
            self.exchange(t, here)
            self.move_left(here, self.in_rows(rows))
        return self.machine.steps

    def exchange(self, t: int, nodes: Ints) -> None:
        """Send on the lower bus of the own digit; siblings receive from all busses or in turn."""
        own = self.own_digit(nodes)
        others = [(own + r) % self.R for r in range(1, self.R)]
        turns = [(nodes, self.bus(nodes, 1 + c)) for c in others]
        if self.all_busses:
            turns = [(np.tile(nodes, self.R - 1), np.concatenate([busses for _, busses in turns]))]
        received: dict[tuple[int, int], int] = {}
        for receivers, busses in turns:
            received |= self.step(nodes, self.bus(nodes, 1 + own), receivers, busses)
        operands = np.empty((len(nodes), self.R), np.int64)
        operands[np.arange(len(nodes)), own] = self.values[nodes]
        for c in others:
            keys = zip(nodes.tolist(), self.bus(nodes, 1 + c).tolist(), strict=True)
            operands[np.arange(len(nodes)), c] = [received[key] for key in keys]
        self.values[nodes] = combined(t, own, operands)

    def move_left(self, senders: Ints, receivers: Ints) -> None:
        """Send on the lower bus of the own digit; the bus's owner takes over the element."""
        busses = self.bus(senders, 1 + self.own_digit(senders))
        own = self.bus(receivers, 0)
        received = self.step(senders, busses, receivers, own)
        self.values[senders] = -1
        keys = zip(receivers.tolist(), own.tolist(), strict=True)
        self.values[receivers] = [received[key] for key in keys]
