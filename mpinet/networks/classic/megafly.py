"""The Megafly, or Dragonfly+: groups of leaf and spine routers, one link between any two groups.

Global links are numbered as in the dragonfly, by the spine routers: link k = 0..sh-1 of group G, at
spine k // h, leads to group G + k + 1 modulo g, where it is link sh - 1 - k.
"""

from __future__ import annotations

from mpinet.compiled import rule
from mpinet.networks.classic.dragonfly import RouterGroups
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import ARRIVED, longer_routings

TERMINALS, SPINES, GLOBAL, GROUPS, HOSTS = 2, 3, 4, 5, 6
"""Places in the rules' parameters: p, s, h, the number g of groups, and that of processors."""


@rule
def decide(node, header, params):
    """Go up, over the link between the groups, down; within a group over spine target mod s."""
    target = header[0]
    if node == target:
        return ARRIVED
    p, s, h, hosts = params[TERMINALS], params[SPINES], params[GLOBAL], params[HOSTS]
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

    family = "megafly"
    parameters = tuple(whole_number(name, 1, 2**20) for name in "psh")
    example = "megafly:2,2,2"
    paper = "Flajslik et al. 2018; Shpiner et al. 2017"
    specification = "networks 3"
    default_classes = "none"

    def __init__(self, p: int, s: int, h: int):
        self.terminals = p
        self.routers = s
        self.together, self.cluster_lengths = 2 * s, [p * s]
        groups = s * h + 1
        hosts = p * s * groups
        super().__init__(
            f"{p},{s},{h}",
            size=hosts + 2 * s * groups,
            ports=s + max(p, h),
            params=[p, s, h, groups, hosts],
            hosts=hosts,
            stated={"hosts": hosts},
        )

    @rule
    def neighbor(node, port, params):
        """Return the node at the port: processor or leaf, leaf or spine, another group's spine."""
        p, s, h, hosts = params[TERMINALS], params[SPINES], params[GLOBAL], params[HOSTS]
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
        p, s, h, hosts = params[TERMINALS], params[SPINES], params[GLOBAL], params[HOSTS]
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
        if (node - params[HOSTS]) % (2 * params[SPINES]) < params[SPINES]:
            return 0 if port < params[TERMINALS] else 1
        return 1 if port < params[SPINES] else 2

    link_classes = ("processors", "local", "global")

    routings = longer_routings(minimal=decide)
