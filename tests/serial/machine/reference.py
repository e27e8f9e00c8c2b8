"""The router once more, by brute force: docs/model, 5, in plain Python, for small machines.

Nothing here uses mpinet. A hop is (node, port, next node); the way of a message is the list of its
hops. A medium says which hops exclude each other within a step.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Any

Hop = tuple[int, int, int]
Way = list[Hop]
Medium = Callable[[Hop], Hashable]


def direction(hop: Hop) -> Hashable:
    """Full duplex: the medium is a direction of a link."""
    return hop[0], hop[1]


def link(hop: Hop) -> Hashable:
    """Half duplex: the medium is the link, whichever way it is taken."""
    return frozenset((hop[0], hop[2]))


def first_of_each(messages: Iterable[int], key: Callable[[int], Hashable]) -> list[int]:
    """The first message of each kind, in order."""
    first: dict[Hashable, int] = {}
    for message in messages:
        first.setdefault(key(message), message)
    return list(first.values())


class BruteForceRouter:
    """Store-and-forward of messages on given ways, one step after the other.

    Messages are numbered as they are injected. `ended` has the step in which each came to the end
    of its way, `moves` the records (step, sender, port, receiver, message).
    """

    def __init__(
        self,
        medium: Medium = direction,
        one_send: bool = False,
        one_receive: bool = False,
        fifo: bool = False,
        ideal: bool = False,
    ):
        self.medium = medium
        self.one_send, self.one_receive = one_send, one_receive
        self.fifo, self.ideal = fifo, ideal
        self.ways: list[Way] = []
        self.hops: list[int] = []  # that each message has made
        self.since: list[int] = []  # step in which each came to where it is
        self.births: list[int] = []
        self.ended: dict[int, int] = {}
        self.moves: list[tuple[int, int, int, int, int]] = []
        self.steps = self.queue_max = 0

    def inject(self, ways: list[Way]) -> None:
        for way in ways:
            if not way:
                self.ended[len(self.ways)] = self.steps
            self.ways.append(way)
            self.hops.append(0)
            self.since.append(self.steps)
            self.births.append(self.steps)

    def next_hop(self, message: int) -> Hop:
        return self.ways[message][self.hops[message]]

    def step(self) -> bool:
        """Whether anything moved; otherwise it was no step."""
        waiting = [m for m in range(len(self.ways)) if m not in self.ended]
        if not waiting:
            return False
        if self.fifo:
            waiting.sort(key=lambda m: (self.since[m], m))
        going = waiting if self.ideal else self.granted(waiting)
        held_back = Counter(self.next_hop(m)[0] for m in waiting if m not in going)
        self.queue_max = max(self.queue_max, *held_back.values(), 0)
        self.steps += 1
        for m in going:
            sender, port, receiver = self.next_hop(m)
            self.moves.append((self.steps, sender, port, receiver, m))
            self.hops[m] += 1
            self.since[m] = self.steps
            if self.hops[m] == len(self.ways[m]):
                self.ended[m] = self.steps
        return True

    def granted(self, waiting: list[int]) -> list[int]:
        """Nomination by the senders, the best on each medium, acceptance by the receivers."""
        if self.one_send:
            waiting = first_of_each(waiting, lambda m: self.next_hop(m)[0])
        going = first_of_each(waiting, lambda m: self.medium(self.next_hop(m)))
        if self.one_receive:
            going = first_of_each(going, lambda m: self.next_hop(m)[2])
        return going

    def run(self) -> None:
        while self.step():
            pass

    def outcome(self, sources: list[int], stuck: Iterable[int] = ()) -> dict[str, Any]:
        """All that a router can tell; `stuck` are the messages that end where they cannot go on."""
        stuck = set(stuck)
        places = [way[-1][2] if way else u for way, u in zip(self.ways, sources, strict=True)]
        arrived = [m for m in range(len(self.ways)) if m in self.ended and m not in stuck]
        return {
            "delivered": [(m, places[m], len(self.ways[m]), self.ended[m]) for m in arrived],
            "undeliverable": sorted((m, places[m]) for m in stuck),
            "moves": sorted(self.moves),
            "steps": self.steps,
            "messages": len(self.moves),
            "hops_max": max((len(self.ways[m]) for m in arrived), default=0),
            "queue_max": self.queue_max,
            "latencies": dict(Counter(self.ended[m] - self.births[m] for m in arrived)),
            "loads": dict(Counter((sender, port) for _, sender, port, _, _ in self.moves)),
        }

    def busiest(self) -> int:
        """Messages over the busiest medium."""
        hops = ((sender, port, receiver) for _, sender, port, receiver, _ in self.moves)
        return max(Counter(map(self.medium, hops)).values(), default=0)


def lowest_closer_port(
    wiring: list[list[int | None]], distance: Any, source: int, target: int
) -> Way:
    """The shortest way that takes the lowest port that leads closer, at every node."""
    way: Way = []
    node = source
    while node != target:
        port, following = next(
            (p, v)
            for p, v in enumerate(wiring[node])
            if v is not None and distance[v][target] == distance[node][target] - 1
        )
        way.append((node, port, following))
        node = following
    return way


def until_fault(
    source: int, way: Way, dead: set[int], cut: set[frozenset[int]]
) -> tuple[Way, bool]:
    """The part of a way that can be gone, and whether the message is stuck at its end."""
    if source in dead:
        return [], True
    for place, (node, _, following) in enumerate(way):
        if following in dead or frozenset((node, following)) in cut:
            return way[:place], True
    return way, False
