"""Checks of a topology's contract apart from the wiring: routings, schedules, cycle, clusters.

These checks are part of `contract.check`. Small networks are checked completely, large networks at
a seeded sample.
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
"""Nodes of the largest network whose schedules are run."""


def check_routings(topology: Topology, random: np.random.Generator) -> int:
    """Check that messages of every routing arrive over wired ports; return the number of messages.

    Only the default routing has to deliver all messages.
    """
    known: dict[str, Callable[[], Routing]] = dict(topology.routings)
    known |= {name: partial(make, 0) for name, make in topology.random_routings.items()}
    trial = Trial(topology, random)
    routed = 0
    # Routings for open-loop traffic are tested but not counted, because every network has some.
    counted = len(known)
    # Routings for any network use only rules that are already checked here. Valiant's routing also
    # uses a family's own waypoints.
    tried = known.keys() | topology.common_routings.keys() - {"valiant"}
    others = topology.load_routings.items()
    known |= {name: partial(make, 0) for name, make in others if name not in tried}
    for place, make in enumerate(known.values()):
        try:
            routing = make()
        # A table may be too large for this network. This does not violate the contract, and other
        # routings may still be tested.
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
            # On a bus, or with a chosen receive port, only the machine decides which messages are
            # accepted. Here each message reaches its neighbour.
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
    """Return the step in which each node is informed, -1 for nodes that are not informed."""
    informed = np.full(topology.size, -1)
    informed[schedule.root], step = 0, 0
    # A schedule without phases ends by itself. No broadcast needs more steps than the network has
    # nodes.
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
    """Run one step of the schedule; return the number of messages for each receiver."""
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
    """Check that the family's Hamiltonian cycle passes every node once and closes."""
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
    # The walk stops at the first repeated node. A wrong rule may never return to node 0.
    while not seen[node]:
        seen[node], passed = True, passed + 1
        node = int(following[node])
    if passed < topology.size or node != 0:
        raise WiringError(
            f"{topology.name}: cycle {cycle.name} returns to node {node} after {passed} of "
            f"{topology.size} nodes."
        )


def check_cluster_order(topology: Topology, nodes: Ints) -> None:
    """Check on these nodes that the rule `cluster_order`, if defined, is a bijection."""
    order = type(topology).cluster_order
    if order is None:
        return
    ordered = Mapped(order, topology.params, ports=2)
    positions = ordered(nodes, 0)
    outside = (positions < 0) | (positions >= topology.size)
    # Positions out of range are replaced before the inverse is computed. For such positions, native
    # code would read behind the parameters.
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
