"""Checks of a topology's promises beside its wiring: routings, schedules, cycle, clusters.

Part of `contract.check`; all of it is tried out where the network is small, else a seeded sample.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Mapped
from mpinet.errors import UsageError, WiringError
from mpinet.networks.routing import Routing
from mpinet.networks.schedule import SPAN, Schedule
from mpinet.networks.topology import Topology
from mpinet.networks.trial import Trial

PLAYED_UP_TO = 256
"""Nodes of a network in which schedules are played."""


def check_routings(topology: Topology, random: np.random.Generator) -> int:
    """Check that messages of every routing arrive over wired ports; return the number of messages.

    Messages of routings other than the default one may be undeliverable.
    """
    known: dict[str, Callable[[], Routing]] = dict(topology.routings)
    known |= {name: partial(make, 0) for name, make in topology.random_routings.items()}
    trial = Trial(topology, random)
    routed = 0
    # Those for open-loop traffic are tried too, and not counted: every network has some of them.
    counted = len(known)
    # Routings of any network rest on rules that are already checked here. Valiant's leads by a
    # family's own waypoints.
    tried = known.keys() | topology.common_routings.keys() - {"valiant"}
    others = topology.load_routings.items()
    known |= {name: partial(make, 0) for name, make in others if name not in tried}
    for place, make in enumerate(known.values()):
        try:
            routing = make()
        # A table may be too large for this network. That is no broken promise, and other routings
        # may still be tried.
        except UsageError:
            continue
        if trial.hold(routing, arrives=place == 0) and place < counted:
            routed += len(trial.pairs)
    return routed


def check_schedules(topology: Topology) -> None:
    """Check that schedules obey their port models and that the first informs all processors."""
    if not topology.links or topology.size > PLAYED_UP_TO:
        return
    for root in sorted({0, topology.hosts - 1}):
        for place, make in enumerate(topology.schedules(root).values()):
            schedule = make()
            # Who hears whom on a bus or with a chosen port is for the machine to judge. Here each
            # message reaches its neighbour.
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
    # A schedule without phases ends by itself. No broadcast needs more steps than there are nodes.
    while step < (schedule.steps if schedule.phases else topology.size):
        step += 1
        received = _play_step(topology, schedule, informed, step)
        if not (received or schedule.phases):
            break
        for node, count in received.items():
            if schedule.receive is not None and count > schedule.receive:
                raise WiringError(
                    f"{_label(topology, schedule)}: processor {node} receives {count} messages in "
                    f"step {step}, more than {schedule.receive}."
                )
            informed[node] = step if informed[node] < 0 else informed[node]
    return informed


def _play_step(topology: Topology, schedule: Schedule, informed: Ints, step: int) -> dict[int, int]:
    """Run one step of the schedule; count the messages that each receiver gets."""
    received: dict[int, int] = {}
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
            received[other] = received.get(other, 0) + 1
    return received


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
    # The walk stops at the first node that comes again. A wrong rule may never come back to node 0.
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
    # Positions outside are replaced before the inverse is asked. Native code would read behind the
    # parameters for them.
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
