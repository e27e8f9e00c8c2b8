"""A greedy search for timetables that look at the whole network, a step after the other.

In every step a *plan* says what each channel carries; what it carries is written down as rows, and
the next step begins with what has come. Two plans exist for links: with all ports every node in
turn gives its links what it ranks highest (`plan_ports`), with one port a largest matching says who
sends to whom (`plan_pairs`). A search is this loop with its own functions bound in: which wants
there are, in which order, and which link serves them (`greedyspread`, `farthest`).

Every start draws its noise from another seed. Every rank finds the same timetable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mpinet.arrays import Ints, Rows, Shorts
from mpinet.compiled import Kernel, inlined, kernel
from mpinet.draws import draw32
from mpinet.programs.matching import match

FREE = -1
"""In place of what a channel carries."""

BUS = 4
"""The column of a row that has its bus: after step, sender, receiver and item."""

FREE_FIRST = True
"""Whether a free link is taken before one that gets free when what it carries moves."""


class Task(NamedTuple):
    """What is to be brought where, and over what.

    Attributes
    ----------
    begin, others : ndarray
        The neighbours of every node, or the members of every bus: those of number k are
        ``others[begin[k]:begin[k + 1]]``.
    sources : ndarray of int64
        The processor that has each item first.
    distance : ndarray of int64, shape (N, processors)
        Hops from every node to every processor; without rows where no search asks for them.
    counted : int
        Only what the first so many nodes receive is wanted; the others are switches.
    wanted : int
        How many such messages it takes.
    one_port : bool
        Whether a node sends and accepts one message a step.
    single : bool
        Whether one member alone takes what a bus carries.
    """

    begin: Ints
    others: Shorts
    sources: Ints
    distance: Rows
    counted: int
    wanted: int
    one_port: bool
    single: bool = False


class Search(NamedTuple):
    """A bound `take_greedily`, and how often it may begin.

    Attributes
    ----------
    take : Kernel
        Writes the rows of one start.
    starts : int
        Starts of a small network, with the seeds 0, 1, ..; the best of them counts.
    looks : int
        What all starts may look at, as far as the bound tells that before.
    """

    take: Kernel
    starts: int
    looks: int


def best_rows(search: Search, task: Task, rows: Rows, looks: int, bound: int) -> Rows:
    """Return the rows of the start that takes the fewest steps, the first of several.

    Parameters
    ----------
    search, task
        What begins again and again, and for what.
    rows : ndarray of int64, shape (most, columns)
        Room for the rows of a start: step, sender, receiver and item; over busses the bus, too.
    looks : int
        What a start of as many steps as the bound looks at.
    bound : int
        Steps that nothing beats: there the search stops.
    """
    best = rows[:0]
    for seed in range(max(1, min(search.starts, search.looks // max(1, looks)))):
        count = search.take(task, seed, rows) if task.wanted else 0
        if not len(best) or rows[count - 1, 0] < best[-1, 0]:
            best = rows[:count].copy()
        if not len(best) or best[-1, 0] <= bound:
            break
    return best


# A search binds functions of its own to the names below. Those that it may leave out do nothing.


@inlined
def begun(task):
    """Make what the search keeps: a tuple of arrays that the other functions unpack."""
    return ()


@inlined
def plan(task, state, seed, step, carries, turns):
    """Write what the channels carry; `turns` may say in which order their rows are written."""


@inlined
def send(task, state, group, at, want):
    """Take what channel `at` carries from who sends it: the sender, the receiver, the item."""
    return 0, 0, 0


@inlined
def receive(task, state, rows):
    """Let the receivers of a step's rows have the items."""


@kernel
def take_greedily(task: Task, seed: int, rows: Rows) -> int:
    """Write rows (step, sender, receiver, item[, bus]), by step; how many there are."""
    state = begun(task)
    carries, turns = np.empty(task.others.size, np.int64), np.arange(task.begin.size - 1)
    count, before, step, left = 0, -1, 0, task.wanted
    while left > 0 and count > before:  # a step that brings nothing is followed by no better one
        before = count
        step += 1
        carries[:] = FREE
        plan(task, state, int(seed), step, carries, turns)
        for group in turns:
            for at in range(task.begin[group], task.begin[group + 1]):
                if carries[at] == FREE:
                    continue
                sender, receiver, item = send(task, state, group, at, carries[at])
                rows[count, 0], rows[count, 1] = step, sender
                rows[count, 2], rows[count, 3] = receiver, item
                if rows.shape[1] > BUS:
                    rows[count, BUS] = group
                left -= receiver < task.counted
                count += 1
        # Only now: what came first would else be sent on in the step in which it came.
        receive(task, state, rows[before:count])
    return count


@inlined
def ranked(task, state, seed, step, node):
    """List what a node wants its links to carry, the most urgent first."""
    return np.empty(0, np.int64)


@inlined
def looked_up(task, state):
    """The table that `serves` reads, once a step: to unpack a tuple counts references."""
    return np.empty((0, 0), np.int64)


@inlined
def serves(table, step, node, other, want):
    """Whether a node's link to another can carry what the node wants."""
    return False


@inlined
def copies(task, state, node, want, free):
    """How many messages, at most as many as links are free, a want is."""
    return 1


@inlined
def promise(task, state, step, node, want):
    """Note that a link of the node will carry what it wants."""


@inlined
def plan_ports(task, state, seed, step, carries, turns):
    """Match every node's links with what it wants; who begins is drawn."""
    begin, others, table = task.begin, task.others, looked_up(task, state)
    first = draw32(seed, int(step), 0, 7)
    for turn in range(turns.size):
        node = (turn + first) % turns.size
        free = begin[node + 1] - begin[node]
        for want in ranked(task, state, seed, step, node):
            if free == 0:
                break
            for _ in range(copies(task, state, node, want, free)):
                link = cleared_link(begin, others, table, step, carries, node, want)
                if link < 0:
                    break
                carries[link] = want
                free -= 1
                promise(task, state, step, node, want)


@inlined
def cleared_link(begin, others, table, step, carries, node, want):
    """A link that serves and is free, or gets free when what it carries moves; -1 = none.

    It is one augmenting move, not a largest matching: longer ones are rare, and cost more.
    """
    if FREE_FIRST:
        link = free_link(begin, others, table, step, carries, node, want)
        if link >= 0:
            return link
    for at in range(begin[node], begin[node + 1]):
        if not serves(table, step, node, others[at], want):
            continue
        if carries[at] == FREE:
            return at
        instead = free_link(begin, others, table, step, carries, node, carries[at])
        if instead >= 0:
            carries[instead] = carries[at]
            return at
    return -1


@inlined
def free_link(begin, others, table, step, carries, node, want):
    """The first free link that serves, -1 = none."""
    for at in range(begin[node], begin[node + 1]):
        if carries[at] == FREE and serves(table, step, node, others[at], want):
            return at
    return -1


@inlined
def offers(task, state, seed, step):
    """Say which links are of use: the links of each node in its order, which of these, and keys.

    The node with the lowest key takes a partner first.
    """
    return np.empty(0, np.int64), np.empty(0, np.bool_), np.empty(0, np.int64)


@inlined
def load(task, state, seed, step, links, mine, carries):
    """Write what goes over ``links[mine[node]]``; nodes without a partner have -1 in `mine`."""


@inlined
def plan_pairs(task, state, seed, step, carries, turns):
    """Match nodes that send with nodes that receive."""
    size = turns.size
    links, useful, keys = offers(task, state, seed, step)
    mine, theirs = np.empty(size, np.int64), np.empty(size, np.int64)
    seen, queue, came = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    partners, order = task.others[links], np.argsort(keys)
    match(task.begin, partners, useful, order, mine, theirs, seen, queue, came)
    load(task, state, seed, step, links, mine, carries)
