"""A Roadrunner-like machine: clusters are fat trees, and top switches join every two clusters.

The wiring is a modelling choice (docs/papers/hdn, 9): the paper gives one sentence only. Cluster i
joins its peer number k (the other clusters ascending) by top switch k mod R, with R switches a
level.
"""

from __future__ import annotations

from mpinet.compiled import inlined, rule
from mpinet.networks.classic.fattree import (
    ARITY,
    LEVELS,
    POWERS,
    fat_tree_params,
    fat_tree_size,
    level_and_place,
    switch_number,
    tree_address,
    tree_class,
    tree_neighbor,
    tree_node,
    tree_port_by_switch,
    tree_reverse,
)
from mpinet.networks.parameters import whole_number
from mpinet.networks.routing import longer_routings
from mpinet.networks.topology import Topology, numbered


@rule
def decide(node, header, params):
    """Return the port to the target inside the cluster, else towards the target's cluster."""
    tree = tree_size(params)
    cluster, goal = node // tree, header[0] // tree
    local = node - cluster * tree
    if cluster == goal:
        return tree_port_by_switch(local, header[0] - goal * tree, params)
    peer = peer_number(cluster, goal)
    # Only one top switch has the link to the wanted cluster. The fat tree's routing leads to this
    # switch as to any target.
    if local == gateway(peer, params):
        return cross_port(peer, params)
    return tree_port_by_switch(local, gateway(peer, params), params)


class Roadrunner(Topology):
    """Roadrunner-like machine: c fat trees, fully joined at their top switches.

    The number of a node is cluster * tree size + local number. Ports are as in the fat tree. A top
    switch has links to other clusters, ascending, at the ports that lead up at lower switches.
    Switch numbers lie between processor numbers, and all nodes therefore count as hosts.
    """

    parameters = (
        whole_number("c", 2),
        whole_number("m", 2),
        whole_number("h", 1, 62),
    )
    example = "roadrunner:3,2,3"
    paper = "HDN (Li, Peng, Chu 2012), a modelling choice"
    specification = "papers/hdn 9"

    def __init__(self, c: int, m: int, h: int):
        self.tree = fat_tree_size(m, h)
        self.width, self.cluster_lengths = m ** (h - 1), [self.tree]
        across = -(-(c - 1) // self.width)
        super().__init__(
            f"{c},{m},{h}",
            size=c * self.tree,
            ports=m + (across if h == 1 else max(m, across)),
            params=[*fat_tree_params(m, h), c, self.tree],
            link_classes=(*numbered("level", h), "clusters"),
        )

    @rule
    def neighbor(node, port, params):
        """Return the neighbour in the tree, or the peer of a top switch."""
        tree = tree_size(params)
        cluster = node // tree
        local = node - cluster * tree
        peer = peer_behind(local, port, params)
        if peer < 0:
            other = tree_neighbor(local, port, params)
            return other if other < 0 else node - local + other
        other = other_cluster(cluster, peer)
        return other * tree + gateway(peer_number(other, cluster), params)

    @rule
    def reverse_port(node, port, params):
        """Return the reverse port in the tree, or the port of the own cluster at the peer."""
        tree = tree_size(params)
        cluster = node // tree
        local = node - cluster * tree
        peer = peer_behind(local, port, params)
        if peer < 0:
            return tree_reverse(local, port, params)
        return cross_port(peer_number(other_cluster(cluster, peer), cluster), params)

    @rule
    def link_class(node, port, params):
        """Return the level in the tree, or one more between clusters."""
        local = node % tree_size(params)
        if peer_behind(local, port, params) >= 0:
            return params[LEVELS]
        return tree_class(local, port, params)

    def _address(self, node: int) -> str:
        """Return the cluster and the local address: ``1:5``, ``1:0,2``."""
        cluster, local = divmod(node, self.tree)
        return f"{cluster}:{tree_address(local, int(self.params[ARITY]) * self.width, self.width)}"

    def read_address(self, address: str) -> int:
        """Return the node with this cluster and local address."""
        cluster, _, local = address.partition(":")
        hosts = int(self.params[ARITY]) * self.width
        return int(cluster) * self.tree + tree_node(local, hosts, self.width)

    routings = longer_routings(updown=decide)


@inlined
def cluster_count(params):
    """Return the number of clusters c."""
    return params[POWERS + params[LEVELS] + 1]


@inlined
def tree_size(params):
    """Return the number of nodes of a cluster."""
    return params[POWERS + params[LEVELS] + 2]


@inlined
def other_cluster(cluster, peer):
    """Return the cluster with index `peer` among the other clusters."""
    return peer if peer < cluster else peer + 1


@inlined
def peer_number(cluster, other):
    """Return the index of cluster `other` among the other clusters of `cluster`."""
    return other if other < cluster else other - 1


@inlined
def gateway(peer, params):
    """Return the top switch that leads to peer number `peer`, as a local number."""
    h = params[LEVELS]
    return switch_number(h - 1, peer % params[POWERS + h - 1], params)


@inlined
def cross_port(peer, params):
    """Return the port of that top switch to the peer."""
    return params[ARITY] + peer // params[POWERS + params[LEVELS] - 1]


@inlined
def peer_behind(local, port, params):
    """Return the number of the peer behind a port, or -1 for other ports."""
    m, h = params[ARITY], params[LEVELS]
    level, place = level_and_place(local, params)
    # Top switches have no links up. Their ports from m on lead to other clusters instead.
    if port < m or level != h - 1:
        return -1
    peer = place + (port - m) * params[POWERS + h - 1]
    return peer if peer < cluster_count(params) - 1 else -1
