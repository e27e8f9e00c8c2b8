"""Arbitration of busses under open-loop traffic: the claim granted by each bus in a step.

A bus carries one flit per step. Every rank with a member of a bus knows all claims on the bus and
reaches the same decision. The ranks' copies of the bus's state therefore stay equal.
"""

from __future__ import annotations

import numpy as np

from mpinet.machine.machine import Machine
from mpinet.machine.step import gather_claims
from mpinet.machine.traffic.layout import NONE, Bus, BusClaim, HostedBusses


def make_busses(machine: Machine) -> HostedBusses:
    """Make the tables of the hosted nodes' busses; empty tables for a network of links."""
    topology, nodes = machine.topology, machine.nodes
    if topology.links:
        short = np.empty(0, np.int32)
        return HostedBusses(short, short, Bus.array(0), BusClaim.array(0))
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
    rows = Bus.array(len(numbers))
    rows["number"] = numbers
    rows["claimant"] = NONE
    return HostedBusses(
        # One entry more than ports: kernels recognize networks of busses by a size above 0, even on
        # a rank without processors.
        np.append(of_ports.ravel(), np.int32(NONE)),
        leads.ravel(),
        rows,
        BusClaim.array(len(slots) + 1),
    )


def settle(machine: Machine, busses: HostedBusses, claimed: int) -> None:
    """Let every bus grant its claim with the least keys (collective).

    The first `claimed` rows of `busses.claims` are this rank's claims.
    """
    mine = busses.claims[:claimed].view(np.int64).reshape(claimed, len(BusClaim.dtype.names or ()))
    node, bus, first_key, second_key, claimant, until = gather_claims(machine, mine).T
    # A replicated decision: every rank with a member sorts the same claims, so no rank has to
    # announce the winner.
    order = np.lexsort((second_key, first_key, bus))
    numbers, first = np.unique(bus[order], return_index=True)
    taken, rows = order[first], busses.rows
    # All claims concern busses with members here, so every number is found.
    here = np.searchsorted(rows["number"], numbers)
    rows["won"] = NONE
    rows["won"][here] = rows["claimant"][here] = claimant[taken]
    rows["until"][here], rows["pointer"][here] = until[taken], node[taken] + 1
