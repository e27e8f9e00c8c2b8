"""Dragonfly and Megafly (Dragonfly+): groups of routers, one link between any two groups.

The routers of a dragonfly's group form a complete graph. A group of a Megafly has leaf routers,
which have processors, and as many spine routers, which have the global links. Each leaf joins each
spine.

Global link k = 0..ah-1 of group G, at router k // h, leads to group G + k + 1 modulo g. In that
group the link has the number ah - 1 - k. The number k of a link therefore determines the number of
groups ahead. The global links of a Megafly are numbered likewise, by its spines.
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
"""Places in the rules' parameters: p, a (s of a Megafly), h, the number g of groups, and the number
of processors.
"""


@rule
def decide(node, header, params):
    """Return the port of the minimal route: local, global, local, with at most one global link.

    Two global links would occasionally be shorter.
    """
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
    """Base of networks of groups of routers; the first routers of each group have processors.

    Parameters
    ----------
    p, a, h : int
        Processors at each router with processors, such routers per group, global links per router.
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
        """Return the processors of a group; a router is in no cluster."""
        return super().clusters(position) if position < self.hosts else []

    def _address(self, node: int) -> str:
        """Return the address: ``G,r,t`` of a processor, ``G,r`` of a router."""
        if node >= self.hosts:
            group, router = divmod(node - self.hosts, self.together)
            return f"{group},{router}"
        router, terminal = divmod(node, self.terminals)
        return f"{router // self.routers},{router % self.routers},{terminal}"

    def read_address(self, address: str) -> int:
        """Return the number of the node with this address."""
        group, router, *terminal = map(int, address.split(","))
        if terminal:
            return (group * self.routers + router) * self.terminals + terminal[0]
        return self.hosts + group * self.together + router


class Dragonfly(RouterGroups):
    """Dragonfly of g = ah + 1 groups of a routers with p processors each (Kim et al. 2008).

    Processor (G,r,t) has the number (Ga + r)p + t and port 0 to its router. Router (G,r) has the
    number pag + Ga + r. Its ports lead to its p processors, to the a-1 other routers of the group
    in ascending order, and by h global links to other groups.
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
        """Return the node behind the port: a processor, or a router of this or another group."""
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
        # Absolute arrangement: link k leads k + 1 groups ahead. The port to a group follows from
        # two numbers, without a table.
        there = (group + link + 1) % params[GROUPS]
        return hosts + there * a + (a * h - 1 - link) // h

    @rule
    def reverse_port(node, port, params):
        """Return the port at the other end: a processor's only port, or the port for this node."""
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
        """Groups to draw from: a message enters the drawn group at its global link (2008)."""
        return range(self.routers * self.ports_between + 1)

    @rule
    def link_class(node, port, params):
        """Return 1 for a global link, 0 for other links."""
        first_global = params[TERMINALS] + params[ROUTERS] - 1
        return 1 if node >= params[HOSTS] and port >= first_global else 0

    link_classes = ("local", "global")

    @rule
    def channel_order(node, port, params):
        """Return the place in the channel order: up, local, global, down.

        A local hop after a global one adds a class.
        """
        # A minimal route is local, global, local. Only the second local hop descends in this order,
        # and two classes suffice.
        p, a = params[TERMINALS], params[ROUTERS]
        if node < params[HOSTS]:
            return 0
        if port < p:
            return 3
        return 1 if port < p + a - 1 else 2

    routings = longer_routings(minimal=decide)

    @property
    def load_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Routings for open-loop traffic, with PAR (Jiang, Kim, Dally 2009)."""
        return super().load_routings | {"par": lambda seed: progressive(self, seed)}


def progressive(dragonfly: Dragonfly, seed: int) -> Routing:
    """Return PAR: a message may leave its minimal route as long as it is in its first group."""
    offered, classes = until_the_global_link, 4
    return by_queues(dragonfly, seed, "par", choose_by_own, QUEUES, offered, classes=classes)


@rule
def until_the_global_link(node, in_port, in_class, header, candidates, params):
    """List the minimal hop, and the nonminimal one as long as a message has made local hops only.

    Class 0 is for a local hop after which the message may still switch. Class 1 leads to the drawn
    group. Class 2 leads on from there, or along the minimal route. Class 3 is for the local hop
    after the last global link.
    """
    target, middle = header[0], header[2]
    own = params[BASE_AT : params[WIRING_AT]]
    p, a, hosts = own[TERMINALS], own[ROUTERS], own[HOSTS]
    if node < hosts or in_class == 1:
        # Up to the router, or on to the drawn group; within that group the route is minimal.
        goal = header[:1] if node < hosts or node == middle else header[1:2]
        port = decide(node, goal, own)
        if port < 0:
            return port
        candidates[0, PORT] = port
        candidates[0, CLASS] = 0 if node < hosts else 2 if node == middle else 1
        return 1
    port = decide(node, header[:1], own)
    # Progressive routing may revise its choice until the first global hop. A later change would
    # need more classes (Jiang, Kim, Dally 2009).
    undecided = in_port < p or in_class == 0
    is_last = router_of(node, own) // a == router_of(target, own) // a
    candidates[0, PORT] = port
    # Classes ascend along every route: 0 local, 1 to the drawn group, 2 from there, 3 at the end.
    # Dependencies therefore have no cycle.
    candidates[0, CLASS] = 3 if is_last else 0 if undecided and port < p + a - 1 else 2
    if not undecided or middle < 0:
        return 1
    candidates[1, PORT], candidates[1, CLASS] = decide(node, header[1:2], own), 1
    return 2


@inlined
def router_of(node, params):
    """Return the index among all routers of a router, or of a processor's router."""
    hosts = params[HOSTS]
    return node - hosts if node >= hosts else node // params[TERMINALS]


@inlined
def gateway(source, target, drawn, params):
    """Return the router where the source's group enters a drawn group, or -1 for no detour.

    The result is -1 if an end is in the drawn group. A message within a group also takes the
    minimal route (-1).
    """
    a, h, groups = params[ROUTERS], params[GLOBAL], params[GROUPS]
    here, there = router_of(source, params) // a, router_of(target, params) // a
    # A route through the group of the source or of the target is no detour.
    if here == there or drawn in (here, there):
        return -1
    return params[HOSTS] + drawn * a + (here - drawn - 1) % groups // h


# The class is completed here, because the rule uses constants and functions defined below the
# class.
Dragonfly.waypoint = gateway


@rule
def decide_megafly(node, header, params):
    """Return the port: up, to the target's group, down; within a group over spine target mod s."""
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
    # Every spine is one hop away from the leaf. Only this one has the global link to the wanted
    # group.
    spine = link // h
    if r < s:
        return p + spine
    return s + link % h if r - s == spine else spine


class Megafly(RouterGroups):
    """Megafly of g = sh + 1 groups of s leaves with p processors each and s spines.

    Flajslik et al. 2018; Dragonfly+ of Shpiner et al. 2017.

    Processor (G,r,t) has the number (Gs + r)p + t and port 0 to leaf r. Router (G,r) has the number
    psg + 2Gs + r; it is a leaf for r < s and otherwise a spine. A leaf's ports lead to its p
    processors and the s spines. A spine's ports lead to the s leaves and by h global links to other
    groups.
    """

    parameters = tuple(whole_number(name, 1, 2**20) for name in "psh")
    example = "megafly:2,2,2"
    paper = "Flajslik et al. 2018; Shpiner et al. 2017"
    default_classes = "none"

    def __init__(self, p: int, s: int, h: int):
        super().__init__(p, s, h, together=2 * s, ports=s + max(p, h))

    @rule
    def neighbor(node, port, params):
        """Return the node behind the port: a processor, leaf or spine."""
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
        """Return the port at the other end, which leads back to this node."""
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
