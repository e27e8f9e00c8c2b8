"""UGAL: at the first router a message takes the minimal route or a route through a random node.

Valiant's route through a random node is right for the worst traffic and twice too long for the
best. UGAL compares the queues of both routes and takes the one with the shorter expected delay
(Singh 2005). UGAL-L knows the queues of its own router. UGAL-G knows the queues of all routers,
which bounds the gain from more information.

The class of a channel shows later nodes which route was chosen: the first classes lead to the
random node, the other classes to the target. Dependencies have no cycle if the base routing, which
finds both routes, has classes without cycles.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from mpinet.compiled import Rule, inlined, open_part, rule
from mpinet.networks.adaptive import ALL_QUEUES, CLASS, PORT, QUEUES
from mpinet.networks.classes import ChannelClasses
from mpinet.networks.routing import RoutedTopology, Routing
from mpinet.networks.shortest import table_routing
from mpinet.networks.valiant import (
    CLASS_AT,
    FIRST_AT,
    WIRING_AT,
    WORDS,
    drawn_node,
    first_classes,
)
from mpinet.networks.valiant import CLASSES as FIRST

EDGE = FIRST_AT
"""Place in the parameters of the first node that forwards; the other places are as in `valiant`."""

BASE_AT = FIRST_AT + 1
"""Place in the parameters where the base routing's own parameters begin."""

ALL_HOPS = 1 << 62
"""A number of hops larger than the length of any route."""


def ugal_local(topology: RoutedTopology, seed: int = 0) -> Routing:
    """Return UGAL-L: for each route it multiplies the queue of the first channel by the hops.

    Parameters
    ----------
    topology : Topology
        The network; of links.
    seed : int
        Seed of the draws, which are keyed by source, target and the message's number.
    """
    return by_queues(topology, seed, "ugal-l", choose_by_own, QUEUES)


def ugal_global(topology: RoutedTopology, seed: int = 0) -> Routing:
    """Return UGAL-G: for each route it adds the queues of all channels; parameters as in UGAL-L."""
    return by_queues(topology, seed, "ugal-g", choose_by_all, ALL_QUEUES)


def by_queues(
    topology: RoutedTopology,
    seed: int,
    name: str,
    choose: Rule,
    sees: int,
    candidates: Rule | None = None,
    **made: Any,
) -> Routing:
    """Return a routing that chooses between minimal and nonminimal routes by queues.

    Parameters
    ----------
    topology, seed
        As in `ugal_local`.
    name : str
        Name of the routing.
    choose : Rule
        `choose_by_own` or `choose_by_all`.
    sees : int
        Values that `choose` gets.
    candidates : Rule, optional
        Candidates with their own classes. Default: UGAL's candidates, by the classes of the base
        routing.
    **made
        Fields of the `Routing` that belong to these candidates.
    """
    base = stateless_base(topology)
    # In networks with switches, processors forward nothing. The first switch decides, because
    # queues of both routes exist there.
    drawn, edge = topology.waypoints, topology.hosts if topology.hosts < topology.size else 0
    own = [topology.size, topology.ports, base.words, seed, len(drawn), drawn.start, 0]
    wiring_at = BASE_AT + len(base.params)
    own += [wiring_at, wiring_at + len(topology.params), edge]
    params = np.concatenate([own, base.params, topology.params]).astype(np.int64)
    wired = {"neighbor": topology.neighbor.rule}
    ways = {"base_decide": base.decide}
    draw = drawn_node
    if topology.waypoint is not None:
        draw = draw.bind(f"{topology.family}.drawn_node", waypoint=topology.waypoint)
    label = f"{topology.neighbor.rule.name}.{base.name}"

    def header_bits(source: int, target: int) -> int:
        """Return the bits of the base routing's header and of the drawn node."""
        return base.header_bits(source, target) + max(1, (topology.size - 1).bit_length())

    # The base routing's classes may have to be counted first, which takes a measurement. Until then
    # the routing has no classes of its own.
    unsettled = Routing(
        name=name,
        decide=decide.bind(f"ugal.decide_{label}", **ways),
        start=start.bind(
            f"ugal.start_{label}", **wired, **ways, base_start=base.start, drawn_node=draw
        ),
        choose=choose.bind(f"{choose.name}_{label}", **wired, **ways),
        candidates=candidates,
        params=params,
        header_bits=header_bits,
        words=2 * base.words + 1,
        shortest=False,
        stateless=False,
        numbered=True,
        outcomes=len(drawn),
        sees=sees,
        eager=True,
        **made,
    )
    if candidates is not None:
        return unsettled

    def settle(classes: ChannelClasses) -> Routing:
        """Return the routing with the classes of the base routing, once these are counted."""
        first = first_classes(topology, classes)
        whole = np.concatenate([params, classes.params])
        # Candidates' classes show later nodes which route was taken. The header needs no bit for
        # the choice.
        whole[FIRST] = first
        offered = both_ways.bind(
            f"ugal.both_ways_{label}_{classes.rule.name}",
            **wired, **ways, base_class=classes.rule,
        )  # fmt: skip
        return replace(
            unsettled,
            candidates=offered,
            params=whole,
            classes=first + classes.count,
            base=None,
            settle=None,
        )

    return replace(unsettled, candidates=both_ways, classes=0, base=base, settle=settle)


def stateless_base(topology: RoutedTopology) -> Routing:
    """Return the first routing of the network that decides by the target alone, or a table."""
    # Both routes share one header layout and are computed at any node. A base routing that rewrites
    # its header could not be called twice.
    for make in topology.routings.values():
        routing = make()
        if routing.stateless:
            return routing
    return table_routing(topology)


# The network's wiring, and the rules of the base routing; `bind` inserts these.
neighbor = base_start = base_decide = base_class = open_part


@inlined
def onward(node, header, params):
    """Return the base routing's decision."""
    return base_decide(node, header, params[BASE_AT : params[WIRING_AT]])


@inlined
def behind(node, port, params):
    """Return the node behind a port."""
    return neighbor(node, port, params[params[WIRING_AT] : params[CLASS_AT]])


# A header holds the base routing's header to the target, its header to the drawn node, and the
# drawn node (-1 if a message has only the minimal route). Before `start` the last word is the
# message's number.
@rule
def start(source, target, header, params):
    """Draw a node, and write the headers of both routes."""
    words, own = params[WORDS], params[BASE_AT : params[WIRING_AT]]
    middle = drawn_node(source, target, header[2 * words], params)
    base_start(source, target, header[:words], own)
    # The processor's only link leads to its router. If the drawn node is that router, both routes
    # are the same.
    if middle >= 0 and source < params[EDGE]:
        # A processor that does not forward always sends through its router.
        port = base_decide(source, header[:words], own)
        if port < 0 or behind(source, port, params) == middle:
            middle = -1
    header[2 * words] = middle
    if middle >= 0:
        base_start(source, middle, header[words : 2 * words], own)


@rule
def decide(node, header, params):
    """Return the base routing's port, if nothing is chosen."""
    return onward(node, header[: params[WORDS]], params)


@inlined
def sets_out(node, in_port, in_class, params):
    """Return whether a message is at its first node, or at the router of its processor.

    A message from a drawn processor arrives by a class of the route to the target.
    """
    if in_port < 0 or params[EDGE] == 0:
        return in_port < 0
    return in_class < params[FIRST] and behind(node, in_port, params) < params[EDGE]


@rule
def both_ways(node, in_port, in_class, header, candidates, params):
    """List the hops of both routes at their start, and later the hop of the chosen route."""
    words, first, classes = params[WORDS], params[FIRST], params[params[CLASS_AT] :]
    target, drawn = header[:words], header[words : 2 * words]
    middle, outset = header[2 * words], sets_out(node, in_port, in_class, params)
    if in_class >= first:
        in_class -= first
    elif not outset and middle != node:
        port = onward(node, drawn, params)
        candidates[0, PORT] = port
        candidates[0, CLASS] = base_class(node, port, in_port, in_class, drawn, classes)
        return 1
    elif not outset:
        # At the drawn node a message starts anew, in another class.
        in_port = in_class = -1
    port = onward(node, target, params)
    if port < 0:
        return port
    candidates[0, PORT] = port
    candidates[0, CLASS] = base_class(node, port, in_port, in_class, target, classes)
    if node >= params[EDGE] or not outset:
        candidates[0, CLASS] += first
    if not outset or middle < 0 or node < params[EDGE]:
        return 1
    port = onward(node, drawn, params)
    candidates[1, PORT] = port
    candidates[1, CLASS] = base_class(node, port, in_port, in_class, drawn, classes)
    return 2


@inlined
def hops_of(node, header, most, params):
    """Return the hops between forwarding nodes on the base routing's route, at most `most` + 1."""
    hops = 0
    # The comparison needs to know only whether the route is longer than a bound. Stopping there
    # halves the cost on long detours.
    while hops <= most:
        port = onward(node, header, params)
        if port < 0:
            break
        node = behind(node, port, params)
        # Hops between processors and their routers are the same on both routes. They would blur the
        # ratio of path lengths.
        hops += node >= params[EDGE]
    return hops


@inlined
def queued_on(node, header, seen, params):
    """Return the sum of the queues of all channels of the base routing's route."""
    queued = 0
    while True:
        port = onward(node, header, params)
        if port < 0:
            return queued
        queued += seen[node * params[1] + port]
        node = behind(node, port, params)


@rule
def choose_by_own(node, header, candidates, seen, params):
    """Choose the minimal route unless its queue times hops exceeds the other route's."""
    words, count, way = params[WORDS], candidates.shape[0], 0
    near, far = seen[candidates[0, PORT]], seen[candidates[count - 1, PORT]]
    # An empty queue on the minimal route always wins. At low load no hops are counted, and on the
    # other route only as many as the decision needs.
    if count == 2 and near > 0:
        target, drawn = header[:words], header[words : 2 * words]
        near *= hops_of(node, target, ALL_HOPS, params)
        if far > 0:
            # UGAL-L compares q_min * H_min with q_non * H_non (Singh 2005). Solved for H_non, the
            # inequality bounds the walk along the detour.
            most = (near - 1) // far
            long = hops_of(node, drawn, most, params)
            long += hops_of(header[2 * words], target, most - long, params)
            way = 1 if long <= most else 0
        elif near > 0:
            way = 1
    return way if seen[seen.size - count + way] > 0 else -1


@rule
def choose_by_all(node, header, candidates, seen, params):
    """Choose the minimal route unless more flits are queued on it than on the other route."""
    words, count, way = params[WORDS], candidates.shape[0], 0
    if count == 2:
        target, drawn = header[:words], header[words : 2 * words]
        long = queued_on(node, drawn, seen, params)
        long += queued_on(header[2 * words], target, seen, params)
        # All queues of a route are summed: an oracle that no real router has. The sum bounds the
        # gain from better information.
        if queued_on(node, target, seen, params) > long:
            way = 1
    return way if seen[seen.size - count + way] > 0 else -1
