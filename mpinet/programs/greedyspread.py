"""Items from where they are to all processors, over links or busses: what fewest have goes first.

``rarest`` (links, all ports): every node takes from its neighbours what fewest have. ``matched``
(links, one port): receivers take partners in the order of how much they lack, processors before
switches, and then from each what fewest have. Over busses each bus takes, in an order that is
drawn, an item that most of its members lack, of several the one that fewest have, from a member
that has it; with one port only members count that accept nothing else, and only a member sends that
sends nothing else.
"""

from __future__ import annotations

import numpy as np

from mpinet.arrays import Flags, Ints
from mpinet.compiled import inlined
from mpinet.draws import draw32
from mpinet.errors import Disconnected
from mpinet.networks.adjacency import Adjacency
from mpinet.networks.topology import Topology
from mpinet.programs.buspasses import Busses
from mpinet.programs.greedy import (
    BUS,
    FREE,
    Search,
    Task,
    best_rows,
    plan_pairs,
    plan_ports,
    take_greedily,
)
from mpinet.programs.schedules.timetable import Timetable

LACKS = -1
"""In place of the step in which an item came."""


def gossip_timetable(topology: Topology, one_port: bool, bound: int) -> Timetable:
    """Find a gossip that takes few steps.

    Parameters
    ----------
    topology : Topology
        A connected network of links, with all ports without switches; or of busses.
    one_port : bool
        Whether a node sends and accepts one message a step.
    bound : int
        Steps that nothing beats: there the search stops.

    Raises
    ------
    Disconnected
        Some processor cannot be reached over busses.
    """
    sources = np.arange(topology.hosts)
    rows = spread_rows(topology, sources, bound, one_port)
    columns = np.ascontiguousarray(rows[needed_rows(rows, topology, sources)].T)
    step, sender, receiver, chunk = columns[:4]
    bus = None if topology.links else columns[BUS]
    ports = "one" if one_port else "all"
    return Timetable("gossip", topology.hosts, step, sender, receiver, chunk, bus=bus, ports=ports)


def spread_rows(
    topology: Topology, sources: Ints, bound: int, one_port: bool, single: bool = False
) -> Ints:
    """Bring items from where they are to all processors, in few steps.

    Parameters
    ----------
    topology, bound, one_port
        As for `gossip_timetable`; switches take what they can get.
    sources : ndarray of int64, shape (items,)
        The processor that has each item first.
    single : bool
        Whether one member alone takes what a bus carries, so that all can be turned round.

    Returns
    -------
    ndarray of int64, shape (rows, 4), over busses (rows, 5)
        Step, sender, receiver, item and bus of every message, by step.

    Raises
    ------
    Disconnected
        Some processor cannot be reached over busses.
    """
    items, counted = len(sources), topology.hosts
    if topology.links:
        lists = Adjacency.of(topology)
        begin, others = lists.begin, lists.others
        search = MATCHED if one_port else RAREST
    else:
        busses = Busses.of(topology)
        begin, others = busses.bus_begin, busses.members.astype(np.int32)
        search = OVER_BUSSES
    nowhere = np.empty((0, 0), np.int64)
    wanted = items * (counted - 1)
    task = Task(begin, others, sources, nowhere, counted, wanted, one_port, single)
    rows = np.empty((topology.size * items, BUS if topology.links else BUS + 1), np.int64)
    best = best_rows(search, task, rows, len(others) * items * max(bound, 1), bound)
    if not topology.links and len(best) < wanted:
        raise Disconnected(f"{topology.name} is not connected: nobody can tell all others.")
    return best


def needed_rows(rows: Ints, topology: Topology, sources: Ints) -> Flags:
    """Which rows bring a processor something, or a switch what it sends on, shape (rows,)."""
    if topology.size == topology.hosts:
        return np.ones(len(rows), bool)
    needed = np.zeros(len(rows), bool)
    onward = np.zeros((topology.size, len(sources)), bool)
    onward[: topology.hosts] = True
    for place in range(len(rows) - 1, -1, -1):
        sender, receiver, item = rows[place, 1:4]
        needed[place] = onward[receiver, item]
        onward[sender, item] |= needed[place]
    return needed


@inlined
def arrivals(task, size):
    """When each node got each item (0 = had it first), and how many nodes have each."""
    came = np.full((size, task.sources.size), LACKS, np.int32)
    for item in range(task.sources.size):
        came[task.sources[item], item] = 0
    return came, np.ones(task.sources.size, np.int64)


@inlined
def pulled(task, state, node, at, item):
    """A message over a link of its receiver."""
    return task.others[at], node, item


@inlined
def begun_rarest(task):
    """When items came, and how many nodes have each."""
    return arrivals(task, task.begin.size - 1)


@inlined
def rarest_first(task, state, seed, step, node):
    """What a node lacks, what fewest have first."""
    came, holders = state
    keys, lacking, count = np.empty(holders.size, np.int64), np.empty(holders.size, np.int64), 0
    for item in range(holders.size):
        if came[node, item] == LACKS:
            noise = draw32(seed, int(node * holders.size + item), int(step), 8) & 0xFFFF
            keys[count], lacking[count] = holders[item] << 16 | noise, item
            count += 1
    return lacking[np.argsort(keys[:count])]


@inlined
def arrivals_of(task, state):
    """When items came."""
    return state[0]


@inlined
def can_bring(came, step, node, other, item):
    """Whether a neighbour has had an item before this step."""
    return came[other, item] != LACKS and came[other, item] < step


@inlined
def will_come(task, state, step, node, item):
    """Count an item as the node's from now on, so that others take rarer ones."""
    came, holders = state
    came[node, item] = step
    holders[item] += 1


RAREST = Search(
    take_greedily.bind(
        "take_rarest",
        begun=begun_rarest,
        plan=plan_ports.bind(
            "plan_rarest",
            ranked=rarest_first,
            looked_up=arrivals_of,
            serves=can_bring,
            promise=will_come,
        ),
        send=pulled,
    ),
    starts=8,
    looks=2**30,
)


@inlined
def bit_of(item):
    """An item's bit in its word."""
    return np.uint64(1) << np.uint64(item & 63)


@inlined
def begun_matched(task):
    """Who has what, a bit each; how much each node lacks, and how many have each item.

    Bits, because the search asks of every link in every step whether it can bring anything.
    """
    size, items = task.begin.size - 1, task.sources.size
    held = np.zeros((size, (items + 63) >> 6), np.uint64)
    lacking, holders = np.full(size, items), np.ones(items, np.int64)
    for item in range(items):
        held[task.sources[item], item >> 6] |= bit_of(item)
        lacking[task.sources[item]] -= 1
    return held, lacking, holders


@inlined
def news(task, state, seed, step):
    """Links over which the neighbour can tell something new; who lacks most chooses first."""
    held, lacking, _ = state
    begin, others = task.begin, task.others
    useful, keys = np.zeros(others.size, np.bool_), np.empty(lacking.size, np.int64)
    for node in range(lacking.size):
        for at in range(begin[node], begin[node + 1]):
            for word in range(held.shape[1] if lacking[node] > 0 else 0):
                if held[others[at], word] & ~held[node, word]:
                    useful[at] = True
                    break
        noise = draw32(seed, int(node), int(step), 9) & 0xFFFF
        keys[node] = -(((int(node < task.counted) << 24) + lacking[node]) << 16 | noise)
    return np.arange(others.size), useful, keys


@inlined
def load_rarest(task, state, seed, step, links, mine, carries):
    """Take what fewest processors have of what the partner has and the node lacks.

    What one node takes counts at once for the next; who begins is drawn.
    """
    held, _, holders = state
    first = draw32(seed, int(step), 0, 10)
    for turn in range(mine.size):
        node = (turn + first) % mine.size
        if mine[node] < 0:
            continue
        at = links[mine[node]]
        sender, rarest, fewest = task.others[at], -1, 0
        for item in range(holders.size):
            if held[sender, item >> 6] & ~held[node, item >> 6] & bit_of(item):
                noise = draw32(seed, int(node * holders.size + item), int(step), 11) & 0xFFFF
                key = holders[item] << 16 | noise
                if rarest < 0 or key < fewest:
                    rarest, fewest = item, key
        holders[rarest] += node < task.counted
        carries[at] = rarest


@inlined
def hold(task, state, rows):
    """Set the items' bits."""
    held, lacking, _ = state
    for row in range(rows.shape[0]):
        node, item = rows[row, 2], rows[row, 3]
        held[node, item >> 6] |= bit_of(item)
        lacking[node] -= 1


MATCHED = Search(
    take_greedily.bind(
        "take_matched",
        begun=begun_matched,
        plan=plan_pairs.bind("plan_matched", offers=news, load=load_rarest),
        send=pulled,
        receive=hold,
    ),
    starts=2**10,
    looks=2**29,
)


@inlined
def begun_over_busses(task):
    """As of `begun_rarest`; what nodes lack, when they sent and accepted last; who sends on a bus.

    What comes over a bus counts at once: the next bus of the same step sees it.
    """
    size = task.counted
    came, holders = arrivals(task, size)
    lacking = np.full(size, task.sources.size)
    for source in task.sources:
        lacking[source] -= 1
    sent, accepted = np.zeros(size, np.int64), np.zeros(size, np.int64)
    return came, holders, lacking, sent, accepted, np.empty(task.begin.size - 1, np.int64)


@inlined
def can_take(task, state, step, node, item):
    """Whether a member lacks an item and accepts one."""
    came, accepted = state[0], state[4]
    return came[node, item] == LACKS and (not task.one_port or accepted[node] < step)


@inlined
def can_give(task, state, step, node, item):
    """Whether a member has had an item before this step, and sends nothing else."""
    when, sent = state[0][node, item], state[3]
    return when != LACKS and when < step and (not task.one_port or sent[node] < step)


@inlined
def plan_busses(task, state, seed, step, carries, turns):
    """Let one bus after the other, as drawn, carry its best item from the member that lacks least.

    With `single` an item is worth what its neediest taker lacks, who takes it; else it is worth
    its takers.
    """
    came, holders, lacking, sent, accepted, givers = state
    keys = np.empty(turns.size, np.int64)
    for bus in range(turns.size):
        keys[bus] = draw32(seed, int(bus), int(step), 22) & 0xFFFF
    turns[:] = np.argsort(keys)
    for bus in turns:
        begin, end = task.begin[bus], task.begin[bus + 1]
        best, chosen, giver = -1, -1, -1
        for item in range(holders.size):
            gain, need, sender = 0, 0, -1
            for at in range(begin, end):
                node = task.others[at]
                if can_take(task, state, step, node, item):
                    gain += 1
                    need = max(need, lacking[node])
                elif can_give(task, state, step, node, item) and (
                    sender < 0 or lacking[node] < lacking[sender]
                ):
                    sender = node
            if gain == 0 or sender < 0:
                continue
            noise = draw32(seed, int(bus * holders.size + item), int(step), 23) & 0xFF
            key = ((need if task.single else gain) << 32) - (holders[item] << 8) + noise
            if key > best:
                best, chosen, giver = key, item, sender
        if chosen < 0:
            continue
        neediest = -1
        for at in range(begin, end):
            node = task.others[at]
            if can_take(task, state, step, node, chosen):
                carries[at] = chosen
                if neediest < 0 or lacking[node] > lacking[task.others[neediest]]:
                    neediest = at
        if task.single:
            carries[begin:end] = FREE
            carries[neediest] = chosen
        for at in range(begin, end):
            if carries[at] != FREE:
                node = task.others[at]
                came[node, chosen], accepted[node] = step, step
                lacking[node] -= 1
                holders[chosen] += 1
        givers[bus], sent[giver] = giver, step


@inlined
def heard(task, state, bus, at, item):
    """A message over a bus to one of its members."""
    return state[5][bus], task.others[at], item


OVER_BUSSES = Search(
    take_greedily.bind("take_over_busses", begun=begun_over_busses, plan=plan_busses, send=heard),
    starts=2**7,
    looks=2**26,
)
