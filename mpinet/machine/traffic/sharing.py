"""Busses under open-loop traffic: which of its members' claims each takes in a step.

A bus carries a flit a step. Its members' claims are known to every rank that hosts one of them, and
each of these ranks comes to the same end: what is kept of a bus here is what is kept of it there.
"""

from __future__ import annotations

import numpy as np

from mpinet.arrays import Ints
from mpinet.machine.machine import Machine
from mpinet.machine.step import gather_claims
from mpinet.machine.traffic.layout import CLAIM_WORDS, NONE, Busses

NODE, BUS, FIRST_KEY, SECOND_KEY, CLAIMANT, KEEPS = range(CLAIM_WORDS)
"""Columns of a claim."""


def make_busses(machine: Machine, nodes: Ints, lanes: int) -> Busses:
    """The busses of hosted nodes that serve so many lanes each; empty where there are links."""
    topology = machine.topology
    if topology.links:
        nothing = np.empty(0, np.int64)
        short, rows = np.empty(0, np.int32), np.empty((0, 1), np.int64)
        return Busses(short, short, nothing, nothing, nothing, nothing, rows, nothing, rows)
    shape = (len(nodes), topology.ports)
    there = np.atleast_2d(topology.neighbor(nodes[:, np.newaxis], np.arange(topology.ports))) >= 0
    slots, ports = np.nonzero(there)
    known = topology.channel(nodes[slots], ports)
    numbers, places = np.unique(known, return_inverse=True)
    of_ports, leads = np.full(shape, NONE, np.int32), np.zeros(shape, np.int32)
    of_ports[slots, ports] = places
    _, first, group = np.unique(
        slots * len(numbers) + places, return_index=True, return_inverse=True
    )
    leads[slots, ports] = ports[first[group]]
    return Busses(
        # A place more than there are ports: kernels know by it that there are busses, on a rank
        # without processors, too.
        np.append(of_ports.ravel(), np.int32(NONE)),
        leads.ravel(),
        kept=np.full(len(numbers), NONE, np.int64),
        won=np.full(len(numbers), NONE, np.int64),
        pointer=np.zeros(len(numbers), np.int64),
        numbers=numbers,
        granted=np.zeros((len(nodes) * lanes, 4), np.int64),
        grants_of=np.zeros(len(nodes), np.int64),
        claims=np.empty((len(slots) + 1, CLAIM_WORDS), np.int64),
    )


def settle(machine: Machine, busses: Busses, claimed: int, now: int, limited: bool) -> None:
    """Let every bus take the claim that goes first (collective).

    Parameters
    ----------
    claimed : int
        Claims of this rank's nodes.
    now : int
        The step.
    limited : bool
        Whether a claim's last word says that the bus is kept for the next step, too; else it is
        the number of steps for which it is taken.
    """
    claims = gather_claims(machine, busses.claims[:claimed])
    order = np.lexsort((claims[:, SECOND_KEY], claims[:, FIRST_KEY], claims[:, BUS]))
    numbers, first = np.unique(claims[order, BUS], return_index=True)
    taken = claims[order[first]]
    here = np.searchsorted(busses.numbers, numbers)
    busses.won[:] = NONE
    busses.won[here] = taken[:, CLAIMANT]
    busses.pointer[here] = taken[:, NODE] + 1
    if limited:
        busses.kept[here] = np.where(taken[:, KEEPS] != 0, taken[:, CLAIMANT], NONE)
    else:
        busses.kept[here] = now + taken[:, KEEPS]
