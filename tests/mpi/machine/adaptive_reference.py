"""A second program for adaptive routing under open-loop traffic: plain Python, no arrays, no ranks.

Written from docs/reference/traffic.md: networks of links that `bustraffic` runs. The grids here are
meshes, tori and hypercubes with minimal adaptive routing and an escape, or by dimension order;
`queue_reference` has the routings that look at queues.
"""

from itertools import product
from math import prod

from mpi.machine.bustraffic import Limited

MASK = 0xFFFFFFFF


def mix(word):
    word ^= word >> 16
    word = word * 0x7FEB352D & MASK
    word ^= word >> 15
    word = word * 0x846CA68B & MASK
    return word ^ word >> 16


def draw(seed, first, second, stream):
    word = mix((seed & MASK) ^ (stream * 0x1E35A7BD + 0x2545F491) & MASK)
    word = mix(word ^ (seed >> 32) & MASK)
    for counter in (first, second):
        word = mix((word + counter) & MASK)
        word = mix(word ^ (counter >> 32) & MASK)
    return word


class Grid:
    """A mesh or torus by coordinates, a hypercube as one of sides of two."""

    bubble = False

    def __init__(self, name):
        family, _, sides = name.partition(":")
        self.cube, self.round = family == "hypercube", family == "torus"
        self.sides = [2] * int(sides) if self.cube else [int(side) for side in sides.split("x")]
        self.size = prod(self.sides)
        self.classes, self.escape = (3, 2) if self.round else (2, 1)
        self.places = [p[::-1] if self.cube else p for p in product(*map(range, self.sides))]
        self.number = {place: node for node, place in enumerate(self.places)}
        self.ports = []  # (dimension, direction)
        for j, side in enumerate(self.sides):
            one_link = self.cube or (self.round and side == 2)
            self.ports += [(j, 1)] if one_link else [(j, 1), (j, -1)]

    def best(self, able):
        """Of (port, class, room) the most room in the highest class."""
        return max(able, key=lambda way: (way[1], way[2]))

    def behind(self, node, port):
        j, direction = self.ports[port]
        place = list(self.places[node])
        place[j] += direction
        if self.round or self.cube:
            place[j] %= self.sides[j]
        return self.number.get(tuple(place))

    def back(self, node, port):
        j, direction = self.ports[port]
        return self.ports.index((j, -direction)) if (j, -direction) in self.ports else port

    def goes_on(self, came_by, port, group):
        """A message that came along the same ring, in the same class, or takes no ring's bubble."""
        j, direction = self.ports[port]
        along = (self.ports[came_by[0]], came_by[1]) == ((j, -direction), group)
        return group >= self.escape or (came_by[0] >= 0 and along)

    def ways(self, node, lane, message, queue):
        """Candidates (port, class), the escape last; its classes are the lowest."""
        here, there = self.places[node], self.places[message["target"]]
        found, escape = [], None
        for j, side in enumerate(self.sides):
            if here[j] == there[j]:
                continue
            ahead = (there[j] - here[j]) % side
            for port, (dimension, direction) in enumerate(self.ports):
                if dimension != j:
                    continue
                way = ahead if direction > 0 else side - ahead
                if not self.round and not self.cube:
                    way = 0 if (there[j] > here[j]) == (direction > 0) else side
                if 2 * way > side:
                    continue
                found.append((port, self.escape))
                if escape is None:
                    wraps = there[j] < here[j] if direction > 0 else there[j] > here[j]
                    escape = (port, int(wraps and self.round and not self.bubble))
        return [*found, escape]


class Straight(Grid):
    """The same grids by dimension order alone: the escape, or one class with bubbles."""

    asked_once = True

    def __init__(self, name, bubble=False):
        super().__init__(name)
        self.bubble = bubble
        self.classes = self.escape = 1 if bubble else self.escape

    def ways(self, node, lane, message, queue):
        port, group = super().ways(node, lane, message, queue)[-1]
        return [(port, group)]


class Bubbles(Grid):
    """A torus whose escape is one class with bubbles."""

    bubble = True

    def __init__(self, name):
        super().__init__(name)
        self.classes, self.escape = 2, 1


class Links:
    """A network of links as `bustraffic` asks for it."""

    shares = False

    def __init__(self, grid):
        self.grid, self.size, self.classes, self.escape = (
            grid, grid.size, grid.classes, grid.escape,
        )  # fmt: skip
        self.ports = len(grid.ports)
        self.ways, self.best, self.goes_on = grid.ways, grid.best, getattr(grid, "goes_on", None)
        self.asked_once = getattr(grid, "asked_once", False)

    def behind(self, node, port):
        there = self.grid.behind(node, port)
        return None if there is None else (there, self.grid.back(node, port))

    def bus(self, node, port):
        return node, port

    def link_class(self, node, port):
        return self.grid.ports[port][0]


def play_all(grid, rows, **s):
    """The results of a run, and the times (done, born, source, entered + hops) of its messages."""
    run = Limited(Links(grid), rows, PLAIN | s)
    found = run.run()
    done = [m for m in run.messages if m.done >= 0 and not m.lost]
    return found, [(m.done, m.born, m.source, m.entered + m.hops) for m in done]


PLAIN = {
    "crossbar": "one",
    "eject": "one",
    "delay": 1,
    "warmup": 0,
    "measure": 150,
    "drain": 600,
}


def play(grid, rows, vcs, buffer, switching, policy):
    """The times of all messages, steps up to the last move and two more, moves, flits left."""
    s = {"vcs": vcs, "buffer": buffer, "switching": switching, "policy": policy}
    found, times = play_all(grid, rows, **s)
    return times, found["last_move"] + 2, found["moves"], found["stuck_flits"]
