"""Bubble flow control: one class per ring, with room for one message kept free in each ring.

A message enters a ring only if the next buffer has room for two messages. The message continues
along the ring if the next buffer has room for one message. The messages of a ring therefore never
fill the ring, and one of them can always move (Carrión and others 1997; Puente and others 2001). A
ring then waits for other rings only. Deadlocks are impossible if no ring waits for itself through
other rings.
"""

from __future__ import annotations

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.compiled import Rule
from mpinet.networks.classes import ChannelClasses, Choices, common_classes, one_class
from mpinet.networks.topology import Topology

BUBBLE = "bubble"

NONE = -1


def ring_classes(topology: Topology, dateline: Rule, wrap: Rule) -> Choices:
    """Return the class rules of a network made of rings.

    Parameters
    ----------
    topology : Topology
        A ring or a torus.
    dateline, wrap : Rule
        The network's own class rules, of two classes each.
    """
    return common_classes(topology) | {
        "dateline": lambda: ChannelClasses("dateline", dateline, topology.params, 2),
        "wrap": lambda: ChannelClasses("wrap", wrap, topology.params, 2),
        # One class is enough here. A free buffer in every ring replaces the second class of the
        # datelines.
        BUBBLE: lambda: ChannelClasses(BUBBLE, one_class, topology.params, 1),
    }


def onward_ports(topology: Topology, nodes: Ints) -> Ints:
    """Return, for each port of a node, the other port of the ring through both ports.

    The ring continues at the other port of the same class of links, if a node has two such ports.

    Parameters
    ----------
    topology : Topology
        A ring or a torus.
    nodes : ndarray of int64, shape (k,)
        The nodes.

    Returns
    -------
    ndarray of int64, shape (k, ports)
        -1 if no ring continues.
    """
    ports = np.arange(topology.ports)
    wired = np.atleast_2d(topology.neighbor(nodes[:, np.newaxis], ports)) >= 0
    kinds = np.atleast_2d(topology.link_class(nodes[:, np.newaxis], ports))
    onward = np.full(wired.shape, NONE, np.int64)
    for kind in np.unique(kinds).tolist():
        alike = wired & (kinds == kind)
        # A ring continues only if a node has exactly two ports of its class of links. A side of
        # two has one link, which closes no ring.
        both = np.flatnonzero(alike.sum(axis=1) == 2)
        one, other = np.nonzero(alike[both])[1].reshape(-1, 2).T
        onward[both, one], onward[both, other] = other, one
    return onward


def rings(topology: Topology) -> Ints:
    """Return the ring of each channel, named by the lowest channel number in the ring.

    Returns
    -------
    ndarray of int64, shape (size * ports,)
        By channel, node * ports + port.
    """
    count = topology.ports
    nodes, ports = np.divmod(np.arange(topology.size * count), count)
    there = topology.neighbor(nodes, ports)
    wired = np.flatnonzero(there >= 0)
    following = np.arange(len(nodes))
    onward = onward_ports(topology, np.arange(topology.size))
    back = topology.reverse_port(nodes[wired], ports[wired])
    then = onward[there[wired], back]
    goes_on = then != NONE
    following[wired[goes_on]] = there[wired][goes_on] * count + then[goes_on]
    lowest = np.arange(len(nodes))
    # Pointer doubling: after k rounds each channel knows the minimum over 2^k channels ahead.
    # Walking every ring would take a step per channel.
    for _ in range(len(nodes).bit_length()):
        lowest = np.minimum(lowest, lowest[following])
        following = following[following]
    return lowest
