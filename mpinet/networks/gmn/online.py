"""Online repair: the node before a dead one rewrites the list of tokens (docs/papers/gmn, 5.1).

The dead node is known to its neighbours only: a node asks for it where it is the next one.
"""

from __future__ import annotations

import numpy as np

from mpinet.compiled import inlined, rule
from mpinet.networks.gmn.detours import around_one_node, dead_at, go_round
from mpinet.networks.gmn.parameters import MOST, NO_TOKEN, behind
from mpinet.networks.gmn.routing import decide, drop_token, next_token, start, write_list
from mpinet.networks.gmn.walk import ROWS, TOKENS, erase_loops
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology


def online_routing(topology: Topology) -> Routing:
    """The paper's routing, repaired on the way where a node is dead."""
    return around_one_node("online", topology, start, decide_online)


@rule
def decide_online(node, header, params):
    """Take the hop of the first token; repair the path first if it crosses the dead node next."""
    token = next_token(header, params)
    if token != NO_TOKEN and behind(node, token, params) == params[dead_at(params)]:
        repair(node, header, params)
    return decide(node, header, params)


@inlined
def repair(node, header, params):
    """Put the detour in the place of the first two tokens and erase loops in what is left."""
    room = params[MOST] + params[dead_at(params) + 1]
    scratch = np.empty((ROWS + 1, room), np.int64)
    tokens, count = scratch[TOKENS], 0
    while next_token(header, params) != NO_TOKEN:
        tokens[count] = next_token(header, params)
        count += 1
        drop_token(header, params)
    if count < 2:
        write_list(tokens, count, header, params)
        return
    count = go_round(tokens, count, 0, scratch[ROWS], params)
    count = erase_loops(node, ROWS, count, scratch, params)
    write_list(scratch[ROWS], count, header, params)
