"""What a topology promises beyond its wiring: routings, schedules, a cycle, an order of clusters.

Part of `contract.check`; all of it is tried out where the network is small, else a seeded sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from mpinet.arrays import Ints
from mpinet.compiled import Mapped
from mpinet.errors import RoutingError, Stuck, UsageError, WiringError
from mpinet.networks.routing import Routing, path
from mpinet.networks.schedule import SPAN, Schedule
from mpinet.networks.topology import Topology

ALL_PAIRS = 4096
"""Up to so many pairs of processors all are routed."""

PAIRS = 32
"""Pairs that are routed where there are more."""

NEAR = 16
"""Hops between source and target where a network is too large for far pairs."""

FAR_PAIRS_UP_TO = 1024
"""Nodes of a network in which any pair may be routed."""

PLAYED_UP_TO = 256
"""Nodes of a network in which schedules are played."""

MEASURED = 2**16
"""Up to so many (node, port) pairs the length of paths is compared with distances."""


def check_routings(topology: Topology, random: np.random.Generator) -> int:
    """Check that messages of every routing arrive over wired ports; return the number of messages.

    Of other routings than the default one they may be undeliverable.
    """
    known: dict[str, Callable[[], Routing]] = dict(topology.routings)
    known |= {name: partial(make, 0) for name, make in topology.random_routings.items()}
    pairs = list(_routed_pairs(topology, random))
    routed, distances = 0, _Distances(topology)
    for place, make in enumerate(known.values()):
        try:
            routing = make()
        except UsageError:
            continue
        for source, target in pairs:
            try:
                ports = path(topology, routing, source, target)[1]
            except Stuck:
                if place == 0:
                    raise
                continue
            if routing.shortest and distances.known:
                _check_shortest(topology, routing, source, target, len(ports), distances)
        routed += len(pairs)
    return routed


def _check_shortest(
    topology: Topology,
    routing: Routing,
    source: int,
    target: int,
    hops: int,
    distances: _Distances,
) -> None:
    least = distances.between(source, target)
    if hops != least:
        raise RoutingError(
            f"Routing {routing.name} on {topology.name} says that its paths are shortest, but "
            f"takes {hops} hops from {source} to {target}, where {least} are enough."
        )


class _Distances:
    """Distances in a small network, found source by source when they are asked for."""

    def __init__(self, topology: Topology):
        self.known = topology.size * topology.ports <= MEASURED
        self._topology = topology
        self._from: dict[int, Ints] = {}

    def between(self, source: int, target: int) -> int:
        """The distance in hops."""
        if source not in self._from:
            self._from[source] = self._search(source)
        return int(self._from[source][target])

    def _search(self, source: int) -> Ints:
        found = np.full(self._topology.size, -1)
        found[source], fresh, hops = 0, np.array([source]), 0
        ports = np.arange(self._topology.ports)
        while fresh.size:
            others = np.unique(self._topology.neighbor(fresh[:, np.newaxis], ports))
            fresh = others[(others >= 0) & (found[others] < 0)]
            hops += 1
            found[fresh] = hops
        return found


def _routed_pairs(topology: Topology, random: np.random.Generator) -> Iterator[tuple[int, int]]:
    """All pairs where they are few, any pairs in small networks, else pairs near each other."""
    if topology.hosts**2 <= ALL_PAIRS:
        yield from np.ndindex(topology.hosts, topology.hosts)
        return
    far = topology.size <= FAR_PAIRS_UP_TO or topology.hosts < topology.size
    for _ in range(PAIRS):
        source = int(random.integers(topology.hosts))
        target = int(random.integers(topology.hosts)) if far else _walk(topology, source, random)
        yield source, target


def _walk(topology: Topology, node: int, random: np.random.Generator) -> int:
    """Return the last node of a random walk."""
    for port in random.integers(0, topology.ports, NEAR).tolist():
        following = topology.neighbor(node, port)
        node = following if following >= 0 else node
    return node


def check_schedules(topology: Topology) -> None:
    """Check that schedules obey their port models and that the first informs all processors."""
    if not topology.links or topology.size > PLAYED_UP_TO:
        return
    for root in sorted({0, topology.hosts - 1}):
        for place, make in enumerate(topology.schedules(root).values()):
            schedule = make()
            if schedule.listen is None:
                informed = _play(topology, schedule)
                if place == 0 and not (informed[: topology.hosts] >= 0).all():
                    node = int((informed[: topology.hosts] < 0).argmax())
                    raise WiringError(
                        f"{_label(topology, schedule)} does not inform processor {node}."
                    )


def _label(topology: Topology, schedule: Schedule) -> str:
    return f"{topology.name}: schedule {schedule.name} from {schedule.root}"


def _play(topology: Topology, schedule: Schedule) -> Ints:
    """The steps in which nodes are informed, -1 for those that are not."""
    informed = np.full(topology.size, -1)
    informed[schedule.root], step = 0, 0
    while step < (schedule.steps if schedule.phases else topology.size):
        step += 1
        heard = _play_step(topology, schedule, informed, step)
        if not (heard or schedule.phases):
            break
        for node, count in heard.items():
            if schedule.receive is not None and count > schedule.receive:
                raise WiringError(
                    f"{_label(topology, schedule)}: processor {node} receives {count} messages in "
                    f"step {step}, more than {schedule.receive}."
                )
            informed[node] = step if informed[node] < 0 else informed[node]
    return informed


def _play_step(topology: Topology, schedule: Schedule, informed: Ints, step: int) -> dict[int, int]:
    """Run one step of the schedule; count the messages that each receiver gets."""
    heard: dict[int, int] = {}
    for node in np.flatnonzero(informed >= 0).tolist():
        since = int(informed[node])
        answer = int(schedule.rule(node, schedule.root, since, step, schedule.params))
        if answer < 0:
            continue
        count, first = answer // SPAN + 1, answer % SPAN
        if schedule.send is not None and count > schedule.send:
            raise WiringError(
                f"{_label(topology, schedule)}: processor {node} sends {count} messages in step "
                f"{step}, more than {schedule.send}."
            )
        for port in range(first, first + count):
            other = topology.neighbor(node, port) if port < topology.ports else -1
            if other < 0:
                raise WiringError(
                    f"{_label(topology, schedule)}: processor {node} sends on port {port} in step "
                    f"{step}, which is not wired."
                )
            heard[other] = heard.get(other, 0) + 1
    return heard


def check_cycle(topology: Topology) -> None:
    """A cycle that the family knows passes every node once, and closes."""
    if topology.size == 1 or type(topology).cycle is Topology.cycle:
        return
    cycle = topology.cycle()
    if cycle is None:
        return
    nodes = np.arange(topology.size)
    ports = Mapped(cycle.rule, cycle.params, ports=1, nodes=topology.size)(nodes, 0)
    outside = (ports < 0) | (ports >= topology.ports)
    following = topology.neighbor(nodes, np.where(outside, 0, ports))
    wrong = outside | (following < 0)
    if wrong.any():
        node = int(wrong.argmax())
        raise WiringError(
            f"{topology.name}: cycle {cycle.name} leaves node {node} by port {ports[node]}, which "
            "is not wired."
        )
    node, passed = 0, 0
    seen = np.zeros(topology.size, bool)
    while not seen[node]:
        seen[node], passed = True, passed + 1
        node = int(following[node])
    if passed < topology.size or node != 0:
        raise WiringError(
            f"{topology.name}: cycle {cycle.name} comes to node {node} again after {passed} of "
            f"{topology.size} nodes."
        )


def check_cluster_order(topology: Topology, nodes: Ints) -> None:
    """Check on these nodes that the rule `cluster_order`, where there is one, is a bijection."""
    order = type(topology).cluster_order
    if order is None:
        return
    ordered = Mapped(order, topology.params, ports=2)
    positions = ordered(nodes, 0)
    outside = (positions < 0) | (positions >= topology.size)
    back = ordered(np.where(outside, 0, positions), 1)
    wrong = outside | (back != nodes)
    if not wrong.any():
        return
    at = int(wrong.argmax())
    node, position = int(nodes[at]), int(positions[at])
    if outside[at]:
        raise WiringError(
            f"{topology.name}: cluster_order({node}, 0) = {position} is no position: positions are "
            f"0..{topology.size - 1}."
        )
    raise WiringError(
        f"{topology.name}: cluster_order({node}, 0) = {position}, but cluster_order({position}, 1) "
        f"= {back[at]}, not {node}: it must be a bijection."
    )
