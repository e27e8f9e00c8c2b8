"""Total exchange over links: items go over fewest hops, those with the farthest target first.

With one port a step is a largest matching of senders and receivers, the busiest senders first; with
all ports every node matches its links with items. Every rank looks at the whole network and finds
the same timetable.
"""

from __future__ import annotations

import numpy as np

from mpinet.arrays import Ints, Rows, Shorts
from mpinet.compiled import inlined, kernel
from mpinet.draws import draw32
from mpinet.errors import Disconnected
from mpinet.networks.adjacency import Adjacency
from mpinet.networks.topology import Topology
from mpinet.programs.greedy import (
    FREE,
    Search,
    Task,
    best_rows,
    plan_pairs,
    plan_ports,
    take_greedily,
)
from mpinet.programs.schedules.timetable import Timetable

AWAY = -1
"""In place of the distance of a target that is not reached."""

NONE = -1
"""The end of a list of items."""

STARTS, LOOKS = 32, 2**28
"""How often a search may begin, and nodes' looks at targets that all starts may take."""


def farthest_timetable(topology: Topology, one_port: bool, bound: int) -> Timetable:
    """Find a total exchange that takes few steps.

    Parameters
    ----------
    topology : Topology
        A connected network of links.
    one_port : bool
        Whether nodes send and accept one message a step; else one over each link.
    bound : int
        Steps that nothing beats: there the search stops.

    Raises
    ------
    Disconnected
        Some processor cannot be reached.
    """
    lists, hosts = Adjacency.of(topology), topology.hosts
    distance = np.full((topology.size, hosts), AWAY, np.int64)
    measure_all(lists.begin, lists.others, distance)
    if (distance < 0).any():
        raise Disconnected(f"{topology.name} is not connected: nothing can be exchanged.")
    wanted, sources = int(distance[:hosts].sum()), np.repeat(np.arange(hosts), hosts)
    # A row is a hop, and each counts, to switches, too.
    task = Task(lists.begin, lists.others, sources, distance, topology.size, wanted, one_port)
    looks = topology.size * hosts * max(bound, 1)
    search = FARTHEST_OF_PAIRS if one_port else FARTHEST
    best = best_rows(search, task, np.empty((wanted, 4), np.int64), looks, bound)
    step, sender, receiver, chunk = np.ascontiguousarray(best.T)
    ports = "one" if one_port else "all"
    return Timetable("exchange", hosts, step, sender, receiver, chunk, ports=ports)


@kernel
def measure_all(begin: Ints, others: Shorts, distance: Rows) -> None:
    """Write the hops from every node to every processor."""
    size, hosts = distance.shape
    queue = np.empty(size, np.int64)
    for target in range(hosts):
        head, tail = 0, 1
        queue[0] = target
        distance[target, target] = 0
        while head < tail:
            node = queue[head]
            head += 1
            for at in range(begin[node], begin[node + 1]):
                other = others[at]
                if distance[other, target] < 0:
                    distance[other, target] = distance[node, target] + 1
                    queue[tail] = other
                    tail += 1


@inlined
def begun_farthest(task):
    """Make lists of the items at each node, one for each target, and what they add up to.

    ``first[node, target]`` is an item, ``following[item]`` the next one, -1 the end. `waiting` has
    the items at each node, `work` their hops. `goes` is where one port's items want to go.
    """
    size, hosts = task.distance.shape
    first, following = (
        np.full((size, hosts), NONE, np.int64),
        np.full(hosts * hosts, NONE, np.int64),
    )
    waiting, work = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for item in range(task.sources.size):
        source, target = task.sources[item], item % hosts
        if source != target:
            following[item], first[source, target] = first[source, target], item
            waiting[source] += 1
            work[source] += task.distance[source, target]
    return first, following, waiting, work, np.empty(task.others.size, np.int64)


@inlined
def pop_item(task, state, node, at, target):
    """Take the first item for a target, which goes over a link of its sender."""
    first, following = state[0], state[1]
    item = first[node, target]
    first[node, target] = following[item]
    return node, task.others[at], item


@inlined
def farthest_first(task, state, seed, step, node):
    """The targets of a node's items, the farthest first."""
    hosts, count = task.distance.shape[1], 0
    if state[2][node] == 0:
        return np.empty(0, np.int64)
    keys, targets = np.empty(hosts, np.int64), np.empty(hosts, np.int64)
    for target in range(hosts):
        if state[0][node, target] != NONE:
            noise = draw32(seed, int(node * hosts + target), int(step), 12) & 0xFFFF
            keys[count] = -(task.distance[node, target] << 16 | noise)
            targets[count] = target
            count += 1
    return targets[np.argsort(keys[:count])]


@inlined
def distances_of(task, state):
    """Hops from nodes to processors."""
    return task.distance


@inlined
def leads_nearer(distance, step, node, other, target):
    """Whether a way of fewest hops begins with another node."""
    return distance[other, target] == distance[node, target] - 1


@inlined
def items_for(task, state, node, target, free):
    """How many items wait for a target, as far as links are free for them."""
    count, item = 0, state[0][node, target]
    while item != NONE and count < free:
        count += 1
        item = state[1][item]
    return count


@inlined
def nearer_links(task, state, seed, step):
    """Links with an item to carry, of each node those first whose item goes farthest.

    Every link would carry the farthest of the items that it brings nearer. The busiest senders
    choose first: by the hops that their items have left, with odd seeds by the items.
    """
    waiting, work, goes = state[2], state[3], state[4]
    others, distance = task.others, task.distance
    links, value = np.empty(goes.size, np.int64), np.empty(goes.size, np.int64)
    keys = np.empty(waiting.size, np.int64)
    goes[:] = FREE
    for node in range(waiting.size):
        begin, end = task.begin[node], task.begin[node + 1]
        free = end - begin
        for target in farthest_first(task, state, seed, step, node):
            if free == 0:
                break
            for at in range(begin, end):
                if goes[at] == FREE and leads_nearer(distance, step, node, others[at], target):
                    goes[at] = target
                    free -= 1
        noise = draw32(seed, int(node), int(step), 13) & 0xFF
        keys[node] = -((work[node] if seed & 1 == 0 else waiting[node]) << 8 | noise)
        for at in range(begin, end):
            key, place = -1, at
            if goes[at] != FREE:
                noise = draw32(seed, int(at), int(step), 14) & 0xFFFF
                key = task.distance[node, goes[at]] << 16 | noise
            while place > begin and value[place - 1] < key:
                value[place], links[place] = value[place - 1], links[place - 1]
                place -= 1
            value[place], links[place] = key, at
    return links, value >= 0, keys


@inlined
def load_farthest(task, state, seed, step, links, mine, carries):
    """Let the links carry what they would."""
    goes = state[4]
    for node in range(mine.size):
        if mine[node] >= 0:
            carries[links[mine[node]]] = goes[links[mine[node]]]


@inlined
def put_items(task, state, rows):
    """Put the items of a step's rows where they have come to, in front of their targets' lists."""
    first, following, waiting, work, _ = state
    distance = task.distance
    for row in range(rows.shape[0]):
        sender, node, item = rows[row, 1], rows[row, 2], rows[row, 3]
        target = item % distance.shape[1]
        waiting[sender] -= 1
        work[sender] -= distance[sender, target]
        if node != target:
            following[item], first[node, target] = first[node, target], item
            waiting[node] += 1
            work[node] += distance[node, target]


HANDS = {"begun": begun_farthest, "send": pop_item, "receive": put_items}

FARTHEST = Search(
    take_greedily.bind(
        "take_farthest",
        plan=plan_ports.bind(
            "plan_farthest",
            ranked=farthest_first,
            looked_up=distances_of,
            serves=leads_nearer,
            copies=items_for,
            FREE_FIRST=False,
        ),
        **HANDS,
    ),
    STARTS,
    LOOKS,
)

FARTHEST_OF_PAIRS = Search(
    take_greedily.bind(
        "take_farthest_of_pairs",
        plan=plan_pairs.bind("plan_farthest_pairs", offers=nearer_links, load=load_farthest),
        **HANDS,
    ),
    STARTS,
    LOOKS,
)
