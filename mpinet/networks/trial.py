"""Trials of routings: check the contract of a routing by messages between some processors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.errors import RoutingError, Stuck
from mpinet.networks.adaptive import words_seen
from mpinet.networks.routing import ARRIVED, STUCK, Routing, path
from mpinet.networks.shortest import levels, neighbor_table
from mpinet.networks.wired import Wired

ALL_PAIRS = 4096
"""Most pairs of processors up to which all pairs are routed."""

PAIRS = 32
"""Number of pairs that are routed in larger networks."""

NEAR = 16
"""Steps of a random walk from source to target in networks too large for arbitrary pairs."""

FAR_PAIRS_UP_TO = 1024
"""Nodes of the largest network in which arbitrary pairs are routed."""

MEASURED = 2**16
"""Most (node, port) pairs of a network in which the length of paths is compared with distances."""


class Trial:
    """Pairs of processors between which the routings of a network are tested.

    Parameters
    ----------
    topology : Topology
        The network.
    random : numpy.random.Generator
        Generator that draws the pairs of a large network.
    """

    def __init__(self, topology: Wired, random: np.random.Generator):
        self.pairs = list(_routed_pairs(topology, random))
        self._topology = topology
        self._distances = _Distances(topology)

    def hold(self, routing: Routing, arrives: bool) -> bool:
        """Check that a routing fulfils its contract; False if routes are too long to test.

        Parameters
        ----------
        routing : Routing
            The routing.
        arrives : bool
            Whether each message has to arrive; otherwise some may be undeliverable.

        Raises
        ------
        RoutingError
            The routing takes an unwired port, does not arrive or is not as short as it claims.
        """
        topology, distances = self._topology, self._distances
        # Drawn nodes may be anywhere. On a long ring a single message would take millions of hops.
        if routing.numbered and not _goes_far(topology):
            return False  # the drawn node may be far away
        for source, target in self.pairs:
            try:
                ports = path(topology, routing, source, target)[1]
            except Stuck:
                if arrives:
                    raise
                continue
            if routing.shortest and distances.known:
                self._check_shortest(routing, source, target, len(ports))
        if routing.adaptive and routing.settle is None:
            self._check_adaptive(routing)
        return True

    def _check_adaptive(self, routing: Routing) -> None:
        """Check candidates and choices in the states that messages reach, up to `MOST_STATES`."""
        topology, seen = self._topology, set[State]()
        fresh: list[tuple[State, int]] = []
        for source, target in self.pairs:
            header = np.zeros(routing.words, np.int64)
            routing.start(source, target, header, routing.params)
            fresh.append(((source, -1, -1, *header.tolist()), target))
        # States grow with ports and classes at every hop. A bounded search from all pairs finds the
        # usual errors early.
        most = MOST_STATES if self._distances.known else SOME_STATES
        while fresh and len(seen) < most:
            state, target = fresh.pop()
            if state in seen:
                continue
            seen.add(state)
            ways, header = self._candidates(routing, state, target)
            for port, group in ways:
                other = topology.neighbor(state[0], port)
                # Duato's theorem lets only the escape lead away from the target. Any other
                # candidate that does not come closer may lead in circles for ever.
                if group >= routing.escape_classes or (routing.escape is None and routing.shortest):
                    self._check_closer(routing, state[0], other, target)
                back = topology.reverse_port(state[0], port)
                fresh.append(((other, back, group, *header.tolist()), target))
            if ways:
                self._check_choices(routing, state[0], header, ways)

    def _candidates(
        self, routing: Routing, state: State, target: int
    ) -> tuple[list[tuple[int, int]], Ints]:
        """Return the candidates in a state (none at the target), and the header after the call."""
        assert routing.candidates is not None
        node, in_port, in_class, *words = state
        header, room = np.array(words, np.int64), self._topology.ports * routing.classes
        who = f"Routing {routing.name} on {self._topology.name}"
        answers = []
        # Engines call `candidates` in every step of waiting. If a rule consumed its header, its
        # result would change, which breaks the deadlock proof.
        for _ in range(2):  # a waiting head makes the second call
            ways = np.zeros((room, 2), np.int64)
            count = int(routing.candidates(node, in_port, in_class, header, ways, routing.params))
            answers.append((count, ways[: max(count, 0)].tolist(), header.tolist()))
        if answers[0] != answers[1]:
            raise RoutingError(
                f"{who} has other candidates at node {node} for a message to {target} in a "
                "second call; a waiting head needs the same candidates in every step."
            )
        if count == ARRIVED and node != target:
            raise RoutingError(f"{who} stopped at node {node} with a message to {target}.")
        if count <= 0 and count not in (ARRIVED, STUCK):
            raise RoutingError(
                f"{who} gave {count} candidates at node {node} for a message to {target}: return "
                f"at least one, {ARRIVED} for arrived, or {STUCK} for undeliverable."
            )
        pairs = [(port, group) for port, group in answers[0][1]]
        for port, group in pairs:
            wired = 0 <= port < self._topology.ports and self._topology.neighbor(node, port) >= 0
            if not wired or not 0 <= group < routing.classes or pairs.count((port, group)) > 1:
                raise RoutingError(
                    f"{who} has the candidate (port {port}, class {group}) at node {node} for a "
                    f"message to {target}: candidates are wired ports with classes "
                    f"0..{routing.classes - 1}, each pair once."
                )
        return pairs, header

    def _check_closer(self, routing: Routing, node: int, other: int, target: int) -> None:
        """Check that a candidate outside the escape leads closer to the target."""
        if not self._distances.known:
            return
        far = self._distances.between(node, target)
        if self._distances.between(other, target) >= far:
            raise RoutingError(
                f"Routing {routing.name} on {self._topology.name} offers the hop from node {node} "
                f"to {other} to a message to {target}, which is {far} hops away and comes no "
                "closer: only classes "
                "of a declared escape may lead away from the target."
            )

    def _check_choices(
        self, routing: Routing, node: int, header: Ints, pairs: list[tuple[int, int]]
    ) -> None:
        """Check the results of `choose` with room for all candidates, and for only one."""
        ways, count = np.array(pairs, np.int64), len(pairs)
        full = np.full(count, 4, np.int64)
        queues = np.zeros(
            words_seen(routing.sees, self._topology.size, self._topology.ports), np.int64
        )
        # With one candidate free at a time, each row must be a legal answer. A choice beyond the
        # rows would corrupt the engine's arrays.
        for credits in [full, *np.eye(count, dtype=np.int64)]:
            seen = np.concatenate([queues, credits])
            way = int(routing.choose(node, header.copy(), ways, seen, routing.params))
            if not -1 <= way < count:
                raise RoutingError(
                    f"Routing {routing.name} on {self._topology.name} chose {way} at node {node}, "
                    f"where there are {count} candidates: one of 0..{count - 1}, or -1 to wait."
                )

    def _check_shortest(self, routing: Routing, source: int, target: int, hops: int) -> None:
        least = self._distances.between(source, target)
        if hops != least:
            raise RoutingError(
                f"Routing {routing.name} on {self._topology.name} takes {hops} hops from {source} "
                f"to {target}, where {least} are enough. If longer paths are meant, make it with "
                "stateless(.., shortest=False) or Routing(.., shortest=False)."
            )


State = tuple[int, ...]
"""State of a message's head: its node, the port and class of its last channel, its header."""

MOST_STATES, SOME_STATES = 1024, 64
"""Number of tested states of an adaptive routing's messages, in small networks and in larger
ones.
"""


class _Distances:
    """Distances in a small network, computed per source on demand."""

    def __init__(self, topology: Wired):
        self.known = topology.size * topology.ports <= MEASURED
        self._neighbors = neighbor_table(topology) if self.known else np.empty((0, 0), np.int64)
        self._from: dict[int, Ints] = {}

    def between(self, source: int, target: int) -> int:
        """Return the distance in hops."""
        if source not in self._from:
            self._from[source] = levels(self._neighbors, source)
        return int(self._from[source][target])


def _routed_pairs(topology: Wired, random: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Yield all pairs if few, random pairs in small networks, else pairs near each other."""
    if topology.hosts**2 <= ALL_PAIRS:
        yield from np.ndindex(topology.hosts, topology.hosts)
        return
    far = _goes_far(topology)
    for _ in range(PAIRS):
        source = int(random.integers(topology.hosts))
        target = int(random.integers(topology.hosts)) if far else _walk(topology, source, random)
        yield source, target


def _goes_far(topology: Wired) -> bool:
    """Return whether routes between any two processors are short enough to be tested."""
    return topology.size <= FAR_PAIRS_UP_TO or topology.hosts < topology.size


def _walk(topology: Wired, node: int, random: np.random.Generator) -> int:
    """Return the last node of a random walk."""
    # Random pairs of a huge ring are millions of hops apart. A short random walk gives near pairs
    # on any network.
    for port in random.integers(0, topology.ports, NEAR).tolist():
        following = topology.neighbor(node, port)
        node = following if following >= 0 else node
    return node
