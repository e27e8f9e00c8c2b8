"""Lower bounds of collectives, from degree, distance and doubling."""

from __future__ import annotations

from mpinet.machine import Machine
from mpinet.programs.flood import flood


def broadcast_bound(machine: Machine, root: int) -> int:
    """Steps that no broadcast from `root` beats: its distances, and the growth of the informed.

    In a step an informed processor informs at most `send` others, so their number grows at most by
    the factor 1 + send; with one port it doubles (spec of HDN, section 8). A transmission on a bus
    may inform as many as the sender has ports (each is another member).
    """
    survey = Machine(machine.topology, "all", machine.transport, machine.mapping)
    ports = machine.topology.ports
    fanout = ports if machine.model.send is None or not machine.topology.links else 1
    return max(flood(survey, root).farthest_host, growth_bound(machine.topology.hosts, fanout))


def growth_bound(processors: int, fanout: int) -> int:
    """Steps until 1 informed processor has become `processors` if each informs `fanout` a step."""
    informed, steps = 1, 0
    while informed < processors:
        informed *= 1 + fanout
        steps += 1
    return steps
