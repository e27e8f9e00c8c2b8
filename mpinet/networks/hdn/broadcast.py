"""The one-port broadcast of a hierarchical dual-net: Algorithm 2, corrected (docs/papers/hdn, 6.2).

First the root's own copy of level i-1 is informed, then all its nodes cross at level i. Each
cluster of the other class now has one informed super-node, which informs its cluster in the same
way. Finally the nodes of these clusters cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpinet.compiled import inlined, rule
from mpinet.networks.arithmetic import ceil_log2
from mpinet.networks.classic.complete import complete_send
from mpinet.networks.classic.grid import path_broadcast_steps, path_send
from mpinet.networks.classic.ring import ring_broadcast_steps, ring_send
from mpinet.networks.hdn.base import COMPLETE, RING, Members
from mpinet.networks.hdn.levels import (
    CLUSTERS,
    FACTOR_RECORD,
    FACTORS_AT,
    FIRST_CROSS,
    FIRST_PORT,
    IS_COMPLETE,
    IS_PATH,
    KIND,
    PHASES_AT,
    SIDE,
    UNIT,
    WEIGHT,
    Levels,
    level_record,
    with_super_node,
)
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import MAX_SIZE, Topology

LAST_STEP, FROM, ALSO, PORT, FACTOR, SOURCE, PHASE_RECORD = range(7)
"""Places in a phase's record.

In order: the phase's last step, lo, sigma, the cross port, the record of the phase's factor, and
the place in the factor of the nodes at the start of the lines. A node informed in phase p acts
if p = sigma or lo <= p < this phase. The first record is the root's phase (number 0, the paper's
-1). In the phase of the last record no node acts.
"""

NOBODY = -1
"""Value for no phase, no port or no factor."""


@dataclass(frozen=True)
class SchedulePhase:
    """Phase of the schedule."""

    name: str
    """Name of the phase, such as ``D0``, ``X1`` or ``Y1``."""
    steps: int
    """Length of the phase, in steps."""
    lo: int
    """First phase of the acting nodes: a node informed in phase p acts if p = `sigma` or `lo` <=
    p < this phase.
    """
    sigma: int
    """Further phase whose informed nodes act; `NOBODY` for none."""
    port: int = NOBODY
    """Cross port on which the nodes send; `NOBODY` in a phase along a factor."""
    factor: int = NOBODY
    """Record of the factor whose lines the nodes serve; `NOBODY` in a phase over a cross port."""
    source: int = 0
    """Place in the factor of the nodes at the start of the lines."""


def broadcast_schedule(topology: Topology, levels: Levels, root: int) -> Schedule:
    """Return the corrected Algorithm 2 from a root."""
    phases = Phases(topology, levels).of(levels.count, (), 1, 0, root)
    return schedule_of("algorithm2", topology, phases, root)


def printed_schedule(topology: Topology, levels: Levels, root: int) -> Schedule:
    """Return Algorithm 2 as printed, from a root: it may leave nodes uninformed (6.3).

    Every informed node acts in every phase.
    """
    inside = levels.members[-1]
    made = Phases(topology, levels)
    phases = made.along(inside, root) + made.printed(levels.count, root)
    return schedule_of("printed", topology, phases, root)


def schedule_of(name: str, topology: Topology, phases: list[SchedulePhase], root: int) -> Schedule:
    """Return the schedule made of some phases."""
    # A record before the first phase and one after the last save the rule two comparisons per
    # step.
    records, step = [0, 0, NOBODY, NOBODY, NOBODY, 0], 0
    for phase in phases:
        step += phase.steps
        records += [step, phase.lo, phase.sigma, phase.port, phase.factor, phase.source]
    records += [MAX_SIZE, len(phases) + 1, NOBODY, NOBODY, NOBODY, 0]
    params = np.concatenate([topology.params, np.array(records, np.int64)])
    named = tuple((phase.name, phase.steps) for phase in phases)
    return Schedule(name, root, send, params, named)


class Phases:
    """Builder of broadcast phases in copies of the levels of a network.

    Parameters
    ----------
    topology : Topology
        The network.
    levels : Levels
        Levels of the network.
    """

    def __init__(self, topology: Topology, levels: Levels):
        self._params = topology.params
        self._levels = levels

    def of(
        self, level: int, informed: Members, first: int, sigma: int, source: int
    ) -> list[SchedulePhase]:
        """Return the phases of F_i(A), numbered from phase `first`.

        Parameters
        ----------
        level : int
            The level i of the copies.
        informed : Members
            A: in each copy a coset of this sub-product knows the message, since phase `sigma`.
        source : int
            A node with the digits below level i of a node in this coset.
        """
        if level == 0:
            return [self._factor(j, first, sigma, source) for j in self._levels.outside(informed)]
        port = int(self._params[FIRST_CROSS]) + level - 1
        phases = self.of(level - 1, informed, first, sigma, source)
        phases.append(SchedulePhase(f"X{level}", 1, first, sigma, port))
        again = first + len(phases)
        arrived = self._crossed(source, level)
        # The crossing informs one super-node in each cluster of the other class. From there the
        # copies of level i-1 continue without the phases inside the super-node.
        phases += self.of(level - 1, self._levels.members[level - 1], again, again - 1, arrived)
        # With one cluster per class the first crossing has reached all nodes. A second crossing
        # would inform no node.
        if self._levels.clusters(level) > 1:
            phases.append(SchedulePhase(f"Y{level}", 1, again, NOBODY, port))
        return phases

    def printed(self, level: int, source: int) -> list[SchedulePhase]:
        """Return the phases of P_i as printed, for informed nodes with the digits of `source`."""
        # This follows the printed text, which informs only factors of the next lower super-node.
        # Section 6.3 shows the nodes that this leaves out.
        wanted = self._levels.members[level - 2] if level > 1 else self._levels.outside(())
        missing = [j for j in wanted if j not in self._levels.members[level - 1]]
        port = int(self._params[FIRST_CROSS]) + level - 1
        cross = SchedulePhase(f"X{level}", 1, 0, NOBODY, port)
        arrived = self._crossed(source, level)
        if level == 1:
            return [*self.along(missing, source), cross, *self.along(missing, arrived), cross]
        own, others = self.printed(level - 1, source), self.printed(level - 1, arrived)
        return [*self.along(missing, source), *own, cross, *others, cross]

    def along(self, factors: Sequence[int], source: int) -> list[SchedulePhase]:
        """Return phases along these factors in which every informed node acts."""
        return [self._factor(j, 0, NOBODY, source) for j in factors]

    def _crossed(self, source: int, level: int) -> int:
        """Return a node with the digits of the nodes where messages cross to."""
        record = level_record(level, self._params)
        unit, clusters = self._params[record + UNIT], self._params[record + CLUSTERS]
        return int(with_super_node(source, record, source // unit % clusters, self._params))

    def _factor(self, j: int, first: int, sigma: int, source: int) -> SchedulePhase:
        kind, side = self._levels.base[j]
        weight, _ = self._levels.coordinates[j]
        place = source // weight % side
        if kind == RING:
            steps = ring_broadcast_steps(side)
        elif kind == COMPLETE:
            steps = ceil_log2(side)
        else:
            # On a path the steps depend on the source's place. All lines of a phase start at the
            # same place, and end together.
            steps = path_broadcast_steps(place, side)
        record = FACTORS_AT + j * FACTOR_RECORD
        return SchedulePhase(f"D{j}", steps, first, sigma, factor=record, source=place)


@rule
def send(node, root, since, step, params):
    """Return an acting node's port: the cross port, or a port along its line of the factor."""
    at, now, informed = params[PHASES_AT], 0, 0
    while params[at + LAST_STEP] < step:
        if params[at + LAST_STEP] < since:
            informed += 1
        now += 1
        at += PHASE_RECORD
    # A node knows only the step in which it was informed. The phase of this step determines whether
    # the node acts, and no list of senders is stored.
    acts = informed == params[at + ALSO] or params[at + FROM] <= informed < now
    if params[at + FACTOR] < 0:
        return params[at + PORT] if acts else -1
    if acts or informed == now:
        sub_step = step - params[at - PHASE_RECORD + LAST_STEP]
        return line_send(node, params[at + FACTOR], params[at + SOURCE], sub_step, params)
    return -1


@inlined
def line_send(node, factor, source, step, params):
    """Return the port in a sub-step of the broadcast along a factor, or -1 (6.1)."""
    side, kind = params[factor + SIDE], params[factor + KIND]
    place = node // params[factor + WEIGHT] % side
    # With places relative to the source, one rule serves all sources of rings and complete graphs.
    # Paths have ends, and keep their places.
    offset = place - source if place >= source else place - source + side
    if kind == IS_COMPLETE:
        direction = complete_send(offset, side, step)
    elif kind == IS_PATH:
        direction = path_send(place, source, side, step)
    else:
        direction = ring_send(offset, side, step)
    return direction if direction < 0 else params[factor + FIRST_PORT] + direction
