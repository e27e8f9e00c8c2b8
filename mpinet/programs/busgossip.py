"""Search for schedules over busses: each bus carries an item lacked by most of its members.

In every step the busses choose in random order. Each takes an item lacked by most of its members,
on a tie the item with the fewest holders, from a member that holds it. With one port only idle
members count as receivers, and only an idle member sends. Every rank examines the whole network and
finds the same timetable.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.draws import draw32
from mpinet.errors import Disconnected
from mpinet.networks.topology import Topology
from mpinet.programs.buspasses import BusMembers
from mpinet.programs.starts import best_rows

STARTS = 2**7
"""Number of starts on a small network, with seeds 0, 1 and so on; the best one is returned."""

LOOKS = 2**26
"""Approximate maximum number of members and items examined by all starts."""


def rows_over_busses(
    topology: Topology, sources: Ints, bound: int, one_port: bool, single: bool = False
) -> Ints:
    """Bring items from their sources to all processors over busses, in few steps.

    Parameters
    ----------
    topology : Topology
        A connected network of busses.
    bound : int
        Lower bound of the steps. The search ends when a schedule meets the bound.
    one_port : bool
        If True, a node sends and receives at most one message per step.
    sources : ndarray of int64, shape (items,)
        Processor that holds each item first.
    single : bool
        If True, only one member receives a bus transmission, so the schedule can be reversed.

    Returns
    -------
    ndarray of int64, shape (rows, 5)
        Step, sender, receiver, item and bus of every message, by step.

    Raises
    ------
    Disconnected
        A processor cannot be reached.
    """
    lists, items = BusMembers.of(topology), len(sources)
    looks = max(1, len(lists.members) * items * max(bound, 1))
    rows = np.empty((topology.size * items, 5), np.int64)
    wanted = (topology.size - 1) * items

    def take(seed: int) -> int:
        parts = (lists.bus_begin, lists.members)
        return int(take_over_busses(*parts, topology.size, one_port, single, sources, seed, rows))

    best = best_rows(take, rows, min(STARTS, LOOKS // looks), bound) if wanted else rows[:0]
    if len(best) < wanted:
        raise Disconnected(f"{topology.name} is not connected: no processor reaches all others.")
    return best


@kernel
def take_over_busses(
    bus_begin: Ints,
    members: Ints,
    size: int,
    one_port: bool,
    single: bool,
    sources: Ints,
    seed: int,
    rows: Table,
) -> int:
    """Run one start; write rows (step, sender, receiver, item, bus) and return their number."""
    items, count = sources.size, bus_begin.size - 1
    came = np.full((size, items), -1, np.int64)  # arrival step of each item
    holders, lacking = np.ones(items, np.int64), np.full(size, items)
    sent, accepted = np.zeros(size, np.int64), np.zeros(size, np.int64)
    keys = np.empty(count, np.int64)
    for item in range(items):
        came[sources[item], item] = 0
        lacking[sources[item]] -= 1
    done, step, wanted = 0, 0, items * (size - 1)
    while done < wanted:
        step += 1
        before = done
        # A bus sees the choices of busses before it in this step, so the first has an advantage.
        # Each step and start has another order.
        for bus in range(count):
            keys[bus] = draw32(int(seed), int(bus), int(step), 22) & 0xFFFF
        order = np.argsort(keys)
        for i in range(count):
            bus = order[i]
            begin, end = bus_begin[bus], bus_begin[bus + 1]
            best, chosen, giver = -1, -1, -1
            for item in range(items):
                gain, need, sender = 0, 0, -1
                for at in range(begin, end):
                    node = members[at]
                    if came[node, item] < 0:
                        if not one_port or accepted[node] < step:
                            gain += 1
                            need = max(need, lacking[node])
                    # Items received in this step, over another bus, can be sent in the next one.
                    elif came[node, item] == step or (one_port and sent[node] == step):
                        continue
                    elif sender < 0 or lacking[node] < lacking[sender]:
                        sender = node
                if gain == 0 or sender < 0:
                    continue
                noise = draw32(int(seed), int(bus * items + item), int(step), 23) & 0xFF
                # If only one member receives the item, the number of members without it is
                # irrelevant.
                value = need if single else gain
                # Gain first; among equal gains a rare item, since it has the fewest senders later.
                key = (value << 32) - (holders[item] << 8) + noise
                if key > best:
                    best, chosen, giver = key, item, sender
            if chosen < 0:
                continue
            # A single receiver is the member that lacks most items.
            taker = -1
            for at in range(begin, end):
                node = members[at]
                open_ = came[node, chosen] < 0 and (not one_port or accepted[node] < step)
                if open_ and (taker < 0 or lacking[node] > lacking[taker]):
                    taker = node
            for at in range(begin, end):
                node = members[at]
                open_ = came[node, chosen] < 0 and (not one_port or accepted[node] < step)
                if not open_ or (single and node != taker):
                    continue
                came[node, chosen], accepted[node] = step, step
                lacking[node] -= 1
                holders[chosen] += 1
                rows[done, 0], rows[done, 1], rows[done, 2] = step, giver, node
                rows[done, 3], rows[done, 4] = chosen, bus
                done += 1
            sent[giver] = step
        if done == before:
            break
    return done
