"""Detours around one dead node, one for every two of its links (docs/papers/gmn, 5).

The rules that know a dead node f have the topology's parameters and behind them f, the length of a
row, and for every (port of f towards the node before, port of f towards the node behind) a row: the
number of tokens, then these.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule, inlined
from mpinet.errors import UsageError
from mpinet.networks.gmn.parameters import (
    DOWN,
    JUMPS,
    SECTOR,
    TYPES,
    UP,
    inverse,
    token_at,
)
from mpinet.networks.gmn.routing import decide, listed_routing, port_of, start
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology

PORTS = 4


def around_one_node(
    name: str, topology: Topology, start_around: Rule, decide_around: Rule
) -> Routing:
    """The paper's routing, with other rules where a node is dead.

    Parameters
    ----------
    name : str
        The routing's name.
    topology : Topology
        The loops.
    start_around, decide_around : Rule
        The rules that know of a dead node.
    """

    def repaired(dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]) -> Routing:
        node = require_one_node(topology, dead, cut)
        params, longer = params_with_detours(topology, node)
        return listed_routing(
            name, topology, params, start_around, decide_around, longer, dead=(node,)
        )

    return listed_routing(name, topology, topology.params, start, decide, repaired=repaired)


def require_one_node(
    topology: Topology, dead: tuple[int, ...], cut: tuple[tuple[int, int], ...]
) -> int:
    """Return the one dead node; refuse anything else.

    Raises
    ------
    UsageError
        Something else is dead.
    """
    if cut or len(dead) != 1:
        raise UsageError(
            f"The routings online and planned of {topology.name} go around one dead node, not "
            f"around {len(dead)} nodes and {len(cut)} links (both directions counted)."
        )
    topology.require_node(dead[0])
    return dead[0]


def params_with_detours(topology: Topology, dead: int) -> tuple[Ints, int]:
    """The parameters of rules that know of a dead node, and the longest detour's length."""
    rows = [
        detour_tokens(topology, dead, before, behind)
        for before in range(PORTS)
        for behind in range(PORTS)
    ]
    longest = max(map(len, rows))
    table = np.zeros((len(rows), 1 + longest), np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: 1 + len(row)] = [len(row), *row]
    head = np.array([dead, 1 + longest])
    return np.concatenate([topology.params, head, table.ravel()]), longest


def detour_tokens(topology: Topology, dead: int, before: int, behind: int) -> list[int]:
    """The detour between the nodes behind two ports of a dead node; nothing if there are none."""
    source, target = topology.neighbor(dead, [before, behind]).tolist()
    if source < 0 or target < 0 or source == target:
        return []
    came: dict[int, tuple[int, int]] = {source: (-1, -1)}
    queue = deque([source])
    while (node := queue.popleft()) != target:
        for port, other in enumerate(topology.neighbor(node, range(PORTS)).tolist()):
            if other >= 0 and other != dead and other not in came:
                came[other] = node, port
                queue.append(other)
    tokens = []
    while node != source:
        node, port = came[node]
        tokens.append(token_of(node, port, topology.params))
    return tokens[::-1]


@inlined
def token_of(node, port, params):
    """The token that names a wired port of a node of the loops."""
    return port if port < UP else token_at(node % params[SECTOR], params) + (port == DOWN)


@inlined
def dead_at(params):
    """Return the index of the dead node in the parameters."""
    return JUMPS + 2 * params[SECTOR] + params[TYPES]


@inlined
def go_round(tokens, count, place, detoured, params):
    """Replace the tokens to the dead node (at `place`) and from it by the detour.

    Writes the list of tokens to `detoured` and returns their number.
    """
    at = dead_at(params)
    dead = params[at]
    before = port_of(dead, inverse(tokens[place]), params)
    behind = port_of(dead, tokens[place + 1], params)
    row = at + 2 + (PORTS * before + behind) * params[at + 1]
    length = params[row]
    for at in range(place):
        detoured[at] = tokens[at]
    for at in range(length):
        detoured[place + at] = params[row + 1 + at]
    for at in range(place + 2, count):
        detoured[at + length - 2] = tokens[at]
    return count + length - 2
