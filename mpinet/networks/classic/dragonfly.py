"""Dragonfly and Megafly (Dragonfly+): groups of routers, one link between any two groups.

The routers of a dragonfly's group are all joined. A group of a Megafly has leaf routers, which have
processors, and as many spine routers, which have the global links; each leaf joins each spine.

Global link k = 0..ah-1 of group G, at router k // h, leads to group G + k + 1 modulo g; there it is
link ah - 1 - k. So link k of a group and the number of groups ahead are one thing. Those of a
Megafly are numbered likewise, by its spines.
"""

from __future__ import annotations

from collections.abc import Callable

from mpinet.compiled import inlined, rule
from mpinet.networks.adaptive import CLASS, PORT, QUEUES
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, Routing, longer_routings
from mpinet.networks.topology import Topology
from mpinet.networks.ugal import BASE_AT, by_queues, choose_by_own
from mpinet.networks.valiant import WIRING_AT

TERMINALS, ROUTERS, GLOBAL, GROUPS, HOSTS = 2, 3, 4, 5, 6
"""Places in the rules' parameters: p, a (s of a Megafly), h, the number g of groups, and that of
processors."""


@rule
def decide(node, header, params):
    """Local, global, local: at most one global link; two would be shorter now and then."""
    target = header[0]
    if node == target:
        return ARRIVED
    p, a, h, hosts = params[TERMINALS], params[ROUTERS], params[GLOBAL], params[HOSTS]
    if node < hosts:
        return 0
    here, goal = router_of(node, params), router_of(target, params)
    if here == goal:
        return target - goal * p
    r = here % a
    wanted = goal % a
    if here // a != goal // a:
        link = (goal // a - here // a - 1) % params[GROUPS]
        wanted = link // h
        if wanted == r:
            return p + a - 1 + link % h
    return p + (wanted if wanted < r else wanted - 1)


class RouterGroups(Topology):
    """Base of networks of groups of routers, of which the first of each group have processors.

    Parameters
    ----------
    p, a, h : int
        Processors at a router that has some, such routers of a group, global links of a router.
    together : int
        All routers of a group.
    ports : int
        Ports of a router.
    """

    def __init__(self, p: int, a: int, h: int, together: int, ports: int):
        self.terminals, self.routers, self.together = p, a, together
        self.ports_between, self.cluster_lengths = h, [p * a]
        groups = a * h + 1
        hosts = p * a * groups
        super().__init__(
            f"{p},{a},{h}",
            size=hosts + together * groups,
            ports=ports,
            params=[p, a, h, groups, hosts],
            hosts=hosts,
            stated={"hosts": hosts},
        )

    def clusters(self, position: int) -> list[range]:
        """A group's processors; a router is alone."""
        return super().clusters(position) if position < self.hosts else []

    def _address(self, node: int) -> str:
        """Format an address: ``G,r,t`` of a processor, ``G,r`` of a router."""
        if node >= self.hosts:
            group, router = divmod(node - self.hosts, self.together)
            return f"{group},{router}"
        router, terminal = divmod(node, self.terminals)
        return f"{router // self.routers},{router % self.routers},{terminal}"

    def read_address(self, address: str) -> int:
        """The number behind the digits."""
        group, router, *terminal = map(int, address.split(","))
        if terminal:
            return (group * self.routers + router) * self.terminals + terminal[0]
        return self.hosts + group * self.together + router


class Dragonfly(RouterGroups):
    """Dragonfly of g = ah + 1 groups of a routers with p processors each (Kim et al. 2008).

    Processor (G,r,t) has the number (Ga + r)p + t and port 0 to its router. Router (G,r) has the
    number pag + Ga + r; its ports lead to its p processors, the a-1 other routers of the group in
    ascending order, and by h global links to other groups.
    """

    parameters = tuple(whole_number(name, 1, 2**20) for name in "pah")
    example = "dragonfly:2,4,2"
    paper = "Kim, Dally, Scott, Abts 2008"
    most_classes = 2
    waypoint_classes = 1

    def __init__(self, p: int, a: int, h: int):
        super().__init__(p, a, h, together=a, ports=p + a - 1 + h)

    @rule
    def neighbor(node, port, params):
        """Return a processor below, a router of the group, or a router of another group."""
        p, a, h, hosts = params[TERMINALS], params[ROUTERS], params[GLOBAL], params[HOSTS]
        if node < hosts:
            return hosts + node // p if port == 0 else -1
        router = node - hosts
        if port < p:
            return router * p + port
        group = router // a
        r = router - group * a
        if port < p + a - 1:
            other = port - p
            return node - r + (other if other < r else other + 1)
        link = r * h + port - (p + a - 1)
        # Absolute arrangement: link k leads k + 1 groups ahead. So the port to a group follows from
        # two numbers, without a table.
        there = (group + link + 1) % params[GROUPS]
        return hosts + there * a + (a * h - 1 - link) // h

    @rule
    def reverse_port(node, port, params):
        """Port 0 of a processor; the place among the other routers; the link's other number."""
        p, a, h, hosts = params[TERMINALS], params[ROUTERS], params[GLOBAL], params[HOSTS]
        if node < hosts:
            return node % p
        if port < p:
            return 0
        r = (node - hosts) % a
        if port < p + a - 1:
            other = port - p
            return p + (r - 1 if other < r else r)
        link = r * h + port - (p + a - 1)
        return p + a - 1 + (a * h - 1 - link) % h

    @property
    def waypoints(self) -> range:
        """The groups: a message goes by a drawn group, where the global link enters it (2008)."""
        return range(self.routers * self.ports_between + 1)

    @rule
    def link_class(node, port, params):
        """Return 1 for a global link, 0 for the others."""
        first_global = params[TERMINALS] + params[ROUTERS] - 1
        return 1 if node >= params[HOSTS] and port >= first_global else 0

    link_classes = ("local", "global")

    @rule
    def channel_order(node, port, params):
        """Order channels: up, local, global, down; local behind global is a class more (2008)."""
        # A minimal way is local, global, local. Only the second local hop descends in this order,
        # so that two classes suffice.
        p, a = params[TERMINALS], params[ROUTERS]
        if node < params[HOSTS]:
            return 0
        if port < p:
            return 3
        return 1 if port < p + a - 1 else 2

    routings = longer_routings(minimal=decide)

    @property
    def load_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Add progressive adaptive routing (Jiang, Kim, Dally 2009)."""
        return super().load_routings | {"par": lambda seed: progressive(self, seed)}


def progressive(dragonfly: Dragonfly, seed: int) -> Routing:
    """PAR: a message on its minimal way may change to the other at the next router of its group."""
    offered, classes = until_the_global_link, 4
    return by_queues(dragonfly, seed, "par", choose_by_own, QUEUES, offered, classes=classes)


@rule
def until_the_global_link(node, in_port, in_class, header, candidates, params):
    """Offer the way by the drawn group, too, as long as a message has made local hops alone.

    Classes: 0 for a local hop after which that can be, 1 to the drawn group, 2 from there, or
    straight, and 3 for the local hop behind the last global link.
    """
    target, middle = header[0], header[2]
    own = params[BASE_AT : params[WIRING_AT]]
    p, a, hosts = own[TERMINALS], own[ROUTERS], own[HOSTS]
    if node < hosts or in_class == 1:
        # Up to the router, or on to the drawn group; in that the way is straight.
        goal = header[:1] if node < hosts or node == middle else header[1:2]
        port = decide(node, goal, own)
        if port < 0:
            return port
        candidates[0, PORT] = port
        candidates[0, CLASS] = 0 if node < hosts else 2 if node == middle else 1
        return 1
    port = decide(node, header[:1], own)
    # Progressive routing may revise its choice until the first global hop. Later a change would
    # need more classes (Jiang, Kim, Dally 2009).
    undecided = in_port < p or in_class == 0
    is_last = router_of(node, own) // a == router_of(target, own) // a
    candidates[0, PORT] = port
    # Classes ascend along every way: 0 local, 1 to the drawn group, 2 from there, 3 at the end. So
    # no circle of waiting messages can close.
    candidates[0, CLASS] = 3 if is_last else 0 if undecided and port < p + a - 1 else 2
    if not undecided or middle < 0:
        return 1
    candidates[1, PORT], candidates[1, CLASS] = decide(node, header[1:2], own), 1
    return 2


@inlined
def router_of(node, params):
    """The router's place among all routers: its own, or that of a processor."""
    hosts = params[HOSTS]
    return node - hosts if node >= hosts else node // params[TERMINALS]


@inlined
def gateway(source, target, drawn, params):
    """The router by which the source's group enters a drawn one; -1 where an end is in that.

    A message within a group goes straight, too.
    """
    a, h, groups = params[ROUTERS], params[GLOBAL], params[GROUPS]
    here, there = router_of(source, params) // a, router_of(target, params) // a
    # A way by the group of the source or of the target is no detour.
    if here == there or drawn in (here, there):
        return -1
    return params[HOSTS] + drawn * a + (here - drawn - 1) % groups // h


# The class is complete only here, because the rule reads constants and functions that stand below
# it.
Dragonfly.waypoint = gateway


@rule
def decide_megafly(node, header, params):
    """Go up, over the link between the groups, down; within a group over spine target mod s."""
    target = header[0]
    if node == target:
        return ARRIVED
    p, s, h, hosts = params[TERMINALS], params[ROUTERS], params[GLOBAL], params[HOSTS]
    if node < hosts:
        return 0
    place = node - hosts
    group, r = place // (2 * s), place % (2 * s)
    if target < hosts:
        goal_group, goal = target // p // s, target // p % s
    else:
        goal_group, goal = (target - hosts) // (2 * s), (target - hosts) % (2 * s)
    if group == goal_group:
        if r < s:
            if target < hosts and goal == r:
                return target % p
            return p + goal - s if goal >= s else p + target % s
        return goal if goal < s else r - s
    link = (goal_group - group - 1) % params[GROUPS]
    # Any spine of the leaf is one hop away. Only this one has the global link to the wanted group.
    spine = link // h
    if r < s:
        return p + spine
    return s + link % h if r - s == spine else spine


class Megafly(RouterGroups):
    """Megafly of g = sh + 1 groups of s leaves with p processors each and s spines.

    Flajslik et al. 2018; Dragonfly+ of Shpiner et al. 2017.

    Processor (G,r,t) has the number (Gs + r)p + t and port 0 to leaf r. Router (G,r), a leaf for
    r < s and else a spine, has the number psg + 2Gs + r. A leaf's ports lead to its p processors
    and the s spines; a spine's to the s leaves and by h global links to other groups.
    """

    parameters = tuple(whole_number(name, 1, 2**20) for name in "psh")
    example = "megafly:2,2,2"
    paper = "Flajslik et al. 2018; Shpiner et al. 2017"
    default_classes = "none"

    def __init__(self, p: int, s: int, h: int):
        super().__init__(p, s, h, together=2 * s, ports=s + max(p, h))

    @rule
    def neighbor(node, port, params):
        """Return the node at the port: processor or leaf, leaf or spine, another group's spine."""
        p, s, h, hosts = params[TERMINALS], params[ROUTERS], params[GLOBAL], params[HOSTS]
        if node < hosts:
            if port > 0:
                return -1
            leaf = node // p
            return hosts + leaf // s * 2 * s + leaf % s
        group = (node - hosts) // (2 * s)
        first = hosts + group * 2 * s
        r = node - first
        if r < s:
            if port < p:
                return (group * s + r) * p + port
            return first + s + port - p if port < p + s else -1
        if port < s:
            return first + port
        if port >= s + h:
            return -1
        link = (r - s) * h + port - s
        there = (group + link + 1) % params[GROUPS]
        return hosts + there * 2 * s + s + (s * h - 1 - link) // h

    @rule
    def reverse_port(node, port, params):
        """Return the place of this node among the neighbours of the other one."""
        p, s, h, hosts = params[TERMINALS], params[ROUTERS], params[GLOBAL], params[HOSTS]
        if node < hosts:
            return node % p
        r = (node - hosts) % (2 * s)
        if r < s:
            return 0 if port < p else r
        if port < s:
            return p + r - s
        link = (r - s) * h + port - s
        return s + (s * h - 1 - link) % h

    @rule
    def link_class(node, port, params):
        """Return the level: 0 for a processor's link, 1 up to a spine, 2 between groups."""
        if node < params[HOSTS]:
            return 0
        if (node - params[HOSTS]) % (2 * params[ROUTERS]) < params[ROUTERS]:
            return 0 if port < params[TERMINALS] else 1
        return 1 if port < params[ROUTERS] else 2

    link_classes = ("processors", "local", "global")

    routings = longer_routings(minimal=decide_megafly)
